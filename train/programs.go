package train

import (
	"fmt"

	"lockstep/graph"
	"lockstep/internal/shard"
)

// programs holds one compiled program for each number of samples that this worker will meet. They
// share variables and one arena.
type programs struct {
	variables  *graph.Variables
	arena      *graph.Arena
	training   map[int]*graph.Program
	evaluation map[int]*graph.Program
}

// compile makes all programs of a run.
func compile(c Config) (*programs, error) {
	ex := graph.NewHost(c.CPU)
	p := &programs{
		arena:      graph.NewArena(ex),
		training:   map[int]*graph.Program{},
		evaluation: map[int]*graph.Program{},
	}
	err := p.compileAll(c, ex)
	if err != nil {
		p.arena.Close()
		return nil, err
	}
	return p, nil
}

func (p *programs) compileAll(c Config, ex graph.Executor) error {
	lo, hi := c.Plan.Run(c.Rank)
	for _, batch := range c.batches() {
		for v := lo; v < hi; v++ {
			n := shard.Samples(batch, c.Plan.Shards(), v)
			if err := p.add(c, ex, p.training, n, true); err != nil {
				return err
			}
		}
	}
	if len(p.training) == 0 && !c.EvalOnly {
		return fmt.Errorf("train: rank %d has no sample in any step of this run", c.Rank)
	}
	from, to := c.testPart()
	for at := from; at < to; at += c.EvalBatch {
		if err := p.add(c, ex, p.evaluation, min(c.EvalBatch, to-at), false); err != nil {
			return err
		}
	}
	if p.variables == nil { // more workers than test samples
		return p.add(c, ex, p.evaluation, 1, false)
	}
	return nil
}

// add compiles the program for n samples into byCount, unless n is 0 or it is there already.
func (p *programs) add(c Config, ex graph.Executor, byCount map[int]*graph.Program, n int,
	train bool) error {
	if n == 0 || byCount[n] != nil {
		return nil
	}
	g := graph.New()
	samples := c.Network.Samples(g, n)
	labels := g.Labels("labels", n)
	logits := c.Network.Build(samples)
	program, err := graph.Compile(g, ex, graph.Options{
		Loss: graph.SmoothedCrossEntropy(logits, labels, c.LabelSmoothing), Logits: logits, Train: train,
		MemoryLimit: c.MemoryLimit, Arena: p.arena,
	})
	if err != nil {
		return fmt.Errorf("train: compile %s for %d samples: %w", c.Network.Name, n, err)
	}
	if p.variables == nil {
		p.variables = graph.NewVariables(program)
	}
	if err := program.Attach(p.variables); err != nil {
		return fmt.Errorf("train: compile %s for %d samples: %w", c.Network.Name, n, err)
	}
	byCount[n] = program
	return nil
}
