package main

import (
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unroll is the number of vectors in one turn of the inner loops.
const unroll = 2

// fetchBytes is how far ahead loops over rows ask for their inputs, whose streams the processor's own
// prefetching loses among the constants: one wide row.
const fetchBytes = 4096

// element writes the inner loops of the memory-bound kernels; package asm's ElementOps says what
// each computes.
func element(a *assembler) {
	for _, wide := range []bool{false, true} {
		v := &vectors{assembler: a, wide: wide}
		v.table()
		for _, s := range streams {
			v.stream(s)
		}
		for _, s := range rowStreams {
			v.rowStream(s, false)
			if strings.HasPrefix(s.name, "normalize") || strings.HasPrefix(s.name, "normGrad") {
				v.rowStream(s, true)
			}
		}
		v.maxPool()
		v.maxPoolBackward()
		v.window()
	}
}

// stream is a function that works on equally long slices one vector after the other.
type stream struct {
	name    string
	slices  string // parameters, as "y, x"
	scalars string // float32 parameters after them, as "lr, scale", or none
	body    func(f *flow)
}

// flow is the place of a body within its stream.
type flow struct {
	*vectors
	base    map[string]reg.Register // of the slices
	value   map[string]reg.Register // of the scalars, in every lane
	index   reg.Register            // bytes
	offset  int                     // bytes
	partial bool

	// Of a loop over rows.
	rows map[string]bool         // the slices of several rows, whose bases move
	row  operand.Mem             // the index and scale of the row at hand
	held map[string]reg.Register // the vectors of the other slices
	sums []string                // those that were put
	late []result                // of the slices of rows
	past bool                    // these go to memory past the caches
}

func (f *flow) at(slice string) operand.Mem {
	if f.rows[slice] {
		return operand.Mem{Base: f.base[slice], Index: f.row.Index, Scale: f.row.Scale, Disp: f.offset}
	}
	return operand.Mem{Base: f.base[slice], Index: f.index, Scale: 1, Disp: f.offset}
}

// get loads the vector of a slice.
func (f *flow) get(slice string) reg.Register {
	if f.rows == nil || f.rows[slice] {
		return f.load(f.at(slice), f.partial)
	}
	if f.held[slice] == nil {
		f.held[slice] = f.load(f.at(slice), f.partial)
	}
	return f.held[slice]
}

// put stores the vector of a slice, in a loop over rows after the loads of all rows.
func (f *flow) put(slice string, x reg.Register) {
	switch {
	case f.rows == nil:
		f.store(x, f.at(slice), f.partial)
	case f.rows[slice]:
		f.late = append(f.late, result{x, f.at(slice)})
	default:
		f.held[slice] = x
		if !slices.Contains(f.sums, slice) {
			f.sums = append(f.sums, slice)
		}
	}
}

// result is a vector that will be stored.
type result struct {
	x  reg.Register
	to operand.Mem
}

// settle stores what was put.
func (f *flow) settle() {
	for _, r := range f.late {
		if f.past && !f.partial {
			f.VMOVNTPS(r.x, r.to)
		} else {
			f.store(r.x, r.to, f.partial)
		}
	}
	for _, slice := range f.sums {
		f.store(f.held[slice], f.at(slice), f.partial)
	}
	f.held, f.sums, f.late = map[string]reg.Register{}, nil, nil
}

// fetch asks for the vectors of slices that will be wanted so many rows later.
func (f *flow) fetch(rows int, names ...string) {
	for _, slice := range names {
		m := f.at(slice)
		m.Disp += rows * fetchBytes
		f.PREFETCHT0(m)
	}
}

// accumulate adds x to the vector of a slice.
func (f *flow) accumulate(slice string, x reg.Register) { f.put(slice, f.add(f.get(slice), x)) }

// centred returns x - mean.
func (f *flow) centred() reg.Register { return f.sub(f.get("x"), f.get("mean")) }

// affine returns d*scale + shift.
func (f *flow) affine(d reg.Register) reg.Register {
	return f.add(f.mul(d, f.get("scale")), f.get("shift"))
}

// normSums adds the gradient d and its product with the centred input.
func (f *flow) normSums(d, centred reg.Register) {
	f.accumulate("s", d)
	f.accumulate("q", f.mul(d, centred))
}

// normGrad writes scale*d + (slope*centred + offset).
func (f *flow) normGrad(d, centred reg.Register) {
	line := f.add(f.mul(f.get("slope"), centred), f.get("offset"))
	f.put("dx", f.add(f.mul(f.get("scale"), d), line))
}

// sgd updates the velocity and the weights; nesterov looks one step ahead.
func (f *flow) sgd(nesterov bool) {
	w := f.get("w")
	d := f.add(f.mul(f.get("grad"), f.value["scale"]), f.mul(w, f.value["decay"]))
	step := f.add(f.mul(f.get("v"), f.value["momentum"]), d)
	f.put("v", step)
	if nesterov {
		step = f.add(f.mul(step, f.value["momentum"]), d)
	}
	f.put("w", f.sub(w, f.mul(step, f.value["lr"])))
}

var streams = []stream{
	{"fill", "dst", "value", func(f *flow) { f.put("dst", f.value["value"]) }},
	{"scale", "dst, x", "factor", func(f *flow) {
		f.put("dst", f.mul(f.get("x"), f.value["factor"]))
	}},
	{"add", "dst, a, b", "", func(f *flow) { f.put("dst", f.add(f.get("a"), f.get("b"))) }},
	{"relu", "y, x", "", func(f *flow) { f.put("y", f.rectify(f.get("x"))) }},
	{"reluBackward", "dx, dy, y", "", func(f *flow) {
		f.put("dx", f.gate(f.get("dy"), f.get("y")))
	}},
	{"sgd", "w, v, grad", "lr, momentum, decay, scale", func(f *flow) { f.sgd(false) }},
	{"sgdNesterov", "w, v, grad", "lr, momentum, decay, scale", func(f *flow) { f.sgd(true) }},
}

// rowStreams work on rows that lie one behind the other and have the same constants or sums per column.
var rowStreams = []rowStream{
	{"sums", "s, x", "x", 4, "", func(f *flow) { f.accumulate("s", f.get("x")) }},
	{"moments", "s, q, x, mean", "x", 4, "", func(f *flow) {
		d := f.centred()
		f.accumulate("s", d)
		f.accumulate("q", f.mul(d, d))
	}},
	{"normalize", "y, x, mean, scale, shift", "y, x", 1, "", func(f *flow) {
		f.put("y", f.affine(f.centred()))
	}},
	{"normalizeReLU", "y, x, mean, scale, shift", "y, x", 1, "", func(f *flow) {
		f.put("y", f.rectify(f.affine(f.centred())))
	}},
	{"normalizeAdd", "y, x, r, mean, scale, shift", "y, x, r", 1, "", func(f *flow) {
		f.put("y", f.add(f.affine(f.centred()), f.get("r")))
	}},
	{"normalizeAddReLU", "y, x, r, mean, scale, shift", "y, x, r", 1, "", func(f *flow) {
		f.put("y", f.rectify(f.add(f.affine(f.centred()), f.get("r"))))
	}},
	{"normSums", "s, q, dy, x, mean", "dy, x", 1, "dy, x", func(f *flow) {
		f.normSums(f.get("dy"), f.centred())
	}},
	{"normSumsReLU", "s, q, dy, x, mean, scale, shift", "dy, x", 1, "dy, x", func(f *flow) {
		c := f.centred()
		f.normSums(f.gate(f.get("dy"), f.affine(c)), c)
	}},
	{"normSumsGate", "g, s, q, dy, z, x, mean", "g, dy, z, x", 1, "dy, z, x", func(f *flow) {
		d := f.gate(f.get("dy"), f.get("z"))
		f.put("g", d)
		f.normSums(d, f.centred())
	}},
	{"normGrad", "dx, dy, x, mean, scale, slope, offset", "dx, dy, x", 1, "dy, x", func(f *flow) {
		f.normGrad(f.get("dy"), f.centred())
	}},
	{"normGradReLU", "dx, dy, x, mean, scale, shift, slope, offset", "dx, dy, x", 1, "dy, x", func(f *flow) {
		c := f.centred()
		f.normGrad(f.gate(f.get("dy"), f.affine(c)), c)
	}},
}

// rowStream is a function over rows; the other slices have one row, whose length is that of the first of
// them. The more rows it takes side by side, the fewer times it loads constants and sums, but the more cache
// lines of the same set it needs at a time.
type rowStream struct {
	name   string
	slices string // parameters, as "y, x, mean"
	rows   string // those of several rows, as "y, x"
	side   int    // rows to take side by side, 1, 2 or 4
	fetch  string // slices of rows to ask for ahead of time
	body   func(f *flow)
}

// stream emits the function of s.
func (v *vectors) stream(s stream) {
	signature := "func(" + s.slices + " []float32"
	if s.scalars != "" {
		signature += ", " + s.scalars + " float32"
	}
	v.declare(s.name, signature+")")
	names := strings.Split(s.slices, ", ")
	f := &flow{vectors: v, base: v.bases(names), value: map[string]reg.Register{}}
	n := v.GP64()
	v.Load(v.Param(names[0]).Len(), n)
	v.begin(n)
	if s.scalars != "" {
		for _, name := range strings.Split(s.scalars, ", ") {
			f.value[name] = v.broadcast(name)
		}
	}
	index := v.GP64()
	f.index = index
	v.XORQ(index, index)
	v.chains = slices.Contains(chains, s.name)
	v.walk(n, unroll, func(vector int, partial bool) {
		f.offset, f.partial = vector*4*v.lanes(), partial
		s.body(f)
	}, index)
	v.chains = false
	v.VZEROUPPER()
	v.RET()
}

// rowStream emits the function of s. All stores of a place come after its loads: rows lie 4096 bytes apart or
// nearly so, and a load waits for an earlier store whose address has the same low 12 bits. With past the rows
// of results must begin at multiples of a vector.
func (v *vectors) rowStream(s rowStream, past bool) {
	if past {
		v.declareAs(s.name+"Past", s.name, "func("+s.slices+" []float32)")
	} else {
		v.declare(s.name, "func("+s.slices+" []float32)")
	}
	names, rows := strings.Split(s.slices, ", "), strings.Split(s.rows, ", ")
	f := &flow{vectors: v, base: v.bases(names), rows: map[string]bool{}, held: map[string]reg.Register{},
		past: past}
	r := &rowWalk{flow: f, body: s.body, left: v.GP64(), width: v.GP64(), stride: v.GP64(),
		triple: v.GP64(), column: v.GP64()}
	for _, name := range rows {
		f.rows[name] = true
		r.moving = append(r.moving, f.base[name].(reg.GPVirtual))
	}
	f.index = r.column
	v.Load(v.Param(rows[0]).Len(), r.left)
	first := slices.IndexFunc(names, func(name string) bool { return !f.rows[name] })
	v.Load(v.Param(names[first]).Len(), r.width)
	v.TESTQ(r.width, r.width)
	v.JZ(operand.LabelRef("rowDone"))
	v.begin(r.width)
	v.MOVQ(r.width, r.stride)
	v.SHLQ(operand.Imm(2), r.stride)
	v.LEAQ(operand.Mem{Base: r.stride, Index: r.stride, Scale: 2}, r.triple)
	v.SHLQ(operand.Imm(2), r.left)
	if s.fetch != "" {
		r.fetches = strings.Split(s.fetch, ", ")
	}
	if s.side > 1 {
		r.group("side", s.side)
	}
	r.group("row", 1)
	if past {
		v.SFENCE()
	}
	v.VZEROUPPER()
	v.RET()
}

// rowWalk emits a loop over rows.
type rowWalk struct {
	*flow
	body           func(f *flow)
	moving         []reg.GPVirtual // bases of the slices of rows
	left           reg.GPVirtual   // bytes of the rows that are left
	width          reg.GPVirtual   // floats of a row
	stride, triple reg.GPVirtual   // bytes of a row, and of three
	column         reg.GPVirtual   // bytes
	fetches        []string
}

// group emits the loop that takes n rows at a time, 1, 2 or 4.
func (r *rowWalk) group(name string, n int) {
	all := r.stride
	if n > 1 {
		all = r.GP64()
		r.MOVQ(r.stride, all)
		r.IMUL3Q(operand.U8(n), all, all)
	}
	r.Label(name)
	r.CMPQ(r.left, all)
	r.JL(operand.LabelRef(name + "Done"))
	r.XORQ(r.column, r.column)
	floats := r.GP64()
	r.MOVQ(r.width, floats)
	r.labels = name
	r.walk(floats, max(unroll/n, 1), func(vector int, partial bool) {
		r.offset, r.partial = vector*4*r.lanes(), partial
		for i := range n {
			r.row = []operand.Mem{{}, {Index: r.stride, Scale: 1}, {Index: r.stride, Scale: 2},
				{Index: r.triple, Scale: 1}}[i]
			r.fetch(n, r.fetches...)
			r.body(r.flow)
		}
		r.settle()
	}, append([]reg.GPVirtual{r.column}, r.moving...)...)
	r.labels = ""
	for _, base := range r.moving {
		r.SUBQ(r.column, base)
		r.ADDQ(all, base)
	}
	r.SUBQ(all, r.left)
	r.JMP(operand.LabelRef(name))
	r.Label(name + "Done")
}

// declare begins the function called name in this width.
func (v *vectors) declare(name, signature string) { v.declareAs(name, name, signature) }

// declareAs begins the function called name in this width, whose portable twin has another name.
func (v *vectors) declareAs(name, twin, signature string) {
	v.Function(name + v.suffix())
	v.serve(name+v.suffix(), placeOf(name), v.suffix())
	v.Attributes(attr.NOSPLIT)
	v.Doc(name + v.suffix() + " is " + twin + "Plain with vectors.")
	v.Pragma("noescape")
	v.SignatureExpr(signature)
}

// placeOf returns the field that holds a function: its name but for two.
func placeOf(name string) string {
	switch name {
	case "dotRow":
		return "Dot"
	case "peak":
		return "Run"
	}
	return capital(name)
}

// bases loads the addresses of slices.
func (v *vectors) bases(names []string) map[string]reg.Register {
	base := map[string]reg.Register{}
	for _, name := range names {
		base[name] = v.Load(v.Param(name).Base(), v.GP64())
	}
	return base
}

// walk emits a loop over n floats: turn whole vectors at a time, one whole vector, then a partial
// one. It moves the indexes on by the bytes of each, and leaves n undefined.
func (v *vectors) walk(n reg.GPVirtual, turn int, body func(vector int, partial bool),
	indexes ...reg.GPVirtual) {
	lanes := v.lanes()
	next := func(vectors int) {
		for _, index := range indexes {
			v.ADDQ(operand.I32(int32(vectors*lanes*4)), index)
		}
	}
	v.SUBQ(operand.I32(int32(turn*lanes)), n)
	v.JL(operand.LabelRef(v.labels + "few"))
	v.Label(v.labels + "many")
	if v.chains {
		v.abreast(turn, func(i int) { body(i, false) })
	} else {
		for i := range turn {
			body(i, false)
		}
	}
	next(turn)
	v.SUBQ(operand.I32(int32(turn*lanes)), n)
	v.JGE(operand.LabelRef(v.labels + "many"))
	v.Label(v.labels + "few")
	v.ADDQ(operand.I32(int32(turn*lanes)), n)

	if turn > 1 {
		v.CMPQ(n, operand.I32(int32(lanes)))
		v.JL(operand.LabelRef(v.labels + "rest"))
		body(0, false)
		next(1)
		v.SUBQ(operand.I32(int32(lanes)), n)
		v.Label(v.labels + "rest")
	}
	v.TESTQ(n, n)
	v.JZ(operand.LabelRef(v.labels + "done"))
	v.rest = n
	body(0, true)
	v.rest = nil
	v.Label(v.labels + "done")
}
