package server

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/optim"
	"lockstep/ps"
	"lockstep/shard"
)

// Blueprint is what servers must know of the network that the workers train. A server in a process of its own
// has neither network nor data, so worker 0 sends it one.
type Blueprint struct {
	Segments []gradsync.Segment `json:"segments"`
	Order    []int              `json:"order"`
	Len      int                `json:"len"` // of the flat vector of weights
	RowLen   int                `json:"row_len"`
	Params   []optim.Param      `json:"params"`
	Samples  int                `json:"samples"` // of the training set
	Data     record.DataHash    `json:"data"`
}

// Layout divides the weights among the servers of c.
func (b Blueprint) Layout(c setting.Config) (*ps.Layout, error) {
	plan, err := shard.Cut(c.StepShards(), c.Workers)
	if err != nil {
		return nil, err
	}
	lay := ps.NewLayout
	if c.IsAsync() {
		lay = ps.AsyncLayout
	}
	l, err := lay(ps.LayoutConfig{Plan: plan, Segments: b.Segments, Order: b.Order,
		BucketBytes: c.Bucket, Len: b.Len, Servers: c.NumServers(), IsApart: c.NumApart() > 0,
		IsWhole: !optim.IsElementwise(c.Optimizer.Name), RowLen: b.RowLen})
	if err != nil {
		return nil, setting.Refuse("--servers: %v", err)
	}
	return l, nil
}

// Tags of the messages of a blueprint: its length, then its text. Package ps has the tags below.
const (
	lengthTag    = 0xfffffffe
	blueprintTag = 0xffffffff
	// maxBlueprint is a length that no network's blueprint has.
	maxBlueprint = 64 << 20
)

// Send sends the blueprint from worker 0 to a server.
func (b Blueprint) Send(post *comm.Post, rank int) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	for _, l := range []comm.Letter{{Tag: lengthTag, Buf: length}, {Tag: blueprintTag, Buf: text}} {
		l.Peer, l.Name = rank, "blueprint"
		m, err := post.Sender(l)
		if err != nil {
			return err
		}
		m.Start()
		if err := m.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// receiveBlueprint receives the blueprint of worker 0.
func receiveBlueprint(post *comm.Post) (b Blueprint, err error) {
	receive := func(tag uint32, n int) ([]byte, error) {
		m, err := post.Receiver(comm.Letter{Peer: 0, Tag: tag, Name: "blueprint", Buf: make([]byte, n)})
		if err != nil {
			return nil, err
		}
		m.Start()
		err = m.Wait()
		return m.Bytes(), err
	}
	text, err := receive(lengthTag, 8)
	if err != nil {
		return b, err
	}
	n := binary.LittleEndian.Uint64(text)
	if n == 0 || n > maxBlueprint {
		return b, fmt.Errorf("job: blueprint of %d bytes, want 1 to %d", n, maxBlueprint)
	}
	if text, err = receive(blueprintTag, int(n)); err != nil {
		return b, err
	}
	if err := json.Unmarshal(text, &b); err != nil {
		return b, fmt.Errorf("job: decode the blueprint: %w", err)
	}
	return b, nil
}
