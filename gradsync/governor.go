package gradsync

import (
	"fmt"

	"lockstep/comm"
	"lockstep/shard"
)

// governor is the strategy of the wire "auto". It holds back the first step's gradients, measures
// the wires on them and the link, chooses a wire, and from then on forwards to a strategy with that
// wire. The ranks combine their figures, so all choose the same.
type governor struct {
	Strategy // nil until the first Wait
	name     string
	config   Config

	step  int
	rows  []float32
	ready []int
}

func newGovernor(name string, c Config) (Strategy, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("gradsync: %s: %w", name, err)
	}
	return &governor{name: name, config: c}, nil
}

func (g *governor) Begin(step int) {
	if g.Strategy != nil {
		g.Strategy.Begin(step)
		return
	}
	g.step = step
}

func (g *governor) GatherRows(rows []float32) {
	if g.Strategy != nil {
		g.Strategy.GatherRows(rows)
		return
	}
	g.rows = rows
}

func (g *governor) Ready(param int) {
	if g.Strategy != nil {
		g.Strategy.Ready(param)
		return
	}
	g.ready = append(g.ready, param)
}

func (g *governor) Wait() error {
	if g.Strategy == nil {
		if err := g.decide(); err != nil {
			return err
		}
	}
	return g.Strategy.Wait()
}

// Sum works before the choice too: a resumed run may evaluate before its first step.
func (g *governor) Sum(counts []int64) error { return sumCounts(g.config.Group, counts) }

// Replan implements Exchange: the measurements of the wires belong to a plan.
func (g *governor) Replan(shard.Plan, [][]float32) error {
	return fmt.Errorf("gradsync: another plan with wire auto")
}

// Close closes the strategy, if there is one.
func (g *governor) Close() error {
	if g.Strategy == nil {
		return nil
	}
	return g.Strategy.Close()
}

// Buckets returns the buckets of the strategy; none before the choice.
func (g *governor) Buckets() []Bucket {
	if g.Strategy == nil {
		return nil
	}
	return g.Strategy.Buckets()
}

// Exposed returns that of the strategy; nothing before the choice.
func (g *governor) Exposed() comm.Split {
	if g.Strategy == nil {
		return comm.Split{}
	}
	return g.Strategy.Exposed()
}

// decide chooses the wire, makes the strategy and repeats this step's calls on it.
func (g *governor) decide() error {
	verdict, err := judge(&g.config, Wires(), newSample(&g.config, g.config.Pieces[0]))
	if err != nil {
		return err
	}
	c := g.config
	if c.Wire, err = ParseWire(verdict.choose()); err != nil {
		return err
	}
	if g.Strategy, err = New(g.name, c); err != nil {
		return err
	}
	if c.OnVerdict != nil {
		c.OnVerdict(verdict)
	}
	g.Strategy.Begin(g.step)
	g.Strategy.GatherRows(g.rows)
	for _, param := range g.ready {
		g.Strategy.Ready(param)
	}
	g.rows, g.ready = nil, nil
	return nil
}
