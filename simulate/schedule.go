package simulate

import (
	"fmt"

	"lockstep/comm"
)

// operation is a collective of workers.
type operation int

const (
	allReduce operation = iota
	reduceScatter
	allGather // of weights, not encoded
	rowGather // of the losses of all shards
)

// mostRanks is how many ranks are simulated message by message. In a larger world a collective begins for all
// when the last rank comes, and takes what it takes of equal ranks: within 0.3 % of 16 on 2 cores, of which
// it took 25 s to simulate every message.
const mostRanks = 8

// scheduleKey identifies a schedule.
type scheduleKey struct {
	operation
	elems int
}

// schedules holds the schedules that were made.
type schedules struct {
	stages map[scheduleKey][][]stage // by rank
	costs  map[scheduleKey]cost
	tuning *comm.Tuning
}

// newCall returns a rank's call of a collective over so many elements. In a large world, calls of one number
// are one meeting.
func (w *world) newCall(c *course, k scheduleKey, rank, number int) *call {
	if !w.isLarge() {
		all := c.stages[k]
		if all == nil {
			for r := range w.Plan.Workers() {
				all = append(all, w.stagesOf(&c.schedules, k, r))
			}
			c.stages[k] = all
		}
		return &call{stages: all[rank]}
	}
	m := c.meetings[number]
	if m == nil {
		cost, isKnown := c.costs[k]
		if !isKnown {
			cost = w.costOf(&c.schedules, k)
			c.costs[k] = cost
		}
		m = &meeting{cost: cost}
		c.meetings[number] = m
	}
	return &call{meeting: m}
}

// stepsOf returns the steps of a rank's collective, segment after segment.
func (w *world) stepsOf(s *schedules, k scheduleKey, rank int) []comm.Step {
	plan := func(algorithm string, elems int) []comm.Step {
		p, err := comm.PlanAllReduce(algorithm, w.hostsOf, w.Plan, rank, elems)
		if err != nil {
			panic(fmt.Sprintf("simulate: %v", err)) // checked by complete
		}
		return p.Steps
	}
	switch k.operation {
	case reduceScatter:
		return plan("direct", k.elems)[:1]
	case allGather, rowGather:
		return plan("direct", k.elems)[1:]
	}
	var steps []comm.Step
	for lo := 0; lo < k.elems; lo += comm.SegmentElems {
		n := min(comm.SegmentElems, k.elems-lo)
		name := comm.Pick(w.Algorithm, s.tuning, w.hostsOf, w.Wire.Codec, 4*n)
		steps = append(steps, plan(name, n)...)
	}
	return steps
}

// stagesOf returns the stages of a rank's collective.
func (w *world) stagesOf(s *schedules, k scheduleKey, rank int) []stage {
	var stages []stage
	isCoded := k.operation == allReduce || k.operation == reduceScatter
	for _, step := range w.stepsOf(s, k, rank) {
		stages = append(stages, w.stageOf(step, isCoded))
	}
	return stages
}

// stageOf adds up the transfers of a step by peer.
func (w *world) stageOf(step comm.Step, isCoded bool) stage {
	var st stage
	at := map[int]int{}
	put := func(all *[]batch, t comm.Transfer) (bytes float64) {
		i, isKnown := at[t.Peer]
		if !isKnown {
			i = len(*all)
			at[t.Peer] = i
			*all = append(*all, batch{peer: t.Peer})
		}
		b, ratio := &(*all)[i], 1.0
		if isCoded {
			ratio = w.Wire.Ratio
		}
		bytes = 4 * float64(t.Len())
		b.messages, b.bytes = b.messages+1, b.bytes+bytes*ratio
		return bytes
	}
	coded := map[comm.Transfer]bool{} // a span is encoded once for all its peers
	for _, t := range step.Sends {
		bytes := put(&st.sends, t)
		if t.Peer = 0; isCoded && !coded[t] {
			coded[t] = true
			st.before += bytes * w.Wire.Encode
		}
	}
	clear(at)
	for _, t := range step.Receives {
		if bytes := put(&st.receives, t); isCoded {
			st.after += bytes * w.Wire.Decode
		}
	}
	for _, sum := range step.Sums {
		st.after += 4 * float64(sum.Len()) * w.Add
	}
	return st
}

