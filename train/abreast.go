package train

import (
	"lockstep/compute"
	"lockstep/data"
	"lockstep/graph"
	"lockstep/trace"
)

// Note: shards abreast
//
// Threads that share an op wait for each other at its end and pass its operands between their caches. A
// worker that exchanges nothing with others and has several shards therefore computes as many at a time as
// it has threads, each in a lane of its own: lanes share the weights and nothing else. Gradients merge when
// all lanes are done, in the order of one shard after the other, so the bits are the same.
//
// Not so a worker that exchanges, whose gradients would all be final at the end only; nor one whose lanes
// would have more activations than Config.MemoryLimit allows, or so few that merging outweighs what is won.

// leastMaps is how many times as large as its gradients the activations of a lane are at least: with less,
// merging gradients, a pass of its own then, takes what lanes win (vgg11 of 32 samples lost 2 %).
const leastMaps = 2

// lane is where programs run: threads, and an arena.
type lane struct {
	executor graph.Executor
	arena    *graph.Arena
	cpu      *compute.CPU // closed with it; nil: somebody else's
}

// lanes returns how many shards this worker may compute abreast: a power of two that divides its threads and
// cuts its run of shards into blocks of the tree.
func (c Config) lanes() int {
	lo, hi := c.run()
	isAlone := c.Isolated || c.Plan.Workers() == 1 && !c.WholeBatches
	if !isAlone || c.InTurn || c.EvalOnly || c.Executor != nil {
		return 1
	}
	all := c.CPU.Threads() | lo | (hi - lo)
	return all & -all
}

// compileTraining compiles the training programs of the run, in as many lanes as is worth their memory.
func (p *programs) compileTraining(c Config) error {
	lo, hi := c.run()
	if err := p.addRun(c, Work{Lo: lo, Hi: hi}); err != nil {
		return err
	}
	n, bytes := c.lanes(), p.main.arena.Bytes()
	for n > 1 && c.MemoryLimit > 0 && int64(n)*bytes > c.MemoryLimit {
		n /= 2
	}
	if n == 1 || p.variables == nil || bytes < leastMaps*4*int64(len(p.variables.Weights)) {
		return nil
	}
	p.main.arena.Close() // these programs told the size; those of the lanes take their place
	p.main.arena = graph.NewArena(p.main.executor)
	p.training, p.lanes = map[int][][]*program{}, nil
	for i := range n {
		cpu, err := c.CPU.Split(n)
		if err != nil {
			return err
		}
		at := lane{executor: graph.NewHost(cpu), arena: p.main.arena, cpu: cpu}
		if i > 0 { // the first shares the arena of evaluation, which runs at other times
			at.arena = graph.NewArena(at.executor)
		}
		p.lanes = append(p.lanes, at)
	}
	return p.addRun(c, Work{Lo: lo, Hi: hi})
}

// abreast returns how many shards are computed at a time.
func (p *programs) abreast() int { return len(p.lanes) }

// arenaBytes returns the size of all arenas.
func (p *programs) arenaBytes() int64 {
	bytes := p.main.arena.Bytes()
	for _, at := range p.lanes[1:] {
		bytes += at.arena.Bytes()
	}
	return bytes
}

// close frees the memory of the programs, and the threads of lanes.
func (p *programs) close() {
	for _, at := range p.lanes {
		if at.cpu != nil {
			at.cpu.Close()
		}
		at.arena.Close()
	}
	p.main.arena.Close()
}

// side is the state of shards that are computed abreast.
type side struct {
	programs []*program // by lane
	backward bool
}

// Do runs the pass of a lane, whose number is the part's.
func (s *side) Do(_, part, _ int) {
	if s.backward {
		s.programs[part].Backward(nil)
	} else {
		s.programs[part].Forward()
	}
}

// canGoAbreast reports whether some shards can be computed abreast: none is empty.
func (l *Loop) canGoAbreast(shards []data.Shard) bool {
	for i := range shards {
		if shards[i].Samples == 0 {
			return false
		}
	}
	return l.stack.abreast > 1
}

// shardsAbreast computes the gradients of some shards at a time, the first of them l.shard, and merges them.
func (l *Loop) shardsAbreast(shards []data.Shard) error {
	if err := l.settle(); err != nil {
		return err
	}
	first := l.shard
	for i := range shards {
		p := l.programs.forStep(shards[i].Samples, l.step, i)
		l.side.programs[i] = p
		l.feed(p, first+i, &shards[i])
		p.OnGroup(nil) // a track is one goroutine's
	}
	l.side.backward = false
	l.config.CPU.RunParts(&l.side, len(shards))
	l.lap(trace.Forward, "forward")
	if err := l.halted(); err != nil {
		return err
	}
	for i := range shards {
		l.fill(l.side.programs[i], &shards[i])
	}
	l.lap(trace.Forward, "")
	l.shard = first + len(shards) - 1
	l.share()
	l.side.backward = true
	l.config.CPU.RunParts(&l.side, len(shards))
	if err := l.halted(); err != nil {
		return err
	}
	for i := range shards {
		l.shard = first + i
		for _, param := range l.variables.Order {
			l.ready(param)
		}
		l.count(l.side.programs[i])
	}
	l.lap(trace.Backward, "backward")
	return nil
}
