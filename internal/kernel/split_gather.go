package kernel

// splitGather is one direction of a convolution by products of parts. Rows of the destination are gathered
// 32 at a time through a table of offsets, as type gather does:
//
//	dst[p, k] = bias[k] + sum over taps t, channels d of src[from(p,t), d] * w[t, d, k]
//
// Order of the sum: the taps ascend, within a tap the channels, 32 at a time. Each run of splitSteps such
// steps is summed from zero and added to dst, the first to the bias.
type splitGather struct {
	cpu          *CPU
	ops          *splitOps
	shape        gatherShape
	images       int
	phases       []splitPhase
	steps        int // of all phases
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
}

// newSplitGather plans the gather of a mapping.
func newSplitGather(c *CPU, images int, s gatherShape, m mapping) *splitGather {
	g := &splitGather{cpu: c, ops: &c.ops.split, shape: s, images: images, parts: newSplitParts(c),
		alone: make([]rowRun, c.Threads()), zero: make([]float32, s.depth), noBias: make([]float32, s.width)}
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
		g.steps += len(p.taps) * s.depth / splitSide
		g.phases = append(g.phases, p)
	}
	return g
}

// panels returns the number of panels, each of 32 columns.
func (g *splitGather) panels() int { return g.shape.width / splitSide }

// rows returns the rows of the longest phase.
func (g *splitGather) rows() (most int) {
	for i := range g.phases {
		most = max(most, g.images*len(g.phases[i].pixels))
	}
	return most
}

// leftWords returns the words of a batch's tiles.
func (o *splitOps) leftWords() int { return splitBatch * splitSteps * o.stepWords() }

// sumFloats is the size of a batch's sums.
const sumFloats = splitBatch * splitSide * splitSide

// scratchFloats returns the floats that panels, tiles and sums take.
func (g *splitGather) scratchFloats() int {
	return g.panels()*g.steps*g.ops.stepWords() + len(g.parts)*(g.ops.leftWords()+sumFloats)
}

func (g *splitGather) resize(images int) { g.images = images }

func (g *splitGather) run(dst, src, w, bias []float32, flags int, then finishing, scratch []float32) {
	g.dst, g.src, g.w, g.bias, g.flags, g.then = dst, src, w, bias, flags, then
	if bias == nil {
		g.bias = g.noBias
	}
	g.right = words(take(&scratch, g.panels()*g.steps*g.ops.stepWords()))
	for _, p := range g.parts {
		p.left, p.sums = words(take(&scratch, g.ops.leftWords())), take(&scratch, sumFloats)
	}
	g.cpu.Run((*splitPanels)(g))
	g.then.alone = g.alone
	clear(g.alone)
	g.cpu.RunParts((*splitCompute)(g), g.cpu.partsOf(g.rows(), splitBatch*splitSide))
	g.cpu.finish(g.then)
	g.dst, g.src, g.w, g.bias, g.right, g.then = nil, nil, nil, nil, nil, finishing{}
}

// splitPanels packs the weights, [panel][step].
type splitPanels splitGather

// Do packs some taps.
func (t *splitPanels) Do(thread, part, parts int) {
	g, p := (*splitGather)(t), t.parts[thread]
	deep := g.shape.depth / splitSide
	for i := range g.phases {
		phase := &g.phases[i]
		for j, tap := range phase.taps {
			first := phase.first + j*deep
			if g.shape.flip {
				lo, hi := span(2*g.panels(), part, parts)
				g.turnTap(p, g.shape.taps-1-tap, first, lo, hi)
			} else {
				lo, hi := span(deep, part, parts)
				g.packTap(p, tap, first, lo, hi)
			}
		}
	}
}

// packTap packs steps [lo, hi) of a tap, the first of which is step first.
func (g *splitGather) packTap(p *splitPart, tap, first, lo, hi int) {
	s, step := &g.shape, g.ops.stepWords()
	p.stride(s.width)
	p.pack = splitArgs{table: p.table[:], zero: g.noBias, n: g.panels(), dstStep: g.steps * step}
	for i := lo; i < hi; i++ {
		p.pack.src, p.pack.dst = g.w[(tap*s.depth+i*splitSide)*s.width:], g.right[(first+i)*step:]
		g.ops.pairs(&p.pack)
	}
}

