package main

import (
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pixels walks the pixels of one row of a pooling, and the channels of each.
type pixels struct {
	*vectors
	dense, spread  []string // slices whose pixels lie side by side, and further apart
	base           map[string]reg.Register
	left, channels reg.GPVirtual // floats left of a dense slice, floats of a pixel
	channel        reg.GPVirtual // bytes from the pixel's first channel
	offset         int
	partial        bool
}

// newPixels loads the slices of a function; constants hold one pixel. The first dense slice says how
// many floats there are.
func (v *vectors) newPixels(dense, spread, constants []string) *pixels {
	p := &pixels{vectors: v, dense: dense, spread: spread,
		base: v.bases(slices.Concat(dense, spread, constants)),
		left: v.GP64(), channels: v.GP64(), channel: v.GP64()}
	v.Load(v.Param(dense[0]).Len(), p.left)
	v.Load(v.Param("channels"), p.channels)
	v.begin(p.channels)
	return p
}

// get loads a vector of the slice at the channels of a pixel.
func (p *pixels) get(slice string, index reg.Register) reg.Register {
	return p.load(p.at(slice, index), p.partial)
}

func (p *pixels) put(slice string, index, x reg.Register) {
	p.store(x, p.at(slice, index), p.partial)
}

func (p *pixels) at(slice string, index reg.Register) operand.Mem {
	return operand.Mem{Base: p.base[slice], Index: index, Scale: 1, Disp: p.offset}
}

// each emits the loops over the pixels and their channels. The pixels of the spread slices are
// step*scale bytes apart; start sets up at each pixel what moves along with channel.
func (p *pixels) each(step reg.Register, scale uint8, start func() []reg.GPVirtual, body func()) {
	p.Label("pixel")
	p.SUBQ(p.channels, p.left)
	p.JL(operand.LabelRef("end"))
	p.XORQ(p.channel, p.channel)
	indexes := append(start(), p.channel)
	n := p.GP64()
	p.MOVQ(p.channels, n)
	p.walk(n, unroll, func(vector int, partial bool) {
		p.offset, p.partial = vector*4*p.lanes(), partial
		body()
	}, indexes...)
	for _, s := range p.dense {
		b := p.base[s]
		p.LEAQ(operand.Mem{Base: b, Index: p.channels, Scale: 4}, b)
	}
	for _, s := range p.spread {
		b := p.base[s]
		p.LEAQ(operand.Mem{Base: b, Index: step, Scale: scale}, b)
	}
	p.JMP(operand.LabelRef("pixel"))
	p.Label("end")
	p.VZEROUPPER()
	p.RET()
}

// pairs are the pixels of a pooling by 2x2, stride 2: those of the slices top and low, and of their
// gradients, are twice as many.
type pairs struct {
	*pixels
	neighbor reg.GPVirtual // channel, for the input pixel to the right
	ahead    reg.GPVirtual // bytes of two rows
}

func (v *vectors) newPairs(dense, spread, constants []string) *pairs {
	p := &pairs{pixels: v.newPixels(dense, spread, constants), neighbor: v.GP64(), ahead: v.GP64()}
	v.Load(v.Param("top").Len(), p.ahead)
	v.SHLQ(operand.Imm(3), p.ahead)
	return p
}

// each emits the loops.
func (p *pairs) each(body func()) {
	start := func() []reg.GPVirtual {
		p.LEAQ(operand.Mem{Base: p.channel, Index: p.channels, Scale: 4}, p.neighbor)
		return []reg.GPVirtual{p.neighbor}
	}
	p.pixels.each(p.channels, 8, start, func() {
		p.fetchNext()
		body()
	})
}

// fetchNext asks for what the next pair of rows will read. Rows come in pairs, so that the processor's
// own prefetching loses the stream at the end of each.
func (p *pairs) fetchNext() {
	for _, row := range []string{"top", "low"} {
		for _, index := range []reg.Register{p.channel, p.neighbor} {
			next := p.GP64()
			p.LEAQ(p.at(row, index), next)
			p.PREFETCHT0(operand.Mem{Base: next, Index: p.ahead, Scale: 1})
		}
	}
}

// constants are the parameters of a normalisation, one per channel.
var constants = []string{"mean", "scale", "shift"}

// normal returns a function that normalises by the constants of the channels at hand.
func (p *pairs) normal() func(x reg.Register) reg.Register {
	mean, scale, shift := p.get("mean", p.channel), p.get("scale", p.channel), p.get("shift", p.channel)
	return func(x reg.Register) reg.Register { return p.add(p.mul(p.sub(x, mean), scale), shift) }
}

// maxPool emits the forward pass, and that of a map normalised and rectified first.
func (v *vectors) maxPool() {
	v.declare("maxPool", "func(y, top, low []float32, channels int)")
	p := v.newPairs([]string{"y"}, []string{"top", "low"}, nil)
	p.each(func() { p.forward(func(x reg.Register) reg.Register { return x }) })

	v.declare("normPool", "func(y, top, low, mean, scale, shift []float32, channels int)")
	n := v.newPairs([]string{"y"}, []string{"top", "low"}, constants)
	n.each(func() {
		normal := n.normal()
		n.forward(func(x reg.Register) reg.Register { return n.rectify(normal(x)) })
	})
}

// forward writes the maximum of the window, each value mapped first.
func (p *pairs) forward(mapped func(x reg.Register) reg.Register) {
	m, _, _ := p.maximum(mapped)
	p.put("y", p.channel, m)
}

// maximum returns the maximum of the window, and the lanes where the right pixel beats the left one in
// the top row and in the low row, and where the low row beats the top row. The order of the
// comparisons does not matter, as what comes later in scan order is always the challenger.
func (p *pairs) maximum(mapped func(x reg.Register) reg.Register) (m reg.Register, right [2]reg.Register,
	low reg.Register) {
	var rows [2]reg.Register
	for i, row := range []string{"top", "low"} {
		left, x := mapped(p.get(row, p.channel)), mapped(p.get(row, p.neighbor))
		right[i] = p.beats(x, left)
		p.replace(left, x, right[i])
		rows[i] = left
	}
	low = p.beats(rows[1], rows[0])
	p.replace(rows[0], rows[1], low)
	return rows[0], right, low
}

// maxPoolBackward emits the backward pass, that of a rectified map, and that of a map normalised and
// rectified first.
func (v *vectors) maxPoolBackward() {
	const slices = "func(dtop, dlow, dy, top, low"
	dense, spread := []string{"dy"}, []string{"top", "low", "dtop", "dlow"}
	same := func(x reg.Register) reg.Register { return x }

	v.declare("maxPoolBackward", slices+" []float32, channels int)")
	p := v.newPairs(dense, spread, nil)
	p.each(func() { p.backward(same, false) })

	v.declare("reluPoolBackward", slices+" []float32, channels int)")
	r := v.newPairs(dense, spread, nil)
	r.each(func() { r.backward(same, true) })

	v.declare("normPoolBackward", slices+", mean, scale, shift []float32, channels int)")
	n := v.newPairs(dense, spread, constants)
	n.each(func() { n.backward(n.normal(), true) })
}

// backward hands the gradient to the maximum; gated, only where that is above 0 or NaN.
func (p *pairs) backward(mapped func(x reg.Register) reg.Register, gated bool) {
	m, right, low := p.maximum(mapped)
	d := p.get("dy", p.channel)
	if gated {
		d = p.gate(d, m)
	}
	below := p.keep(d, low)
	for i, row := range []reg.Register{p.xor(d, below), below} {
		slice := []string{"dtop", "dlow"}[i]
		beside := p.keep(row, right[i])
		p.put(slice, p.neighbor, beside)
		p.put(slice, p.channel, p.xor(row, beside))
	}
}

// window emits the three loops of a pooling by any window, which take one pixel of each window, the
// tap, of all windows of a row. Its pixels in x lie step floats apart.
func (v *vectors) window() {
	row := func(name, signature string, dense, spread []string, body func(p *pixels)) {
		v.declare(name, signature)
		p := v.newPixels(dense, spread, nil)
		step := v.GP64()
		v.Load(v.Param("step"), step)
		p.each(step, 4, func() []reg.GPVirtual { return nil }, func() { body(p) })
	}
	row("windowMax", "func(y, x []float32, channels, step int)", []string{"y"}, []string{"x"},
		func(p *pixels) {
			m, x := p.get("y", p.channel), p.get("x", p.channel)
			p.replace(m, x, p.beats(x, m))
			p.put("y", p.channel, m)
		})
	row("windowPlace", "func(y, place, x []float32, channels, step int, tap float32)",
		[]string{"y", "place"}, []string{"x"}, func(p *pixels) {
			m, best, x := p.get("y", p.channel), p.get("place", p.channel), p.get("x", p.channel)
			wins := p.beats(x, m)
			p.replace(m, x, wins)
			p.replace(best, p.broadcast("tap"), wins)
			p.put("y", p.channel, m)
			p.put("place", p.channel, best)
		})
	row("windowGive", "func(dx, dy, place []float32, channels, step int, tap float32)",
		[]string{"dy", "place"}, []string{"dx"}, func(p *pixels) {
			here := p.compare(equal, p.get("place", p.channel), p.broadcast("tap"))
			d := p.keep(p.get("dy", p.channel), here)
			p.put("dx", p.channel, p.add(p.get("dx", p.channel), d))
		})
}
