package main

import (
	"math"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowLanes is the number of partial sums of a row, on every ISA.
const rowLanes = 16

const (
	rowConstants = "rowConstants"
	rowMasks     = "rowMasks"    // 16 lanes on, 16 lanes off
	rowSequence  = "rowSequence" // 0 to 3, 64 bits each
)

// row writes the inner loops of transformers; package asm's RowOps says what each computes.
func row(a *assembler) {
	c := &literals{}
	for _, wide := range []bool{false, true} {
		v := &vectors{assembler: a, wide: wide}
		v.table()
		r := &rows{v, c}
		for _, s := range r.streams() {
			v.stream(s)
		}
		for _, s := range r.reductions() {
			r.reduce(s)
		}
		r.drop()
	}
	c.write(a)
	a.StaticGlobal(rowMasks)
	a.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 2 * rowLanes {
		a.AppendDatum(operand.I32(-int32(1 - i/rowLanes)))
	}
	a.StaticGlobal(rowSequence)
	a.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 4 {
		a.AppendDatum(operand.U64(i))
	}
}

// literals are vectors of 32 bytes with the same 64 bits in every place, which instructions read from memory.
// The linker aligns data to 32 bytes only, so AVX-512 reads one float and repeats it: a vector of 64 bytes would
// lie in two cache lines in half of all builds.
type literals struct{ bits []uint64 }

// place returns where the vector of b is.
func (c *literals) place(b uint64) operand.Mem {
	at := len(c.bits)
	for i, known := range c.bits {
		if known == b {
			at = i
		}
	}
	if at == len(c.bits) {
		c.bits = append(c.bits, b)
	}
	return operand.NewDataAddr(operand.Symbol{Name: rowConstants, Static: true}, 32*at)
}

// float returns where the vector of x is.
func (c *literals) float(x float64) operand.Mem {
	b := uint64(math.Float32bits(float32(x)))
	return c.place(b<<32 | b)
}

func (c *literals) write(a *assembler) {
	a.StaticGlobal(rowConstants)
	a.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, b := range c.bits {
		for range 4 {
			a.AppendDatum(operand.U64(b))
		}
	}
}

// rows emits loops over rows in one width.
type rows struct {
	*vectors
	constants *literals
}

// times returns a*x for a constant x.
func (r *rows) times(a reg.Register, x float64) reg.Register {
	y := r.vector()
	if r.wide {
		r.VMULPS_BCST(r.constants.float(x), a, y)
	} else {
		r.VMULPS(r.constants.float(x), a, y)
	}
	return y
}

// plus returns a+x for a constant x.
func (r *rows) plus(a reg.Register, x float64) reg.Register {
	y := r.vector()
	if r.wide {
		r.VADDPS_BCST(r.constants.float(x), a, y)
	} else {
		r.VADDPS(r.constants.float(x), a, y)
	}
	return y
}

// constant returns a register with x in every lane.
func (r *rows) constant(x float64) reg.Register {
	y := r.vector()
	r.VBROADCASTSS(r.constants.float(x), y)
	return y
}

func (r *rows) div(a, b reg.Register) reg.Register {
	x := r.vector()
	r.VDIVPS(b, a, x)
	return x
}

// horner returns the polynomial in x whose coefficients come highest first.
func (r *rows) horner(x reg.Register, coefficients ...float64) reg.Register {
	p := r.plus(r.times(x, coefficients[0]), coefficients[1])
	for _, c := range coefficients[2:] {
		p = r.plus(r.mul(p, x), c)
	}
	return p
}

// exp is exp32.
func (r *rows) exp(x reg.Register) reg.Register {
	clamped := r.vector()
	r.VMAXPS(x, r.constant(-87), clamped)
	x = clamped
	t := r.plus(r.times(x, 1.44269504088896341), 12582912)
	k := r.plus(t, -12582912)
	d := r.sub(r.sub(x, r.times(k, 0.693359375)), r.times(k, -2.12194440e-4))
	p := r.horner(d, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
		1.6666665459e-1, 5.0000001201e-1)
	y := r.plus(r.add(r.mul(r.mul(p, d), d), d), 1)
	power := r.vector()
	r.VPSLLD(operand.Imm(23), t, power)
	r.VPADDD(power, y, y)
	return y
}

// scaled returns exp((x-top)*scale).
func (r *rows) scaled(f *flow) reg.Register {
	return r.exp(r.mul(r.sub(f.get("x"), f.value["top"]), f.value["scale"]))
}

// normal returns Phi(x) and exp(-x^2/2).
func (r *rows) normal(x reg.Register) (phi, e reg.Register) {
	z := r.vector()
	if r.wide {
		r.VPANDD_BCST(r.constants.place(0x7fffffff7fffffff), x, z)
	} else {
		r.VPAND(r.constants.place(0x7fffffff7fffffff), x, z)
	}
	t := r.div(r.constant(1), r.plus(r.times(z, 0.70710678118654752440*0.3275911), 1))
	e = r.exp(r.times(r.mul(x, x), -0.5))
	p := r.horner(t, 1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
	half := r.times(r.mul(r.mul(p, t), e), 0.5)
	phi = r.sub(r.constant(1), half)
	r.replace(phi, half, r.compare(greater, r.zero, x))
	return phi, e
}

// slope returns GELU's derivative, Phi(x) + x phi(x), from Phi(x) and exp(-x^2/2).
func (r *rows) slope(x, phi, e reg.Register) reg.Register {
	return r.add(phi, r.times(r.mul(x, e), 0.39894228040143267794))
}

// centred returns (x-mean)*inverse.
func (r *rows) centred(f *flow) reg.Register {
	return r.mul(r.sub(f.get("x"), f.value["mean"]), f.value["inverse"])
}

// layerNormGrad writes dx and adds to the gradients of gamma and beta.
func (r *rows) layerNormGrad(f *flow) {
	d, xh := f.get("dy"), r.centred(f)
	f.accumulate("dgamma", r.mul(d, xh))
	f.accumulate("dbeta", d)
	g := r.sub(r.mul(d, f.get("gamma")), f.value["s"])
	f.put("dx", r.mul(r.sub(g, r.mul(xh, f.value["q"])), f.value["inverse"]))
}

// adamW updates both moments and the weights.
func (r *rows) adamW(f *flow) {
	g := r.mul(f.get("grad"), f.value["gradScale"])
	m := f.get("m")
	m = r.add(m, r.mul(r.sub(g, m), f.value["first"]))
	f.put("m", m)
	v := r.add(r.mul(f.get("v"), f.value["second"]), r.mul(r.mul(g, g), f.value["rest"]))
	f.put("v", v)
	root := r.vector()
	r.VSQRTPS(v, root)
	d := r.add(r.div(root, f.value["root"]), f.value["eps"])
	step := r.mul(r.div(m, d), f.value["rate"])
	f.put("w", r.sub(r.mul(f.get("w"), f.value["decay"]), step))
}

// chains are the streams of long chains of operations, which gain from two vectors abreast.
var chains = []string{"gelu", "geluSlope", "geluBackward", "exps"}

// streams lists the loops without a sum.
func (r *rows) streams() []stream {
	return []stream{
		{"mul", "dst, a, b", "", func(f *flow) { f.put("dst", f.mul(f.get("a"), f.get("b"))) }},
		{"mulAdd", "dst, x, a, b", "", func(f *flow) {
			f.put("dst", f.add(f.get("x"), f.mul(f.get("a"), f.get("b"))))
		}},
		{"addScaled", "dst, a, b", "factor", func(f *flow) {
			f.put("dst", f.add(f.get("a"), f.mul(f.get("b"), f.value["factor"])))
		}},
		{"lerp", "dst, a, b", "factor", func(f *flow) {
			a := f.get("a")
			f.put("dst", f.add(a, f.mul(f.sub(f.get("b"), a), f.value["factor"])))
		}},
		{"gelu", "y, x", "", func(f *flow) {
			x := f.get("x")
			phi, _ := r.normal(x)
			f.put("y", r.mul(x, phi))
		}},
		{"geluSlope", "y, slope, x", "", func(f *flow) {
			x := f.get("x")
			phi, e := r.normal(x)
			f.put("y", r.mul(x, phi))
			f.put("slope", r.slope(x, phi, e))
		}},
		{"geluBackward", "dx, dy, x", "", func(f *flow) {
			x := f.get("x")
			phi, e := r.normal(x)
			f.put("dx", r.mul(f.get("dy"), r.slope(x, phi, e)))
		}},
		{"exps", "p, x", "scale, top, factor", func(f *flow) {
			f.put("p", r.mul(r.scaled(f), f.value["factor"]))
		}},
		{"softmaxGrad", "ds, p, dp", "sum, scale", func(f *flow) {
			d := r.mul(r.sub(f.get("dp"), f.value["sum"]), f.get("p"))
			f.put("ds", r.mul(d, f.value["scale"]))
		}},
		{"layerNorm", "y, x, gamma, beta", "mean, inverse", func(f *flow) {
			f.put("y", r.add(r.mul(r.centred(f), f.get("gamma")), f.get("beta")))
		}},
		{"layerNormGrad", "dx, dgamma, dbeta, dy, x, gamma", "mean, inverse, s, q", r.layerNormGrad},
		{"adamW", "w, m, v, grad", "gradScale, decay, first, second, rest, rate, root, eps", r.adamW},
	}
}

// reduction is a loop that returns sums, or one maximum, over rowLanes lanes.
type reduction struct {
	name, slices, scalars string
	results               int
	isTop                 bool
	terms                 func(f *flow) []reg.Register
}

// reductions lists the loops with a sum.
func (r *rows) reductions() []reduction {
	return []reduction{
		{"sum", "x", "", 1, false, func(f *flow) []reg.Register {
			return []reg.Register{f.get("x")}
		}},
		{"top", "x", "", 1, true, func(f *flow) []reg.Register {
			return []reg.Register{f.get("x")}
		}},
		{"dotRow", "a, b", "", 1, false, func(f *flow) []reg.Register {
			return []reg.Register{r.mul(f.get("a"), f.get("b"))}
		}},
		{"squares", "x", "mean", 1, false, func(f *flow) []reg.Register {
			d := r.sub(f.get("x"), f.value["mean"])
			return []reg.Register{r.mul(d, d)}
		}},
		{"expSum", "p, x", "scale, top", 1, false, func(f *flow) []reg.Register {
			e := r.scaled(f)
			f.put("p", e)
			return []reg.Register{e}
		}},
		{"layerNormSums", "dy, x, gamma", "mean, inverse", 2, false, func(f *flow) []reg.Register {
			g := r.mul(f.get("dy"), f.get("gamma"))
			return []reg.Register{g, r.mul(g, r.centred(f))}
		}},
	}
}

// reduce emits the function of s: whole turns of rowLanes floats, then a partial one. A turn is one
// vector, or two halves with sums of their own.
func (r *rows) reduce(s reduction) {
	signature := "func(" + s.slices + " []float32"
	if s.scalars != "" {
		signature += ", " + s.scalars + " float32"
	}
	signature += ") (r0" + strings.Repeat(", r1", s.results-1) + " float32)"
	r.declare(s.name, signature)
	names := strings.Split(s.slices, ", ")
	f := &flow{vectors: r.vectors, base: r.bases(names), value: map[string]reg.Register{}}
	n := r.GP64()
	r.Load(r.Param(names[0]).Len(), n)
	halves := rowLanes / r.lanes()
	masks := r.beginRow(n, halves)
	if s.scalars != "" {
		for _, name := range strings.Split(s.scalars, ", ") {
			f.value[name] = r.broadcast(name)
		}
	}
	acc := r.accumulators(s, halves)
	index := r.GP64()
	f.index = index
	r.XORQ(index, index)
	turn := func(partial bool) {
		r.abreast(halves, func(h int) {
			f.offset, f.partial, r.tail = h*4*r.lanes(), partial, masks[h]
			for i, term := range s.terms(f) {
				r.take(acc[h][i], term, partial, s.isTop)
			}
		})
	}
	r.SUBQ(operand.Imm(rowLanes), n)
	r.JL(operand.LabelRef("rest"))
	r.Label("turn")
	turn(false)
	r.ADDQ(operand.Imm(4*rowLanes), index)
	r.SUBQ(operand.Imm(rowLanes), n)
	r.JGE(operand.LabelRef("turn"))
	r.Label("rest")
	r.ADDQ(operand.Imm(rowLanes), n)
	r.JZ(operand.LabelRef("done"))
	turn(true)
	r.Label("done")
	for i := range s.results {
		parts := make([]reg.Register, halves)
		for h := range parts {
			parts[h] = acc[h][i]
		}
		r.Store(r.total(parts, s.isTop), r.ReturnIndex(i))
	}
	r.VZEROUPPER()
	r.RET()
}

// beginRow sets up zero and returns the masks of the partial turn's halves.
func (r *rows) beginRow(n reg.GPVirtual, halves int) []reg.Register {
	if r.wide {
		r.begin(n)
		return []reg.Register{r.tail}
	}
	r.zero = r.vector()
	r.VXORPS(r.zero, r.zero, r.zero)
	rest, table := r.GP64(), r.GP64()
	r.MOVQ(n, rest)
	r.ANDQ(operand.Imm(rowLanes-1), rest)
	r.LEAQ(operand.NewDataAddr(operand.Symbol{Name: rowMasks, Static: true}, 0), table)
	r.NEGQ(rest)
	var masks []reg.Register
	for h := range halves {
		m := r.vector()
		at := 4 * (rowLanes + h*r.lanes())
		r.VMOVDQU(operand.Mem{Base: table, Index: rest, Scale: 4, Disp: at}, m)
		masks = append(masks, m)
	}
	return masks
}

// accumulators returns the starting sums by half and result.
func (r *rows) accumulators(s reduction, halves int) [][]reg.Register {
	acc := make([][]reg.Register, halves)
	for h := range acc {
		for range s.results {
			start := 0.0
			if s.isTop {
				start = math.Inf(-1)
			}
			acc[h] = append(acc[h], r.constant(start))
		}
	}
	return acc
}

// take adds a term to a sum, or replaces a maximum; of a partial vector only the lanes of the tail.
func (r *rows) take(acc, term reg.Register, partial, isTop bool) {
	switch {
	case isTop && partial:
		x := r.vector()
		r.VMAXPS(term, acc, x)
		r.replace(acc, x, r.tail)
	case isTop:
		r.VMAXPS(term, acc, acc)
	case partial:
		r.VADDPS(r.keep(term, r.tail), acc, acc)
	default:
		r.VADDPS(term, acc, acc)
	}
}

// total joins 16 lanes, halving them until one is left.
func (r *rows) total(parts []reg.Register, isTop bool) reg.Register {
	join := func(high, low, to operand.Op) {
		if isTop {
			r.VMAXPS(high, low, to)
		} else {
			r.VADDPS(high, low, to)
		}
	}
	eight := r.YMM()
	if r.wide {
		high := r.YMM() // of eight lanes
		r.VEXTRACTF64X4(operand.Imm(1), parts[0], high)
		join(high, parts[0].(reg.VecVirtual).AsY(), eight)
	} else {
		join(parts[1], parts[0], eight)
	}
	four, high := r.XMM(), r.XMM()
	r.VEXTRACTF128(operand.Imm(1), eight, high)
	join(high, eight.AsX(), four)
	two := r.XMM()
	r.VMOVHLPS(four, four, two)
	join(two, four, four)
	one := r.XMM()
	r.VMOVSHDUP(four, one)
	join(one, four, four)
	return four
}

// drop writes the factors of dropout: four words are hashed at a time, 16 bits for each element.
func (r *rows) drop() {
	r.declare("drop", "func(dst []float32, key uint64, limit uint32, scale float32)")
	dst := r.GP64()
	r.Load(r.Param("dst").Base(), dst)
	n := r.GP64()
	r.Load(r.Param("dst").Len(), n)
	masks := r.beginRow(n, rowLanes/r.lanes())
	scale := r.broadcast("scale")
	state, limit := r.YMM(), r.YMM()
	r.VPBROADCASTQ(r.address("key"), state)
	r.VPADDQ(operand.NewDataAddr(operand.Symbol{Name: rowSequence, Static: true}, 0), state, state)
	r.VPADDQ(r.constants.place(0x9E3779B97F4A7C15), state, state)
	bits, low := r.GP32(), r.XMM()
	r.Load(r.Param("limit"), bits)
	r.VMOVD(bits, low)
	r.VPBROADCASTW(low, limit)
	turn := func(partial bool) {
		for h, keep := range r.kept(r.hash(state), limit) {
			r.tail = masks[h]
			r.store(r.keep(scale, keep), operand.Mem{Base: dst, Disp: h * 4 * r.lanes()}, partial)
		}
	}
	r.SUBQ(operand.Imm(rowLanes), n)
	r.JL(operand.LabelRef("rest"))
	r.Label("turn")
	turn(false)
	r.VPADDQ(r.constants.place(rowLanes/4), state, state)
	r.ADDQ(operand.Imm(4*rowLanes), dst)
	r.SUBQ(operand.Imm(rowLanes), n)
	r.JGE(operand.LabelRef("turn"))
	r.Label("rest")
	r.ADDQ(operand.Imm(rowLanes), n)
	r.JZ(operand.LabelRef("done"))
	turn(true)
	r.Label("done")
	r.VZEROUPPER()
	r.RET()
}

// address returns where a parameter lies.
func (r *rows) address(param string) operand.Mem {
	p, err := r.Param(param).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// hash returns splitmix64's output for four states that hold the increment already.
func (r *rows) hash(state reg.Register) reg.VecVirtual {
	x := r.shiftXor(state, 30)
	x = r.product(x, 0xBF58476D1CE4E5B9)
	x = r.shiftXor(x, 27)
	x = r.product(x, 0x94D049BB133111EB)
	return r.shiftXor(x, 31)
}

// shiftXor returns x ^ x>>by.
func (r *rows) shiftXor(x reg.Register, by uint64) reg.VecVirtual {
	y := r.YMM()
	r.VPSRLQ(operand.Imm(by), x, y)
	r.VPXOR(x, y, y)
	return y
}

// product returns the lower 64 bits of a*b, which AVX2 puts together from products of halves.
func (r *rows) product(a reg.Register, b uint64) reg.VecVirtual {
	y := r.YMM()
	if r.wide {
		r.VPMULLQ(r.constants.place(b), a, y)
		return y
	}
	low := r.constants.place(b)
	high, cross, upper := r.YMM(), r.YMM(), r.YMM()
	r.VPMULUDQ(low, a, y)
	r.VPSRLQ(operand.Imm(32), a, upper)
	r.VPMULUDQ(low, upper, high)
	r.VPMULUDQ(r.constants.place(b>>32), a, cross)
	r.VPADDQ(cross, high, high)
	r.VPSLLQ(operand.Imm(32), high, high)
	r.VPADDQ(high, y, y)
	return y
}

// kept returns the lanes whose 16 bits of words are at least limit, by half.
func (r *rows) kept(words, limit reg.VecVirtual) []reg.Register {
	if r.wide {
		const notLess = 5
		m := r.K()
		r.VPCMPUW(operand.Imm(notLess), limit, words, m)
		return []reg.Register{m}
	}
	most, high := r.YMM(), r.XMM()
	r.VPMAXUW(limit, words, most)
	r.VPCMPEQW(most, words, most)
	a, b := r.YMM(), r.YMM()
	r.VEXTRACTI128(operand.Imm(1), most, high)
	r.VPMOVSXWD(most.AsX(), a)
	r.VPMOVSXWD(high, b)
	return []reg.Register{a, b}
}
