package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/ps"
	"lockstep/shard"
)

// complete applies defaults and returns an error for the first field that does not fit.
func (j *Job) complete() error {
	ranks, servers := j.Topology.Size(), 0
	switch j.Strategy {
	case "none", "single", "local-sgd", "diloco":
	case "ps", "ps-async":
		j.Servers.Count = cmp.Or(j.Servers.Count, 1)
		if j.Servers.IsApart {
			servers = j.Servers.Count
		}
	default:
		if !slices.Contains(gradsync.Names(), j.Strategy) {
			return fmt.Errorf("strategy %q", j.Strategy)
		}
	}
	workers := ranks - servers
	if workers < 1 {
		return fmt.Errorf("a topology of %d ranks, %d of them servers: want a worker", ranks, servers)
	}
	if j.Plan.Workers() <= 0 {
		j.Plan, _ = shard.Cut(workers, workers)
	}
	if got := j.Plan.Workers(); got != workers {
		return fmt.Errorf("a plan for %d workers, want %d", got, workers)
	}
	if err := j.completeWorkers(workers); err != nil {
		return err
	}
	if err := j.completeMachines(ranks); err != nil {
		return err
	}
	if err := j.completeModel(); err != nil {
		return err
	}
	return j.completeSettings()
}

func (j *Job) completeWorkers(workers int) error {
	if len(j.Workers) == 1 {
		j.Workers = slices.Repeat(j.Workers, workers)
	}
	if len(j.Workers) != workers {
		return fmt.Errorf("passes of %d workers, want 1 or %d", len(j.Workers), workers)
	}
	j.Workers = slices.Clone(j.Workers)
	for rank := range j.Workers {
		p := &j.Workers[rank]
		p.Threads = cmp.Or(p.Threads, 1)
		if least := min(p.Data, p.Forward, p.Backward, p.Update, p.Other, p.Threads); !(least >= 0) {
			return fmt.Errorf("passes of worker %d: %v, want no less than 0", rank, least)
		}
	}
	return nil
}

func (j *Job) completeMachines(ranks int) error {
	if j.MachineOf == nil {
		firsts := map[int]int{} // hosts
		for rank := range ranks {
			first := j.Topology.Peers(rank)[0]
			if _, isKnown := firsts[first]; !isKnown {
				firsts[first] = len(firsts)
			}
			j.MachineOf = append(j.MachineOf, firsts[first])
		}
		switch len(j.Machines) {
		case 0:
			j.Machines = make([]Machine, len(firsts))
		case 1:
			j.Machines = slices.Repeat(j.Machines, len(firsts))
		}
	}
	if len(j.MachineOf) != ranks {
		return fmt.Errorf("machines of %d ranks, want %d", len(j.MachineOf), ranks)
	}
	for rank, m := range j.MachineOf {
		if m < 0 || m >= len(j.Machines) {
			return fmt.Errorf("machine %d of rank %d, want one of %d", m, rank, len(j.Machines))
		}
	}
	for i, m := range j.Machines {
		isBad := func(crowding float64) bool { return !(crowding > 0) }
		if !(min(m.Cores, m.Slice) >= 0) || slices.ContainsFunc(m.Crowding, isBad) {
			return fmt.Errorf("machine %d with %v cores, crowding %v", i, m.Cores, m.Crowding)
		}
	}
	return nil
}

