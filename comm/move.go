package comm

// The schedules below move bytes without adding any; buffer 0 is the caller's.

// broadcast sends buffer 0 of root to all along a binomial tree: log2 p steps, at most
// n log2 p bytes sent by one rank.
func broadcast(size, rank, bytes, root int) *Schedule {
	s := &Schedule{Own: 1}
	v := (rank - root + size) % size // distance from root
	whole := Span{0, bytes}
	for d := 1; d < size; d *= 2 {
		var st Step
		switch {
		case v < d && v+d < size:
			st.send((v+d+root)%size, 0, whole)
		case v >= d && v < 2*d:
			st.receive((v-d+root)%size, 0, whole)
		}
		s.Steps = append(s.Steps, st)
	}
	return s
}

// barrier is the dissemination barrier: log2 p steps of one empty frame each.
func barrier(size, rank int) *Schedule {
	s := &Schedule{Own: 1}
	for d := 1; d < size; d *= 2 {
		s.Steps = append(s.Steps, Step{
			Sends:    []Transfer{{Peer: (rank + d) % size}},
			Receives: []Transfer{{Peer: (rank - d + size) % size}},
		})
	}
	return s
}

// allGather gives every rank's part bounds[r]:bounds[r+1] of buffer 0 to all: one step, p-1
// messages per rank.
func allGather(rank int, bounds []int) *Schedule {
	st := exchangeParts(rank, len(bounds)-1, func(r int) Span { return Span{bounds[r], bounds[r+1]} })
	return &Schedule{Own: 1, Steps: []Step{st}}
}

// gather collects every rank's part in root's buffer 0: one step.
func gather(rank int, bounds []int, root int) *Schedule {
	var st Step
	for r := range len(bounds) - 1 {
		part := Span{bounds[r], bounds[r+1]}
		switch {
		case r == root:
		case rank == root:
			st.receive(r, 0, part)
		case rank == r:
			st.send(root, 0, part)
		}
	}
	return &Schedule{Own: 1, Steps: []Step{st}}
}

// scatter gives every rank its part of root's buffer 0: one step.
func scatter(rank int, bounds []int, root int) *Schedule {
	s := gather(rank, bounds, root)
	s.Steps[0].Sends, s.Steps[0].Receives = s.Steps[0].Receives, s.Steps[0].Sends
	return s
}
