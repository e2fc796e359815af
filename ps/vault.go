package ps

import (
	"encoding/binary"
	"fmt"

	"lockstep/comm"
)

// loadBytes is the length of messages that announce vectors: the number of steps done, and how many
// vectors follow; or the first vector that is asked for.
const loadBytes = 16

// vault is what a server has, weights and the state of their optimizer, on its way from and to
// worker 0.
type vault struct {
	rule               Rule
	load, collect      *comm.Mail
	loaded, collected  []*comm.Mail // by vector: the weights, then the state
	isLoaded           bool
	steps              int // done when it was loaded
	vectors, numLoaded int // vectors of a load: announced, and received
}

// register registers the messages of what c has.
func (v *vault) register(r *registry, c *ServerConfig) {
	v.rule = c.Rule
	v.load = r.receive(kindLoad, 0, 0, 0, comm.Letter{Name: "load", Buf: make([]byte, loadBytes)})
	v.collect = r.receive(kindCollect, 0, 0, 0, comm.Letter{Name: "collect", Buf: make([]byte, loadBytes)})
	for i, vector := range append([][]float32{c.Weights}, c.State...) {
		letter := comm.Letter{Name: fmt.Sprintf("vector %d of server %d", i, c.Number), Vector: vector}
		v.loaded = append(v.loaded, r.receive(kindVector, 0, i, 0, letter))
		v.collected = append(v.collected, r.send(kindVector, 0, i, 0, letter))
	}
}

// receivers returns all receivers.
func (v *vault) receivers() []*comm.Mail { return append([]*comm.Mail{v.load, v.collect}, v.loaded...) }

// start starts all receivers.
func (v *vault) start() {
	for _, m := range v.receivers() {
		m.Start()
	}
}

// cancel expects nothing more from worker 0.
func (v *vault) cancel() {
	for _, m := range v.receivers() {
		m.Cancel()
	}
}

// transfer acts on messages that load the server or collect its state.
func (v *vault) transfer(m *comm.Mail, e event) error {
	switch {
	case e.isOutgoing:
		return nil
	case e.kind == kindCollect:
		first := binary.LittleEndian.Uint64(m.Bytes())
		if first > uint64(len(v.collected)) {
			return fmt.Errorf("ps: asked for vector %d of %d", first, len(v.collected))
		}
		for _, m := range v.collected[first:] {
			m.Start()
		}
		m.Start()
		return nil
	case e.kind == kindLoad:
		n := binary.LittleEndian.Uint64(m.Bytes()[8:])
		if n != 1 && n != uint64(len(v.loaded)) {
			return fmt.Errorf("ps: loaded with %d vectors, want 1 or %d", n, len(v.loaded))
		}
		v.vectors = int(n)
	case e.index != v.numLoaded:
		return fmt.Errorf("ps: loaded with vector %d, want %d", e.index, v.numLoaded)
	default:
		v.numLoaded++
	}
	if v.numLoaded < v.vectors || v.vectors == 0 {
		return nil
	}
	steps := int(binary.LittleEndian.Uint64(v.load.Bytes()))
	v.rule.Resume(steps)
	for _, m := range v.loaded[:v.numLoaded] {
		m.Start()
	}
	v.load.Start()
	v.steps = steps
	v.isLoaded, v.vectors, v.numLoaded = true, 0, 0
	return nil
}