// costOf returns the cost of a collective of equal ranks that begin at once: the sum over its steps of what
// the first host takes, or its switch.
func (w *world) costOf(s *schedules, k scheduleKey) cost {
	ranks, stages := []int(nil), [][]stage(nil)
	for rank := range w.Plan.Workers() {
		isBehind := w.uplinks != nil && w.uplinks[rank] == w.uplinks[0] // the first switch
		if w.hosts[rank] == w.hosts[0] || isBehind {
			ranks, stages = append(ranks, rank), append(stages, w.stagesOf(s, k, rank))
		}
	}
	var c cost
	for i, first := range stages[0] {
		inside := 0.0
		var outside, across traffic
		for n, rank := range ranks {
			if i >= len(stages[n]) {
				continue
			}
			in, out, far := w.trafficOf(rank, &stages[n][i])
			across.add(far)
			if w.hosts[rank] == w.hosts[0] {
				inside = max(inside, in.seconds(w.Network.Inside, 1))
				outside.add(out)
			}
			if n == 0 {
				c.cpu += first.before + in.cores(w.Network.Inside) + out.cores(w.Network.Outside) +
					first.after
				c.bytes += in.out + in.in + out.out + out.in
			}
		}
		left := comm.Crossed(w.Network.Crossing, outside.peers)
		seconds := max(inside, outside.seconds(w.Network.Outside, left))
		if w.uplinks != nil {
			seconds = max(seconds, across.seconds(w.Network.Outside, w.uplinks[0].out.capacity))
		}
		c.seconds += first.before + seconds + first.after
	}
	c.seconds = max(c.seconds, c.cpu)
	return c
}

// traffic is what ranks move in a step over one kind of links.
type traffic struct {
	out, in   float64 // bytes
	messages  int     // in both directions
	further   int     // messages of a rank beyond its first, in the busier direction
	peers     int     // of a rank, in the direction with fewer
	isPresent bool
}

func (t *traffic) add(o traffic) {
	t.out, t.in = t.out+o.out, t.in+o.in
	t.messages, t.further, t.peers = t.messages+o.messages, t.further+o.further, max(t.peers, o.peers)
	t.isPresent = t.isPresent || o.isPresent
}

// seconds returns what the traffic takes over a link of a capacity.
func (t traffic) seconds(l Link, capacity float64) float64 {
	if !t.isPresent {
		return 0
	}
	return l.Latency + (float64(t.further)*l.Message+max(t.out, t.in)*l.Byte)/capacity
}

// cores returns the core seconds of moving it.
func (t traffic) cores(l Link) float64 {
	return float64(t.messages)*l.CPUMessage + (t.out+t.in)*l.CPUByte
}

// trafficOf returns what a rank moves in a stage: within its host, to and from other hosts, and of this
// across switches.
func (w *world) trafficOf(rank int, s *stage) (inside, outside, across traffic) {
	var all [3]traffic
	for direction, batches := range [][]batch{s.sends, s.receives} {
		var messages, peers [3]int
		for _, b := range batches {
			first := w.kind(rank, b.peer)
			last := first
			if first == 1 && w.uplinks != nil && w.uplinks[rank] != w.uplinks[b.peer] {
				last = 2
			}
			for i := first; i <= last; i++ {
				messages[i] += b.messages
				peers[i]++
				all[i].isPresent = true
				all[i].in += b.bytes
			}
		}
		for i := range all {
			t := &all[i]
			t.messages, t.further = t.messages+messages[i], max(t.further, messages[i]-1)
			if direction == 0 || peers[i] < t.peers {
				t.peers = peers[i]
			}
			t.out, t.in = t.in, t.out // so that after both turns each is in its place
		}
	}
	return all[0], all[1], all[2]
}
