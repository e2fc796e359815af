package graph

// trailing is an Executor that computes some ops of the backward pass beside those that follow: gradients of
// weights, for which nobody waits before the pass ends.
type trailing interface {
	// Trails returns how many of the ops that follow an application may begin before it has read its inputs.
	// A program leaves them in place for so long.
	Trails(a Application) int
	// Rejoin makes what is asked for from now on come after all such ops.
	Rejoin()
}

// rejoin ends what an executor computes beside the ops that follow.
func (p *Program) rejoin() {
	if t, ok := p.executor.(trailing); ok {
		t.Rejoin()
	}
}