func (j *Job) completeModel() error {
	m := &j.Model
	if len(m.Order) != len(m.Segments) {
		return fmt.Errorf("order of %d parameters, want %d", len(m.Order), len(m.Segments))
	}
	seen, at := make([]bool, len(m.Segments)), 0
	for _, param := range m.Order {
		if param < 0 || param >= len(seen) || seen[param] || m.Segments[param].Offset < at {
			return fmt.Errorf("order %v does not follow %d segments", m.Order, len(seen))
		}
		seen[param] = true
		at = m.Segments[param].Offset + m.Segments[param].Len
	}
	if m.Ready == nil {
		for i := range m.Order {
			m.Ready = append(m.Ready, float64(i+1)/float64(len(m.Order)))
		}
	}
	n := len(m.Ready)
	if n != len(m.Order) || !slices.IsSorted(m.Ready) || n > 0 && !(m.Ready[0] >= 0 && m.Ready[n-1] <= 1) {
		return fmt.Errorf("ready at %v, want %d ascending parts", m.Ready, len(m.Order))
	}
	if len(m.Segments) == 0 && j.Strategy != "none" && j.Strategy != "single" {
		return fmt.Errorf("no parameters to exchange")
	}
	return nil
}

func (j *Job) completeSettings() error {
	a := &j.Averages
	a.Every, a.Parts = cmp.Or(a.Every, 1), cmp.Or(a.Parts, 1)
	if a.Every < 1 || a.Parts < 1 || a.Parts > a.Every || a.Overlap < 0 || a.Overlap >= a.Every {
		return fmt.Errorf("averages %+v, want 1 to %d parts and less overlap", *a, a.Every)
	}
	if c := j.Wire.Codec; j.Wire.Ratio == 0 {
		j.Wire.Ratio = 1
		if c != nil {
			const many = 1 << 16
			j.Wire.Ratio = float64(c.MaxBytes(many)) / (4 * many)
		}
	}
	n := &j.Network
	n.Oversubscription = cmp.Or(n.Oversubscription, 1)
	least := min(n.Oversubscription-1, n.Crossing, n.Unevenness, float64(n.Group), j.Add, j.Wire.Ratio)
	least = min(least, j.Wire.Encode, j.Wire.Decode, j.Model.RowBytes)
	for _, l := range []Link{n.Inside, n.Outside} {
		least = min(least, l.Latency, l.Message, l.Byte, l.Burst, l.CPUMessage, l.CPUByte)
	}
	if least = min(least, float64(min(j.BucketBytes, j.Servers.Count, j.Servers.Staleness))); !(least >= 0) ||
		!(n.Crossing < 1) {
		return fmt.Errorf("negative sizes or times, or an oversubscription below 1")
	}
	isEager := j.Strategy == gradsync.DDP
	j.OverlapForward, j.ShardOptimizer = j.OverlapForward && isEager, j.ShardOptimizer && isEager
	if j.OverlapForward && j.ShardOptimizer {
		return fmt.Errorf("an optimizer in shards with an overlap of forward passes: want one of them")
	}
	j.Algorithm = cmp.Or(j.Algorithm, "auto")
	if j.Strategy == gradsync.GatherScatter {
		j.Algorithm = "gather"
	}
	return comm.CheckAlgorithm(j.Algorithm)
}

// newWorld returns the machines and links of a complete job.
func newWorld(j *Job, draw Draw) *world {
	ranks := j.Topology.Size()
	w := &world{Job: j, draw: draw, carried: make([]float64, ranks)}
	for _, m := range j.Machines {
		w.machines = append(w.machines, &machine{Machine: m, turn: -1})
	}
	open := func(like port) duplex {
		in, out := like, like
		return duplex{&out, &in}
	}
	burst := j.Network.Outside.Burst * j.Network.Outside.Byte
	link := port{capacity: 1, most: burst, saved: burst, crossing: j.Network.Crossing}
	hosts, switches := map[int]duplex{}, map[int]duplex{}
	order := map[int]int{} // of hosts
	var names []string
	for rank := range ranks {
		host := j.Topology.Peers(rank)[0]
		if _, isKnown := order[host]; !isKnown {
			order[host] = len(order)
			hosts[host] = open(link)
		}
		w.hosts = append(w.hosts, host)
		w.inside, w.outside = append(w.inside, open(port{capacity: 1})), append(w.outside, hosts[host])
		if n := j.Network; n.Group > 0 && j.Topology.Hosts() > n.Group {
			number := order[host] / n.Group
			if _, isKnown := switches[number]; !isKnown {
				switches[number] = open(port{capacity: float64(n.Group) / n.Oversubscription})
			}
			w.uplinks = append(w.uplinks, switches[number])
		}
		t := &thread{rank: rank, machine: w.machines[j.MachineOf[rank]], slow: 1}
		t.queues = map[int]*queue{}
		if !j.isLarge() {
			t.arrived, t.awaited = make([]int, ranks), make([]bool, ranks)
		}
		if rank < j.Plan.Workers() {
			names = append(names, strconv.Itoa(host))
		}
		w.threads = append(w.threads, t)
		t.machine.threads = append(t.machine.threads, t)
	}
	w.hostsOf = comm.NewTopology(names)
	return w
}

