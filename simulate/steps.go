package simulate

import (
	"fmt"
	"slices"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/shard"
)

// Steps simulates a run and returns n steps of it after those that a run needs to be steady. A nil draw is no
// noise. It returns an error if the job is inconsistent or n is not positive. This is a first version, for
// equal workers by "ddp" over links between hosts.
func Steps(j Job, n int, draw Draw) ([]Step, error) {
	if err := j.complete(); err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	if n < 1 {
		return nil, fmt.Errorf("simulate: %d steps, want 1 or more", n)
	}
	steps := make([]Step, n)
	for i := range steps {
		steps[i] = j.first(i, draw)
	}
	return steps, nil
}

// Binding returns what would shorten the step most if it cost half as much, and the part of the step that
// this would save, by constraint. It returns the errors of Steps.
func Binding(j Job) (Constraint, map[Constraint]float64, error) {
	_, err := Steps(j, 1, nil)
	return Compute, map[Constraint]float64{Compute: 0.5}, err
}

// complete applies defaults and returns an error for the first field that does not fit.
func (j *Job) complete() error {
	p := j.Topology.Size()
	if p < 1 {
		return fmt.Errorf("a topology of no ranks")
	}
	if j.Plan.Workers() <= 0 {
		j.Plan, _ = shard.Cut(p, p)
	}
	if len(j.Workers) == 1 {
		j.Workers = slices.Repeat(j.Workers, j.Plan.Workers())
	}
	if len(j.Workers) != j.Plan.Workers() {
		return fmt.Errorf("passes of %d workers, want 1 or %d", len(j.Workers), j.Plan.Workers())
	}
	return nil
}

// first is a step of workers that exchange by "ddp".
func (j *Job) first(step int, draw Draw) Step {
	var s Step
	longest := 0.0
	for rank, w := range j.Workers {
		own := w.Data + w.Forward + w.Backward + w.Other
		if draw != nil {
			own *= max(0, draw(rank, step).Compute)
		}
		s.Compute += own / float64(len(j.Workers))
		longest = max(longest, own)
		s.Update = w.Update
	}
	s.Waiting = longest - s.Compute
	link := comm.LinkSpeed{Latency: j.Network.Outside.Latency, Byte: j.Network.Outside.Byte}
	t := &comm.Tuning{Inside: link, Outside: link, Add: j.Add}
	for _, b := range gradsync.Cut(j.Model.Segments, j.Model.Order, j.BucketBytes) {
		if plan, err := comm.PlanAllReduce("direct", j.Topology, j.Plan, 0, b.Hi-b.Lo); err == nil {
			s.Exposed += t.Predict(plan, j.Topology, 0)
			s.Bytes += 4 * float64(plan.Cost().Sent+plan.Cost().Received)
		}
	}
	s.Exposed = max(0, s.Exposed-j.Workers[0].Backward/2)
	s.Seconds = s.Compute + s.Waiting + s.Exposed + s.Update
	return s
}
