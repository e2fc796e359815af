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

// TwoResults returns x+x and a copy of x, both results of one op that can repeat the first alone.
func TwoResults(x *Node) (sum, same *Node) {
	out := x.graph.apply(twoResults{}, x)
	return out[0], out[1]
}

type twoResults struct{}

func (twoResults) name() string { return "two-results" }

func (twoResults) infer(in []Type) ([]Type, error) { return []Type{in[0], in[0]}, nil }

func (twoResults) cost(in, out []Type) Cost { return cost(0, in, out) }

func (twoResults) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) {
		h.rows.Add(a.Out[0].F, a.In[0].F, a.In[0].F)
		copy(a.Out[1].F, a.In[0].F)
	}}
}

func (twoResults) gradient(b *Graph, _ *call, dy []*Node) []*Node {
	return []*Node{b.emit(AddOp{}, b.emit(AddOp{}, dy[0], dy[0]), dy[1])}
}

func (twoResults) repeated() Op { return sumAlone{} }

// sumAlone is the first result of twoResults.
type sumAlone struct{}

func (sumAlone) cost(in, out []Type) Cost { return cost(0, in, out) }

func (sumAlone) name() string { return "two-results, first alone" }

func (sumAlone) infer(in []Type) ([]Type, error) { return in[:1], nil }

func (sumAlone) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.Add(a.Out[0].F, a.In[0].F, a.In[0].F) }}
}

// Peak returns the most floats that the program's plan has alive at one call.
func (p *Program) Peak() int {
	most, _ := peak(p.plan.blocks)
	return most
}

// Kept returns how many weights are laid out as kernels read them.
func (k *Constants) Kept() int { return len(k.kept) }
