package product

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// splitGather is one direction of a convolution by products of parts. Rows of the destination are gathered
// 32 at a time through a table of offsets, as type gather does:
//
//	dst[p, k] = bias[k] + sum over taps t, channels d of src[from(p,t), d] * w[t, d, k]
//
// Order of the sum: the taps ascend, within a tap the channels, 32 at a time. These steps are cut into chunks
// of gatherChunk, the last of which may be shorter. Each is summed from zero and added to dst, the first to
// the bias.
type splitGather struct {
	cpu          *CPU
	ops          *asm.SplitOps
	shape        gatherShape
	images       int
	phases       []splitPhase
	steps        int // of all phases
	batch        int // rows whose tiles are multiplied by a panel at a time
	parts        []*splitPart
	alone        []rowRun // of dst, by thread
	zero, noBias []float32

	// The call in progress.
	dst, src, w, bias []float32
	flags             int
	right             []uint32  // the weights, [panel][step]
	then              finishing // of rows of dst, if any
}

// splitPhase is the pixels of dst that meet the same taps.
type splitPhase struct {
	pixels []int
	taps   []int
	from   []int32 // [pixel][tap] float offset in an image of the source, -1 for padding
	first  int     // step among those of all phases
	steps  int
	chunk  int // steps of a chunk
}

// newSplitGather plans the gather of a mapping.
func newSplitGather(c *CPU, images int, s gatherShape, m mapping) *splitGather {
	g := &splitGather{cpu: c, ops: &c.ops.Split, shape: s, images: images, parts: newSplitParts(c),
		batch: gatherRows(c), alone: make([]rowRun, c.Threads()), zero: make([]float32, s.depth),
		noBias: make([]float32, s.width)}
	for _, pixels := range m.pixels {
		p := splitPhase{pixels: pixels, first: g.steps}
		for t := range s.taps {
			for _, pixel := range pixels {
				if m.from(pixel, t) >= 0 {
					p.taps = append(p.taps, t)
					break
				}
			}
		}
		for _, pixel := range pixels {
			for _, t := range p.taps {
				p.from = append(p.from, int32(m.from(pixel, t)))
			}
		}
		p.steps = len(p.taps) * s.depth / asm.SplitSide
		p.chunk = gatherChunk(c, p.steps)
		g.steps += p.steps
		g.phases = append(g.phases, p)
	}
	return g
}

// panels returns the number of panels, each of 32 columns.
func (g *splitGather) panels() int { return g.shape.width / asm.SplitSide }

// rows returns the rows of the longest phase.
func (g *splitGather) rows() (most int) {
	for i := range g.phases {
		most = max(most, g.images*len(g.phases[i].pixels))
	}
	return most
}

// leftWords returns the words of a batch's tiles.
func leftWords(o *asm.SplitOps) int { return splitBatch * splitSteps * o.StepWords() }

// sumFloats is the size of a batch's sums.
const sumFloats = splitBatch * asm.SplitSide * asm.SplitSide

// scratchFloats returns the floats that panels, tiles and sums take.
func (g *splitGather) scratchFloats() int {
	return g.panels()*g.steps*g.ops.StepWords() + len(g.parts)*(leftWords(g.ops)+sumFloats)
}

func (g *splitGather) resize(images int) { g.images = images }

func (g *splitGather) run(dst, src, w, bias []float32, flags int, then finishing, scratch []float32) {
	g.dst, g.src, g.w, g.bias, g.flags, g.then = dst, src, w, bias, flags, then
	if bias == nil {
		g.bias = g.noBias
	}
	g.right = words(take(&scratch, g.panels()*g.steps*g.ops.StepWords()))
	for _, p := range g.parts {
		p.left, p.sums = words(take(&scratch, leftWords(g.ops))), take(&scratch, sumFloats)
	}
	g.cpu.Run((*splitPanels)(g))
	g.then.alone = g.alone
	clear(g.alone)
	g.cpu.RunParts((*splitCompute)(g), g.cpu.PartsOf(g.rows(), g.batch))
	g.cpu.finish(g.then)
	g.dst, g.src, g.w, g.bias, g.right, g.then = nil, nil, nil, nil, nil, finishing{}
}

// splitPanels packs the weights, [panel][step].
type splitPanels splitGather

// Do packs some taps.
func (t *splitPanels) Do(thread, part, parts int) {
	g, p := (*splitGather)(t), t.parts[thread]
	deep := g.shape.depth / asm.SplitSide
	for i := range g.phases {
		phase := &g.phases[i]
		for j, tap := range phase.taps {
			first := phase.first + j*deep
			if g.shape.flip {
				lo, hi := compute.Span(2*g.panels(), part, parts)
				g.turnTap(p, g.shape.taps-1-tap, first, lo, hi)
			} else {
				lo, hi := compute.Span(deep, part, parts)
				g.packTap(p, tap, first, lo, hi)
			}
		}
	}
}

// packTap packs steps [lo, hi) of a tap, the first of which is step first.
func (g *splitGather) packTap(p *splitPart, tap, first, lo, hi int) {
	s, step := &g.shape, g.ops.StepWords()
	listRows(p.table[:], 0, asm.SplitSide, s.width)
	p.pack = asm.SplitArgs{Table: p.table[:], Zero: g.noBias, N: g.panels(), DstStep: g.steps * step}
	for i := lo; i < hi; i++ {
		p.pack.Src, p.pack.Dst = g.w[(tap*s.depth+i*asm.SplitSide)*s.width:], g.right[(first+i)*step:]
		g.ops.Pairs(&p.pack)
	}
}

