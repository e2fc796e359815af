package simulate

import "slices"

// port is one direction of a link.
type port struct {
	capacity float64 // in links of a host
	flows    []*flow
	weight   float64 // sum of theirs
	waiting  []*flow // until others have ended
	saved    float64 // seconds that the link was idle and may catch up on, see Link.Burst
	idle     float64 // since when it has no flow
	isDirty  bool
}

// spare returns the seconds that a port may catch up on, at most so many.
func (p *port) spare(now, most float64) float64 {
	if len(p.flows) == 0 {
		p.saved, p.idle = min(most, p.saved+now-p.idle), now
	}
	return p.saved
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
	weight  float64 // by which flows share a port
	share   float64 // of the link
	isDirty bool
}

// thread exchanges for a rank.
type thread struct {
	rank    int
	machine *machine
	flows   []*flow
	demand  float64 // cores that its flows can use
	slow    float64 // factor of their rates
	collector
	post
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
// this step over links of this kind, and factor a noise. sent is called when the bytes have left, and arrived
// when they are there.
func (w *world) send(from *thread, b batch, all int, factor float64, sent, arrived func()) {
	link, ports := w.link(from.rank, b.peer)
	to := w.threads[b.peer]
	w.carried[from.rank] += b.bytes
	w.carried[b.peer] += b.bytes
	further := float64(b.messages) * float64(all-1) / float64(all)
	seconds := factor * (b.bytes*link.Byte + further*link.Message)
	cpu := float64(b.messages)*link.CPUMessage + b.bytes*link.CPUByte
	latency := factor * link.Latency
	if most := link.Burst * link.Byte; most > 0 && !w.isInside(from.rank, b.peer) {
		early := min(ports[0].spare(w.now, most), ports[1].spare(w.now, most), b.bytes*link.Byte)
		ports[0].saved, ports[1].saved = ports[0].saved-early, ports[1].saved-early
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
	f := &flow{ports: ports, threads: []*thread{from, to}, cpu: cpu / seconds, share: 1, weight: 1}
	if w.Network.Unfairness > 0 && !w.isInside(from.rank, to.rank) {
		const kinds = 5 // of connections, from slow to fast; which one is which does not matter
		at := (7*from.rank + 11*to.rank) % kinds
		f.weight += w.Network.Unfairness * (2*float64(at)/(kinds-1) - 1)
	}
	w.add(&f.activity, seconds, func() {
		w.end(f)
		sent()
		w.after(latency, arrived)
	})
	w.begin(f)
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
		p.weight += f.weight
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
		p.flows, p.idle = without(p.flows, f), w.now
		p.weight = 0
		for _, other := range p.flows {
			p.weight += other.weight
		}
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