// turnTap packs halves [lo, hi) of panels of a tap of weights that are [width][depth].
func (g *splitGather) turnTap(p *splitPart, tap, first, lo, hi int) {
	s, step := &g.shape, g.ops.stepWords()
	p.turnStride(s.depth)
	p.pack = splitArgs{table: p.table[:], zero: g.zero, n: s.depth / splitSide, dstStep: step, work: p.work}
	for i := lo; i < hi; i++ {
		p.pack.src = g.w[(tap*s.width+i*tileSide)*s.depth:]
		p.pack.dst = g.right[(i/2*g.steps+first)*step+i%2*tileWords:]
		g.ops.turn(&p.pack)
	}
}

// splitCompute multiplies.
type splitCompute splitGather

// Do computes some blocks of rows of every phase, and finishes the rows that it alone computes.
func (t *splitCompute) Do(thread, part, parts int) {
	g, p := (*splitGather)(t), t.parts[thread]
	owns, isFirst := g.cpu.owns(thread, part, parts)
	for i := range g.phases {
		phase := &g.phases[i]
		rows := g.images * len(phase.pixels)
		lo, end := span((rows+splitSide-1)/splitSide, part, parts)
		lo, end = lo*splitSide, min(end*splitSide, rows)
		if isFirst {
			g.alone[thread] = startsAt(lo)
		}
		for first := lo; first < end; first += splitBatch * splitSide {
			n := min(splitBatch*splitSide, end-first)
			g.pass(p, phase, first, n)
			if owns && g.then.then != nil {
				g.then.advance(thread, &g.alone[thread], first, first+n)
			}
		}
	}
}

// pass computes n rows of a phase from row first on.
func (g *splitGather) pass(p *splitPart, phase *splitPhase, first, n int) {
	s, step := &g.shape, g.ops.stepWords()
	for i := range n {
		image, pixel := (first+i)/len(phase.pixels), (first+i)%len(phase.pixels)
		p.out[i] = int32(image*s.dstImage + phase.pixels[pixel]*s.width)
	}
	steps := len(phase.taps) * s.depth / splitSide
	for lo := 0; lo == 0 || lo < steps; lo += splitSteps {
		hi := min(lo+splitSteps, steps)
		for row := 0; row < n; row += splitSide {
			g.packRows(p, phase, first+row, lo, hi, p.left[row/splitSide*(hi-lo)*step:])
		}
		bias, flags := g.bias, g.flags
		if lo > 0 {
			flags |= tileAdd
		}
		if flags&tileAdd != 0 {
			bias = g.noBias
		}
		if hi < steps {
			flags &^= tileReLU
		}
		for j := range g.panels() {
			panel := g.right[min((j*g.steps+phase.first+lo)*step, len(g.right)):]
			p.multiply(g.ops, panel, hi-lo, n, g.dst[j*splitSide:], bias[j*splitSide:], flags)
		}
	}
}

// packRows packs steps [lo, hi) of 32 rows of a phase from row first on.
func (g *splitGather) packRows(p *splitPart, phase *splitPhase, first, lo, hi int, dst []uint32) {
	step, deep := g.ops.stepWords(), g.shape.depth/splitSide
	p.pack = splitArgs{table: p.table[:], zero: g.zero, dstStep: step}
	for at := lo; at < hi; at += p.pack.n {
		tap, from := at/deep, at%deep
		for i := range p.table {
			p.table[i] = g.offset(phase, first+i, tap)
		}
		p.pack.n = min(deep-from, hi-at)
		p.pack.src, p.pack.dst = g.src[from*splitSide:], dst[(at-lo)*step:]
		g.ops.rows(&p.pack)
	}
}

// offset returns where the source of a row of a phase under its tap lies, or -1.
func (g *splitGather) offset(phase *splitPhase, row, tap int) int32 {
	image, pixel := row/len(phase.pixels), row%len(phase.pixels)
	from := phase.from[pixel*len(phase.taps)+tap]
	if image >= g.images || from < 0 {
		return -1
	}
	return int32(image*g.shape.srcImage) + from
}