// turnTap packs halves [lo, hi) of panels of a tap of weights that are [width][depth].
func (g *splitGather) turnTap(p *splitPart, tap, first, lo, hi int) {
	s, step := &g.shape, g.ops.StepWords()
	listTurned(p.table[:], 0, asm.TileSide, s.depth)
	p.pack = asm.SplitArgs{Table: p.table[:], Zero: g.zero, N: s.depth / asm.SplitSide, DstStep: step,
		Work: p.work}
	for i := lo; i < hi; i++ {
		p.pack.Src = g.w[(tap*s.width+i*asm.TileSide)*s.depth:]
		p.pack.Dst = g.right[(i/2*g.steps+first)*step+i%2*asm.TileWords:]
		g.ops.Flip(&p.pack)
	}
}

// splitCompute multiplies.
type splitCompute splitGather

// Do computes some blocks of rows of every phase, and finishes the rows that it alone computes.
func (t *splitCompute) Do(thread, part, parts int) {
	g, p := (*splitGather)(t), t.parts[thread]
	owns, isFirst := g.cpu.Owns(thread, part, parts)
	s := &g.shape
	for i := range g.phases {
		phase := &g.phases[i]
		rows := g.images * len(phase.pixels)
		lo, end := compute.Span((rows+asm.SplitSide-1)/asm.SplitSide, part, parts)
		lo, end = lo*asm.SplitSide, min(end*asm.SplitSide, rows)
		if isFirst {
			g.alone[thread] = startsAt(lo)
		}
		for first := lo; first < end; first += g.batch {
			n := min(g.batch, end-first)
			p.reads = wanted{}
			if owns && g.then.then != nil {
				p.reads = g.then.reads.piece(first, first+n, s.width)
			}
			g.pass(p, phase, first, n, end)
			if owns && g.then.then != nil {
				g.then.advance(thread, &g.alone[thread], first, first+n)
			}
		}
	}
}

// pass computes n rows of a phase from row first on. The thread's rows end at end.
func (g *splitGather) pass(p *splitPart, phase *splitPhase, first, n, end int) {
	s, step := &g.shape, g.ops.StepWords()
	for i := range n {
		image, pixel := (first+i)/len(phase.pixels), (first+i)%len(phase.pixels)
		p.out[i] = int32(image*s.dstImage + phase.pixels[pixel]*s.width)
	}
	steps := phase.steps
	for lo := 0; lo == 0 || lo < steps; lo += phase.chunk {
		hi := min(lo+phase.chunk, steps)
		for row := 0; row < n; row += asm.SplitSide {
			g.packRows(p, phase, first+row, lo, hi, p.left[row/asm.SplitSide*(hi-lo)*step:])
		}
		bias, flags := g.bias, g.flags
		if lo > 0 {
			flags |= asm.TileAdd
			bias = g.noBias
		}
		if hi < steps {
			flags &^= asm.TileReLU
		}
		g.findNext(p, phase, first, n, end, hi, steps)
		p.read.inOrder(hi - lo)
		for j := range g.panels() {
			panels := g.right[min((j*g.steps+phase.first+lo)*step, len(g.right)):]
			dst, bias := g.dst[j*asm.SplitSide:], bias[j*asm.SplitSide:]
			next := p.ask(j == g.panels()-1, hi == steps, n*(hi-lo))
			p.multiply(g.ops, panels, g.steps*step, hi-lo, n, dst, bias, flags, next)
		}
	}
}

// packRows packs steps [lo, hi) of 32 rows of a phase from row first on.
func (g *splitGather) packRows(p *splitPart, phase *splitPhase, first, lo, hi int, dst []uint32) {
	step, deep := g.ops.StepWords(), g.shape.depth/asm.SplitSide
	p.pack = asm.SplitArgs{Table: p.table[:], Zero: g.zero, DstStep: step}
	for at := lo; at < hi; at += p.pack.N {
		tap, from := at/deep, at%deep
		g.offsets(p.table[:], phase, first, tap)
		p.pack.N = min(deep-from, hi-at)
		p.pack.Src, p.pack.Dst = g.src[from*asm.SplitSide:], dst[(at-lo)*step:]
		g.ops.Rows(&p.pack)
	}
}

// offsets fills list with where the sources of rows of a phase from row first on lie under a tap, or -1.
func (g *splitGather) offsets(list []int32, phase *splitPhase, first, tap int) {
	image, pixel := first/len(phase.pixels), first%len(phase.pixels)
	for i := range list {
		list[i] = -1
		if from := phase.from[pixel*len(phase.taps)+tap]; image < g.images && from >= 0 {
			list[i] = int32(image*g.shape.srcImage) + from
		}
		if pixel++; pixel == len(phase.pixels) {
			image, pixel = image+1, 0
		}
	}
}

// findNext finds what is packed after n rows from row first on have been multiplied up to step at: this step
// of them, or the first of the rows that follow, if they are before row end.
func (g *splitGather) findNext(p *splitPart, phase *splitPhase, first, n, end, at, steps int) {
	p.next.from = nil
	if at == steps {
		first, at = first+n, 0
	}
	if steps == 0 || first == end {
		return
	}
	deep := g.shape.depth / asm.SplitSide
	g.offsets(p.next.rows[:g.batch], phase, first, at/deep)
	p.next.from, p.next.stride = g.src[at%deep*asm.SplitSide:], asm.SplitSide
}
