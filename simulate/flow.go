package simulate

import (
	"math"
	"slices"

	"lockstep/comm"
	"lockstep/random"
)

// port is one direction of a link.
type port struct {
	capacity float64 // in links of a host
	most     float64 // seconds that it saves, see Link.Burst
	crossing float64 // see Network.Crossing
	lost     float64 // of the capacity, by it
	flows    []*flow
	waiting  []*flow // until others have ended
	used     float64 // sum of the rates of its flows
	saved    float64 // seconds of its capacity that it may catch up on
	since    float64 // when that was so
	left     float64 // while shares are computed: capacity, and flows with their weights, without a share
	weight   float64
	hungry   int
	isDirty  bool
	isSeen   bool
}

// catchUp saves what the link has not carried since the last time.
func (p *port) catchUp(now float64) {
	p.saved, p.since = min(p.most, p.saved+(now-p.since)*max(0, p.capacity-p.lost-p.used)), now
}

// duplex is both directions of a link.
type duplex struct{ out, in *port }

// mostFlows is how many flows share a port; more take turns, which takes as long.
const mostFlows = 32

// flow is the transfer of bytes from one thread to another, or among all.
type flow struct {
	activity
	ports   []*port
	threads []*thread
	cpu     float64 // cores that moving it takes of each thread's machine, at the full rate of a link
	weight  float64 // of its share beside those of others; 0: it shares no port
	share   float64 // of the link
	isDirty bool
	isSeen  bool // while shares are computed: it has none yet
}

// thread exchanges for a rank.
type thread struct {
	rank    int
	machine *machine
	flows   []*flow
	demand  float64        // cores that its flows can use
	slow    float64        // factor of their rates
	sent    uint64         // messages
	queues  map[int]*queue // by peer: messages of servers and to them
	collector
}

// batch is what a rank sends to another one in a step.
type batch struct {
	peer, messages int
	bytes          float64
}

// soilPort says that the flows of a port have changed.
func (w *world) soilPort(p *port) {
	if !p.isDirty {
		p.isDirty = true
		w.dirtyPorts = append(w.dirtyPorts, p)
	}
}

// touch says that the rate of a flow may change.
func (w *world) touch(f *flow) {
	if !f.isDirty {
		f.isDirty = true
		w.dirtyFlows = append(w.dirtyFlows, f)
	}
}

// link returns the kind of link between two ranks and the ports in its way.
func (w *world) link(from, to int) (Link, []*port) {
	if w.isInside(from, to) {
		return w.Network.Inside, []*port{w.inside[from].out, w.inside[to].in}
	}
	ports := []*port{w.outside[from].out, w.outside[to].in}
	if w.uplinks != nil && w.uplinks[from] != w.uplinks[to] {
		ports = append(ports, w.uplinks[from].out, w.uplinks[to].in)
	}
	return w.Network.Outside, ports
}

// send moves a batch from a thread to another rank's. all is the number of messages that the thread sends in
// this step over links of this kind. sent is called when the bytes have left, arrived when they are there.
func (w *world) send(from *thread, b batch, all int, sent, arrived func()) {
	link, ports := w.link(from.rank, b.peer)
	to := w.threads[b.peer]
	w.carried[from.rank] += b.bytes
	w.carried[b.peer] += b.bytes
	further := float64(b.messages) * float64(all-1) / float64(all)
	seconds := b.bytes*link.Byte + further*link.Message
	cpu := float64(b.messages)*link.CPUMessage + b.bytes*link.CPUByte
	latency := link.Latency * max(from.machine.crowd(), to.machine.crowd())
	if !w.isInside(from.rank, b.peer) {
		early := b.bytes * link.Byte
		for _, p := range ports[:2] {
			p.catchUp(w.now)
			early = min(early, p.saved)
		}
		for _, p := range ports[:2] {
			p.saved -= early
		}
		seconds -= early
	}
	if seconds <= 0 {
		seconds, ports = cpu, nil
	}
	if seconds <= 0 {
		sent()
		w.after(latency, arrived)
		return
	}
	f := &flow{ports: ports, threads: []*thread{from, to}, cpu: cpu / seconds, share: 1,
		weight: w.weightOf(from)}
	w.add(&f.activity, seconds, func() {
		w.end(f)
		sent()
		w.after(latency, arrived)
	})
	w.begin(f)
}

