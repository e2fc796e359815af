package simulate

import (
	"fmt"
	"slices"
)

// Binding returns what would shorten a step of the job most if it took half as much, or there were twice of
// it. It returns the errors of Steps.
func Binding(j Job) (Constraint, error) {
	if err := j.complete(); err != nil {
		return "", fmt.Errorf("simulate: %w", err)
	}
	base, err := Mean(j, 2, nil)
	if err != nil {
		return "", err
	}
	best, most := Compute, 0.0
	for _, r := range reliefs(j.Servers.Count > 0) {
		eased := j
		eased.Workers, eased.Machines = slices.Clone(j.Workers), slices.Clone(j.Machines)
		r.ease(&eased)
		step, err := Mean(eased, 2, nil)
		if err != nil {
			return "", err
		}
		saved := 1 - step.Seconds/base.Seconds
		if r.of == Compute || saved > most+1e-9 {
			best, most = r.of, saved
		}
	}
	return best, nil
}

// relief halves a constraint of a job.
type relief struct {
	of   Constraint
	ease func(j *Job)
}

func reliefs(hasServers bool) []relief {
	updating := Updating
	if hasServers {
		updating = Server
	}
	workers := func(ease func(p *Passes)) func(j *Job) {
		return func(j *Job) {
			for i := range j.Workers {
				ease(&j.Workers[i])
			}
		}
	}
	links := func(ease func(l *Link)) func(j *Job) {
		return func(j *Job) {
			ease(&j.Network.Inside)
			ease(&j.Network.Outside)
		}
	}
	return []relief{
		{Compute, workers(func(p *Passes) {
			p.Forward, p.Backward, p.Other = p.Forward/2, p.Backward/2, p.Other/2
		})},
		{Cores, func(j *Job) {
			for i := range j.Machines {
				j.Machines[i].Cores *= 2
			}
		}},
		{Memory, func(j *Job) {
			for i := range j.Machines {
				m := &j.Machines[i]
				m.Crowding = slices.Clone(m.Crowding)
				for n, c := range m.Crowding {
					m.Crowding[n] = 1 + (c-1)/2
				}
			}
		}},
		{Latency, links(func(l *Link) { l.Latency, l.Message = l.Latency/2, l.Message/2 })},
		{Bandwidth, links(func(l *Link) { l.Byte /= 2 })},
		{Codec, func(j *Job) { j.Wire.Encode, j.Wire.Decode = j.Wire.Encode/2, j.Wire.Decode/2 }},
		{Slowest, evenOut},
		{updating, func(j *Job) {
			workers(func(p *Passes) { p.Update /= 2 })(j)
			if hasServers {
				j.Add /= 2
			}
		}},
		{Loading, workers(func(p *Passes) { p.Data /= 2 })},
	}
}

// evenOut makes all workers as fast as they are on average.
func evenOut(j *Job) {
	var mean Passes
	for _, p := range j.Workers {
		mean.Data += p.Data / float64(len(j.Workers))
		mean.Forward += p.Forward / float64(len(j.Workers))
		mean.Backward += p.Backward / float64(len(j.Workers))
		mean.Other += p.Other / float64(len(j.Workers))
	}
	for i := range j.Workers {
		p := &j.Workers[i]
		p.Data, p.Forward, p.Backward, p.Other = mean.Data, mean.Forward, mean.Backward, mean.Other
	}
}
