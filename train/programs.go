package train

import (
	"fmt"
	"slices"

	"lockstep/data"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/shard"
	"lockstep/tensor"
)

// programs holds one compiled program for each number of samples that this worker will meet; for
// training, one for each stage and lane. They share variables, and those of a lane one arena.
type programs struct {
	variables  *graph.Variables
	main       lane                 // of all threads; evaluates
	lanes      []lane               // train, each a shard at a time; main alone unless shards are abreast
	stages     []int                // the step at which each stage begins
	halt       *halt                // ends their passes
	isKept     bool                 // weights and gradients lie in the executor's memory
	training   map[int][][]*program // by samples, then by lane, then by stage
	evaluation map[int]*program
}

// Names of the inputs that Targets are.
const (
	labels  = "labels"
	others  = "others"
	shares  = "shares"
	targets = "targets"
	weights = "weights" // of the samples
)

// program is a compiled program with the inputs that it is fed through.
type program struct {
	*graph.Program
	samples, labels, others, shares, targets, weights *graph.Input
}

// Note: frozen parameters
//
// Frozen parameters need no gradient, and neither do values that lead only to them. So a run is
// divided into stages, at which more parameters are frozen, and each stage has its programs. The
// bits of the other gradients do not change. Clipping, which takes the norm of all gradients, keeps
// all of them.

// stages returns the steps at which the set of frozen parameters changes, beginning with 0.
func (c Config) stages() []int {
	stages := []int{0}
	for _, g := range c.Optimizer.Groups {
		if g.Rate > 0 && g.Steps > 0 && g.Steps < c.steps() && c.Clip == 0 {
			stages = append(stages, g.Steps)
		}
	}
	slices.Sort(stages)
	return slices.Compact(stages)
}

// compile makes all programs of a run. If isKept, weights and gradients lie in the executor's memory.
func compile(c Config, isKept bool) (*programs, error) {
	ex := c.Executor
	if ex == nil {
		ex = graph.NewHost(c.CPU)
	}
	p := &programs{
		main:       lane{executor: ex, arena: graph.NewArena(ex)},
		stages:     c.stages(),
		halt:       &halt{},
		isKept:     isKept,
		training:   map[int][][]*program{},
		evaluation: map[int]*program{},
	}
	p.lanes = []lane{p.main}
	if err := p.compileAll(c); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *programs) compileAll(c Config) error {
	if err := p.compileTraining(c); err != nil {
		return err
	}
	if len(p.training) == 0 && !c.EvalOnly {
		// A worker without a sample in any step contributes nothing, but its parameters must have
		// the layout of the others', which a training program determines.
		if err := p.addTraining(c, 1); err != nil {
			return err
		}
	}
	for _, set := range []*data.Set{c.Validation, c.Test} {
		first, end := c.ownBatches(set)
		for b := first; b < end; b++ {
			lo, hi := c.evalBatch(set, b)
			if err := p.addEvaluation(c, hi-lo); err != nil {
				return err
			}
		}
	}
	if p.variables == nil { // there are more workers than batches to evaluate
		return p.addEvaluation(c, 1)
	}
	return nil
}

// addRun compiles the programs for the shards of w.
func (p *programs) addRun(c Config, w Work) error {
	for _, batch := range c.batches() {
		for v := w.Lo; v < w.Hi; v++ {
			if err := p.addTraining(c, shard.Samples(batch, c.Plan.Shards(), v)); err != nil {
				return err
			}
		}
	}
	return nil
}

// addTraining compiles the training programs for n samples that lanes lack, unless n is 0.
func (p *programs) addTraining(c Config, n int) error {
	for n > 0 && len(p.training[n]) < len(p.lanes) {
		at := p.lanes[len(p.training[n])]
		var stages []*program
		for _, step := range p.stages {
			program, err := p.add(c, n, at, graph.Options{Train: true, Frozen: func(q graph.Param) bool {
				return c.Clip == 0 && c.Optimizer.IsFrozen(q.Name, step+1)
			}})
			if err != nil {
				return err
			}
			stages = append(stages, program)
		}
		p.training[n] = append(p.training[n], stages)
	}
	return nil
}

// addEvaluation compiles the evaluation program for n samples, unless it exists.
func (p *programs) addEvaluation(c Config, n int) (err error) {
	if p.evaluation[n] == nil {
		p.evaluation[n], err = p.add(c, n, p.main, graph.Options{})
	}
	return err
}

// add compiles the network for n samples with the given options, to run in a lane.
func (p *programs) add(c Config, n int, at lane, o graph.Options) (*program, error) {
	g := graph.New()
	samples := c.Network.Samples(g, n)
	o.Logits = c.Network.Build(samples)
	if o.Train {
		o.Loss = c.Task.Loss(o.Logits, c.targets(g, n))
		if c.Train.Weights != nil {
			o.Loss = graph.ScaleRows(o.Loss, g.Input(weights, tensor.Shape{n}))
		}
	}
	o.MemoryLimit, o.Arena, o.Kept, o.IsHalted = c.MemoryLimit, at.arena, p.isKept, p.halt.isAsked
	compiled, err := graph.Compile(g, at.executor, o)
	if err != nil {
		return nil, fmt.Errorf("train: compile %s for %d samples: %w", c.Network.Name, n, err)
	}
	if p.variables == nil {
		p.variables = graph.NewVariables(compiled)
	}
	if err := compiled.Attach(p.variables); err != nil {
		return nil, fmt.Errorf("train: compile %s for %d samples: %w", c.Network.Name, n, err)
	}
	made := &program{Program: compiled}
	for _, in := range compiled.Inputs() {
		switch in.Name() {
		case model.Images, model.Texts:
			made.samples = in
		case labels:
			made.labels = in
		case others:
			made.others = in
		case shares:
			made.shares = in
		case targets:
			made.targets = in
		case weights:
			made.weights = in
		default:
			return nil, fmt.Errorf("train: compile %s: nothing sets the input %s", c.Network.Name, in.Name())
		}
	}
	return made, nil
}

// targets adds to g what the data set says of n samples.
func (c Config) targets(g *graph.Graph, n int) (t Targets) {
	if c.Train.HasLabels() {
		t.Labels = g.Labels(labels, n)
	}
	if c.Augment.IsMixed() {
		t.Others, t.Shares = g.Labels(others, n), g.Input(shares, tensor.Shape{n})
	}
	if k := c.Train.NumTargets; k > 0 {
		t.Values = g.Input(targets, tensor.Shape{n, k})
	}
	return t
}

// forStep returns the training program of a lane for n samples in the given step.
func (p *programs) forStep(n, step, lane int) *program {
	stage := len(p.stages) - 1
	for p.stages[stage] > step {
		stage--
	}
	return p.training[n][lane][stage]
}
