package graph

// CompileUnfused is Compile without any pass and without reuse of memory.
func CompileUnfused(g *Graph, ex Executor, o Options) (*Program, error) {
	return compile(g, ex, o, nil, apart)
}

// CompileApart is Compile without reuse of memory.
func CompileApart(g *Graph, ex Executor, o Options) (*Program, error) {
	return compile(g, ex, o, passes, apart)
}

// apart lays blocks out one behind the other.
func apart(blocks []block) plan {
	size := 0
	for i := range blocks {
		blocks[i].offset = size
		size += alignUp(blocks[i].size)
	}
	return plan{blocks: blocks, size: size}
}

// Block is a block of a memory plan.
type Block struct{ Size, First, Last, Offset int }

// Arrange plans blocks.
func Arrange(blocks []Block) (placed []Block, size int) {
	in := make([]block, len(blocks))
	for i, b := range blocks {
		in[i] = block{size: b.Size, first: b.First, last: b.Last}
	}
	p := arrange(in)
	return exportBlocks(p), p.size
}

// Blocks returns the program's memory plan.
func (p *Program) Blocks() []Block { return exportBlocks(p.plan) }

func exportBlocks(p plan) []Block {
	out := make([]Block, len(p.blocks))
	for i, b := range p.blocks {
		out[i] = Block{b.size, b.first, b.last, b.offset}
	}
	return out
}

// Poison fills the program's arena with value.
func (p *Program) Poison(value float32) {
	for i := range p.arena.memory.Floats {
		p.arena.memory.Floats[i] = value
	}
}