// weightOf draws the weight of a thread's next message.
func (w *world) weightOf(t *thread) float64 {
	t.sent++
	if w.Network.Unevenness <= 1 {
		return 1
	}
	u := random.Derive(unevenSeed, uint64(t.rank)).Unit(t.sent)
	return math.Pow(w.Network.Unevenness, 2*u-1)
}

// unevenSeed is of the weights of messages.
const unevenSeed = 5

// isCrossed reports whether the ends of a flow are all shared with others.
func (f *flow) isCrossed() bool {
	return !slices.ContainsFunc(f.ports, func(p *port) bool { return len(p.flows) < 2 })
}

// shareLinks gives the flows of ports that have changed, and those that share ports with them, their parts of
// the links by their weights: none can have more without another one having less that has no more than it for
// its weight.
func (w *world) shareLinks() {
	var ports []*port
	var flows []*flow
	visit := func(p *port) {
		if !p.isSeen {
			p.isSeen = true
			ports = append(ports, p)
		}
	}
	for _, p := range w.dirtyPorts {
		p.isDirty = false
		visit(p)
	}
	for i := 0; i < len(ports); i++ {
		for _, f := range ports[i].flows {
			if !f.isSeen {
				f.isSeen = true
				flows = append(flows, f)
				for _, p := range f.ports {
					visit(p)
				}
			}
		}
	}
	for _, p := range ports {
		p.hungry, p.weight, p.isSeen = len(p.flows), 0, false
		crossed := 0
		for _, f := range p.flows {
			p.weight += f.weight
			if f.isCrossed() {
				crossed++
			}
		}
		p.catchUp(w.now)
		p.lost = p.capacity * (1 - comm.Crossed(p.crossing, crossed))
		p.left = p.capacity - p.lost
	}
	give := func(f *flow, share float64) {
		f.isSeen = false
		for _, p := range f.ports {
			p.left, p.weight, p.hungry = p.left-share, p.weight-f.weight, p.hungry-1
		}
		if share != f.share || f.rate == 0 {
			f.share = share
			w.touch(f)
			for _, t := range f.threads {
				w.soil(t.machine)
			}
		}
	}
	for left := len(flows); left > 0; {
		least, at := math.Inf(1), (*port)(nil)
		for _, p := range ports {
			if p.hungry > 0 && p.left/p.weight < least {
				least, at = p.left/p.weight, p
			}
		}
		for _, f := range at.flows {
			if f.isSeen {
				give(f, min(1, max(0, least*f.weight)))
				left--
			}
		}
	}
}

// begin lets a flow take its ports, when they have room.
func (w *world) begin(f *flow) {
	for _, p := range f.ports {
		if len(p.flows) >= mostFlows {
			p.waiting = append(p.waiting, f)
			return
		}
	}
	for _, p := range f.ports {
		p.flows = append(p.flows, f)
		w.soilPort(p)
	}
	for _, t := range f.threads {
		t.flows = append(t.flows, f)
		w.soil(t.machine)
	}
	w.touch(f)
}

// end gives back what a flow took.
func (w *world) end(f *flow) {
	for _, p := range f.ports {
		p.catchUp(w.now)
		p.flows, p.used = without(p.flows, f), p.used-f.rate
		w.soilPort(p)
	}
	for _, t := range f.threads {
		t.flows = without(t.flows, f)
		w.soil(t.machine)
	}
	for _, p := range f.ports {
		for len(p.waiting) > 0 && len(p.flows) < mostFlows {
			next := p.waiting[0]
			p.waiting = p.waiting[1:]
			w.begin(next) // or it waits for another of its ports
		}
	}
}

// without removes a flow from a list, keeping the order.
func without(flows []*flow, f *flow) []*flow {
	i := slices.Index(flows, f)
	return slices.Delete(flows, i, i+1)
}
