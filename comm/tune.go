package comm

import (
	"math"
	"time"
)

// Tune measures the group's links and the speed of additions; "auto" then selects by these figures
// instead of by Resolve's rule. Like a collective it must be called on all ranks; rank 0 decides
// for all. No bit depends on the choice: only exact algorithms are candidates, and a call with a
// lossy codec, whose sums differ between algorithms, keeps to Resolve's rule (see [Pick]).
//
// It takes a few milliseconds; on slow links some 30 times their latency plus the time of 96 KiB.
// Its traffic is not counted.
func (g *Group) Tune() (Tuning, error) {
	if err := g.do(Call{Op: tune}); err != nil {
		return Tuning{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return *g.exec.tuning, nil
}

// A figure is the minimum of tuneTrials, or of two if they take longer than slowTrial each.
const (
	tuneTrials = 4
	slowTrial  = 2 * time.Millisecond
)

// tune measures, and broadcasts the decision of rank 0.
func (x *executor) tune() error {
	defer func() {
		for peer := range x.counts {
			x.counts[peer] = Count{}
		}
	}()
	t := &Tuning{}
	if err := x.measure(t); err != nil {
		return err
	}
	if err := x.agree(t); err != nil {
		return err
	}
	x.tuning = t
	clear(x.plans) // those of "auto" followed another rule
	return nil
}

// measure measures this rank's figures.
func (x *executor) measure(t *Tuning) error {
	const elems = 1 << 16
	a, b := make([]float32, elems), make([]float32, elems)
	t.Add = math.Inf(1)
	for range tuneTrials {
		begin := time.Now()
		x.config.Add(a, b)
		t.Add = min(t.Add, time.Since(begin).Seconds()/(4*elems))
	}
	var err error
	hosts := x.config.Topology
	if hosts.numColumns() > 1 {
		if t.Inside, err = x.probe(hosts.around, t.Add/2); err != nil {
			return err
		}
	}
	if hosts.Hosts() > 1 {
		t.Outside, err = x.probe(hosts.across, t.Add/2)
		t.Outside.Crossing = Crossing
	}
	return err
}

// neighbour names the ranks that a rank sends to and receives from while links are measured.
type neighbour struct{ to, from int }

// around returns the neighbours in a ring of the ranks of each host.
func (t Topology) around(rank int) []neighbour {
	peers, at := t.peers(rank), t.place[rank].index
	if len(peers) == 1 {
		return nil
	}
	return []neighbour{{peers[(at+1)%len(peers)], peers[(at-1+len(peers))%len(peers)]}}
}

// across returns the neighbours in a ring of the owners of each column.
func (t Topology) across(rank int) []neighbour {
	h := hierarchy{Topology: t}
	host, n := t.place[rank].host, len(t.hosts)
	var list []neighbour
	lo, hi := h.columns(rank)
	for c := lo; c < hi; c++ {
		list = append(list, neighbour{h.owner(c, (host+1)%n), h.owner(c, (host-1+n)%n)})
	}
	return list
}

// probe measures links of one kind. copying is the seconds to copy a byte and a lower bound of a
// byte's time: on a busy machine the difference of two times may be smaller, or negative.
func (x *executor) probe(neighbours func(int) []neighbour, copying float64) (LinkSpeed, error) {
	with := neighbours(x.mesh.Rank())
	const burst, small, large = 8, 1 << 12, 1 << 16
	one, _, err := x.try(with, 1, 1)
	if err != nil {
		return LinkSpeed{}, err
	}
	many, _, err := x.try(with, 1+burst, 1)
	if err != nil {
		return LinkSpeed{}, err
	}
	elems := small
	long, isSlow, err := x.try(with, 1, elems)
	if err == nil && !isSlow {
		elems = large
		long, _, err = x.try(with, 1, elems)
	}
	if err != nil || len(with) == 0 {
		return LinkSpeed{}, err
	}
	return LinkSpeed{Latency: one, Message: max(0, many-one) / float64(burst*len(with)),
		Byte: max(copying, (long-one)/float64(4*elems*len(with)))}, nil
}

// try returns the least seconds of a step in which this rank exchanges messages of elems elements
// with each of its neighbours, and whether rank 0 found that slow.
func (x *executor) try(with []neighbour, messages, elems int) (least float64, isSlow bool, err error) {
	var st Step
	s := &Schedule{Own: 1}
	for _, n := range with {
		in := s.scratch(Span{0, elems})
		for range messages {
			st.send(n.to, 0, Span{0, elems})
			st.receive(n.from, in, Span{0, elems})
		}
	}
	const steps = 3 // of a trial
	for range steps {
		s.Steps = append(s.Steps, st)
	}
	exchange := x.lay(s, nil, 4)
	own := Alloc(x.mesh, elems)
	verdict := make([]byte, 1)
	tell := x.plan(&Call{Op: Broadcast}, len(verdict), 1)
	x.buffers = append(x.buffers[:0], nil)
	if err := x.runPlan(tune, x.plan(&Call{Op: Barrier}, 0, 1)); err != nil {
		return 0, false, err
	}
	least = math.Inf(1)
	for i := range tuneTrials {
		begin := time.Now()
		x.buffers = append(x.buffers[:0], Bytes(own))
		if err := x.runPlan(tune, exchange); err != nil {
			return 0, false, err
		}
		least = min(least, time.Since(begin).Seconds()/steps)
		if i != 1 {
			continue
		}
		if steps*least > slowTrial.Seconds() {
			verdict[0] = 1 // only rank 0's counts
		}
		x.buffers = append(x.buffers[:0], verdict)
		if err := x.runPlan(tune, tell); err != nil {
			return 0, false, err
		}
		if isSlow = verdict[0] != 0; isSlow {
			break
		}
	}
	return least, isSlow, nil
}

// agree replaces the figures by the maxima over all ranks and the choices by those of rank 0.
func (x *executor) agree(t *Tuning) error {
	size := x.mesh.Size()
	figures := []*float64{&t.Inside.Latency, &t.Inside.Message, &t.Inside.Byte, &t.Outside.Latency,
		&t.Outside.Message, &t.Outside.Byte, &t.Add}
	n := len(figures)
	bounds := make([]int, size+1)
	for r := range bounds {
		bounds[r] = 8 * n * r
	}
	all := make([]float64, n*size)
	for i, f := range figures {
		all[n*x.mesh.Rank()+i] = *f
	}
	x.buffers = append(x.buffers[:0], Bytes(all))
	gather := x.plan(&Call{Op: Gather, Bounds: bounds}, 8*len(all), 1)
	if err := x.runPlan(tune, gather); err != nil {
		return err
	}
	for i, f := range all {
		*figures[i%n] = max(*figures[i%n], f)
	}
	t.Choose(x.config.Topology, x.config.Plan)
	return x.adopt(t, figures)
}

// adopt replaces figures and choices by those of rank 0.
func (x *executor) adopt(t *Tuning, figures []*float64) error {
	table := algorithms()
	var told []float64
	for _, f := range figures {
		told = append(told, *f)
	}
	for _, c := range t.Choices {
		told = append(told, float64(indexOf(table, c.Algorithm)), c.Seconds)
	}
	x.buffers = append(x.buffers[:0], Bytes(told))
	if err := x.runPlan(tune, x.plan(&Call{Op: Broadcast}, 8*len(told), 1)); err != nil {
		return err
	}
	for i, f := range figures {
		*f = told[i]
	}
	for i := range t.Choices {
		choice := told[len(figures)+2*i:]
		at := int(choice[0])
		if at < 0 || at >= len(table) || !table[at].isExact {
			return x.fail(x.lost(0, tune,
				&FrameError{"algorithm", uint64(at), uint64(len(table) - 1)}), x.lost)
		}
		t.Choices[i] = Choice{t.Choices[i].Bytes, table[at].name, choice[1]}
	}
	return nil
}
