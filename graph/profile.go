package graph

import (
	"fmt"
	"time"
)

// Profile is Forward, and Backward in a training program, that writes how long each op application
// took into times, which has one element per element of Cost, in its order. The results are the
// same; reading the clock adds some 50 ns to each op. An executor that computes while the program
// goes on only queues ops: its times are not those of computing. It panics if times has another
// length, and where Forward or Backward would.
func (p *Program) Profile(times []time.Duration) {
	if len(times) != len(p.steps) {
		panic(fmt.Sprintf("graph: profile: len(times)=%d, want %d", len(times), len(p.steps)))
	}
	p.mustBeReady()
	p.mustHaveGradients()
	p.upload()
	for i := range p.steps {
		s := &p.steps[i]
		p.bring(s, nil)
		begin := time.Now()
		s.run(&s.args)
		times[i] = time.Since(begin)
		p.final(s, nil)
		if i == p.forward-1 {
			p.endForward()
		}
	}
	p.rejoin()
	p.lastArrivals(nil)
}
