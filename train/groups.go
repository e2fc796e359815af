package train

import (
	"time"

	"lockstep/graph"
	"lockstep/trace"
)

// groupEvery says in which steps passes are recorded by groups of ops: one in so many, from step groupFirst
// of each on. A group costs a look at the clock and a span, 0.1 us; lenet has some forty in a step of two
// shards.
const (
	groupEvery = 16
	groupFirst = 3
)

// groups records the runs of ops of one kind in some steps.
type groups struct {
	track *trace.Track
	step  int
	isOn  bool              // in this step
	mark  time.Time         // where the last one ended
	done  func(kind string) // g.end, bound once so that a step does not allocate
}

// newGroups returns the recorder of groups; of an executor that only queues ops it records none.
func newGroups(t *trace.Track, ex graph.Executor) *groups {
	g := &groups{track: t}
	if ex != nil && !ex.InPlace() {
		g.track = nil
	}
	g.done = g.end
	return g
}

// begin decides whether a step is recorded by groups.
func (g *groups) begin(step int) {
	g.step, g.isOn = step, g.track != nil && step%groupEvery == groupFirst
}

// watch makes the next pass of p tell its groups, if this step is recorded.
func (g *groups) watch(p *graph.Program) {
	if !g.isOn {
		p.OnGroup(nil)
		return
	}
	p.OnGroup(g.done)
	g.mark = time.Now()
}

// end records a group that has just ended.
func (g *groups) end(kind string) {
	now := time.Now()
	g.track.Span(kind, g.step, g.mark, now)
	g.mark = now
}
