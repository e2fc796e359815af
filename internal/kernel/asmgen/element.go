package main

import (
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unroll is the number of vectors in one turn of the inner loops.
const unroll = 2

// fetchBytes is how far ahead the sums of batch norm's backward pass ask for their inputs, whose
// streams the processor's own prefetching loses among the constants: one wide row.
const fetchBytes = 4096

// element writes the inner loops of the memory-bound kernels; package kernel's elementOps says what
// each computes.
func element(a *assembler) {
	for _, wide := range []bool{false, true} {
		v := &vectors{assembler: a, wide: wide}
		v.table()
		for _, s := range streams {
			v.stream(s)
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
}

func (f *flow) at(slice string) operand.Mem {
	return operand.Mem{Base: f.base[slice], Index: f.index, Scale: 1, Disp: f.offset}
}

// get loads the vector of a slice.
func (f *flow) get(slice string) reg.Register { return f.load(f.at(slice), f.partial) }

// put stores the vector of a slice.
func (f *flow) put(slice string, x reg.Register) { f.store(x, f.at(slice), f.partial) }

// accumulate adds x to the vector of a slice.
func (f *flow) accumulate(slice string, x reg.Register) { f.put(slice, f.add(f.get(slice), x)) }

// fetch asks for the vectors of slices that will be wanted next.
func (f *flow) fetch(slices ...string) {
	for _, slice := range slices {
		m := f.at(slice)
		m.Disp += fetchBytes
		f.PREFETCHT0(m)
	}
}

// centred returns x - mean.
func (f *flow) centred() reg.Register { return f.sub(f.get("x"), f.get("mean")) }

// affine returns d*scale + shift.
func (f *flow) affine(d reg.Register) reg.Register {
	return f.add(f.mul(d, f.get("scale")), f.get("shift"))
}

// normSums adds the gradient d and its product with the centred input.
func (f *flow) normSums(d, centred reg.Register) {
	f.fetch("dy", "x")
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
	{"moments", "s, q, x, mean", "", func(f *flow) {
		d := f.centred()
		f.accumulate("s", d)
		f.accumulate("q", f.mul(d, d))
	}},
	{"normalize", "y, x, mean, scale, shift", "", func(f *flow) {
		f.put("y", f.affine(f.centred()))
	}},
	{"normalizeReLU", "y, x, mean, scale, shift", "", func(f *flow) {
		f.put("y", f.rectify(f.affine(f.centred())))
	}},
	{"normalizeAdd", "y, x, r, mean, scale, shift", "", func(f *flow) {
		f.put("y", f.add(f.affine(f.centred()), f.get("r")))
	}},
	{"normalizeAddReLU", "y, x, r, mean, scale, shift", "", func(f *flow) {
		f.put("y", f.rectify(f.add(f.affine(f.centred()), f.get("r"))))
	}},
	{"normSums", "s, q, dy, x, mean", "", func(f *flow) {
		f.normSums(f.get("dy"), f.centred())
	}},
	{"normSumsReLU", "s, q, dy, x, mean, scale, shift", "", func(f *flow) {
		c := f.centred()
		f.normSums(f.gate(f.get("dy"), f.affine(c)), c)
	}},
	{"normSumsGate", "g, s, q, dy, z, x, mean", "", func(f *flow) {
		f.fetch("z")
		d := f.gate(f.get("dy"), f.get("z"))
		f.put("g", d)
		f.normSums(d, f.centred())
	}},
	{"normGrad", "dx, dy, x, mean, scale, slope, offset", "", func(f *flow) {
		f.normGrad(f.get("dy"), f.centred())
	}},
	{"normGradReLU", "dx, dy, x, mean, scale, shift, slope, offset", "", func(f *flow) {
		c := f.centred()
		f.normGrad(f.gate(f.get("dy"), f.affine(c)), c)
	}},
	{"sgd", "w, v, grad", "lr, momentum, decay, scale", func(f *flow) { f.sgd(false) }},
	{"sgdNesterov", "w, v, grad", "lr, momentum, decay, scale", func(f *flow) { f.sgd(true) }},
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
	v.walk(n, func(vector int, partial bool) {
		f.offset, f.partial = vector*4*v.lanes(), partial
		s.body(f)
	}, index)
	v.VZEROUPPER()
	v.RET()
}

// declare begins the function called name in this width.
func (v *vectors) declare(name, signature string) {
	v.Function(name + v.suffix())
	v.serve(name+v.suffix(), placeOf(name), v.suffix())
	v.Attributes(attr.NOSPLIT)
	v.Doc(name + v.suffix() + " is " + name + "Plain with vectors.")
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

// walk emits a loop over n floats: several whole vectors at a time, one whole vector, then a partial
// one. It moves the indexes on by the bytes of each, and leaves n undefined.
func (v *vectors) walk(n reg.GPVirtual, body func(vector int, partial bool), indexes ...reg.GPVirtual) {
	lanes := v.lanes()
	next := func(vectors int) {
		for _, index := range indexes {
			v.ADDQ(operand.I32(int32(vectors*lanes*4)), index)
		}
	}
	v.SUBQ(operand.I32(int32(unroll*lanes)), n)
	v.JL(operand.LabelRef("few"))
	v.Label("many")
	for i := range unroll {
		body(i, false)
	}
	next(unroll)
	v.SUBQ(operand.I32(int32(unroll*lanes)), n)
	v.JGE(operand.LabelRef("many"))
	v.Label("few")
	v.ADDQ(operand.I32(int32(unroll*lanes)), n)

	v.CMPQ(n, operand.I32(int32(lanes)))
	v.JL(operand.LabelRef("rest"))
	body(0, false)
	next(1)
	v.SUBQ(operand.I32(int32(lanes)), n)
	v.Label("rest")
	v.TESTQ(n, n)
	v.JZ(operand.LabelRef("done"))
	body(0, true)
	v.Label("done")
}