// isLarge reports whether there are too many workers to simulate every message of a collective.
func (j *Job) isLarge() bool { return j.Plan.Workers() > cmp.Or(j.mostRanks, mostRanks) }

// isInside reports whether two ranks share a host.
func (w *world) isInside(a, b int) bool { return w.hosts[a] == w.hosts[b] }

// kind is 0 for a link within a host, 1 for one between hosts.
func (w *world) kind(a, b int) int {
	if w.isInside(a, b) {
		return 0
	}
	return 1
}

// newCourse returns the course of a run of so many steps.
func (w *world) newCourse(steps int) *course {
	c := &course{schedules: schedules{stages: map[scheduleKey][][]stage{}, costs: map[scheduleKey]cost{}},
		meetings: map[int]*meeting{}, steps: steps,
		rowElems: int(w.Model.RowBytes / 4 * float64(w.Plan.Shards()))}
	for _, s := range w.Model.Segments {
		c.elems = max(c.elems, s.Offset+s.Len)
	}
	name := w.Strategy
	switch {
	case name == "none" || name == "single":
		return c
	case w.Algorithm == "auto" && w.Plan.Workers() > 1 && w.Servers.Count == 0:
		c.tuning = w.tune()
	}
	if w.isAveraging() {
		return c
	}
	if w.Servers.Count > 0 {
		name = gradsync.DDP
	}
	c.buckets = gradsync.Buckets(name, w.Model.Segments, w.Model.Order, w.BucketBytes)
	at := -1
	for i, b := range c.buckets {
		at += len(b.Params)
		c.ready, c.order = append(c.ready, w.Model.Ready[at]), append(c.order, i)
	}
	return c
}

// tune returns what a group of the workers would measure.
func (w *world) tune() *comm.Tuning {
	speed := func(l Link, sharers int) comm.LinkSpeed {
		return comm.LinkSpeed{Latency: l.Latency * w.threads[0].machine.crowd(),
			Message: max(l.Message, l.CPUMessage),
			Byte:    max(l.Byte*float64(sharers), 2*l.CPUByte)}
	}
	t := &comm.Tuning{Add: w.Add}
	sharers := 0
	for rank := range w.hostsOf.Size() {
		sharers = max(sharers, len(w.hostsOf.Peers(rank)))
	}
	if sharers > 1 {
		t.Inside = speed(w.Network.Inside, 1)
	}
	if w.hostsOf.Hosts() > 1 {
		t.Outside = speed(w.Network.Outside, sharers)
		t.Outside.Crossing = w.Network.Crossing
	}
	t.Choose(w.hostsOf, w.Plan)
	return t
}

// layout returns the layout of the servers.
func (w *world) layout(c *course) (*ps.Layout, error) {
	plan := w.Plan
	if w.Strategy == "ps-async" {
		plan, _ = shard.Cut(plan.Workers(), plan.Workers())
	}
	s := w.Servers
	return ps.NewLayout(ps.LayoutConfig{Plan: plan, Segments: w.Model.Segments, Order: w.Model.Order,
		BucketBytes: w.BucketBytes, Len: c.elems, Servers: s.Count, IsApart: s.IsApart, IsWhole: s.IsWhole,
		RowLen: 1})
}
