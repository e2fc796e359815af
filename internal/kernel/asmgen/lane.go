package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lane writes the tiles of convolutions with an image in each lane. lane_plain.go in the kernel
// package says what they compute.
func lane(a *assembler) {
	for _, v := range []vector{
		{name: "AVX512", bytes: 64, register: a.zmm},
		{name: "AVX2", bytes: 32, register: a.ymm},
	} {
		for _, pixels := range []int{4, 2, 1} {
			for _, channels := range []int{6, 4, 2, 1} {
				if v.wide() || pixels < 4 {
					a.laneTile(v, pixels, channels)
				}
			}
		}
	}
}

// laneTile writes one tile.
func (a *assembler) laneTile(v vector, pixels, channels int) {
	name := fmt.Sprintf("lane%s_%dx%d", v.name, pixels, channels)
	args := a.function(name, "laneArgs", name+" is lanePlain for a tile of this size.")
	s := newSums(v, pixels, channels)
	bias := a.field(args, "bias")
	for k := range channels {
		a.VBROADCASTSS(Mem{Base: bias, Disp: 4 * k}, s[0][k])
		for i := 1; i < pixels; i++ {
			a.VMOVAPS(s[0][k], s[i][k])
		}
	}
	width := a.Load(args.Field("width"), a.GP64())
	a.laneTaps(v, s, args, width)

	flags := a.Load(args.Field("flags"), a.GP64())
	a.TESTQ(U32(tileReLU), flags)
	a.JZ(LabelRef("store"))
	zero := v.register()
	a.clear(v, sums{{zero}})
	for _, row := range s {
		for _, r := range row {
			a.VMAXPS(r, zero, r) // the operand that is returned if it is NaN comes first
		}
	}
	a.Label("store")
	dst := a.field(args, "dst")
	a.IMUL3Q(Imm(uint64(v.bytes)), width, width)
	for i, row := range s {
		for k, r := range row {
			a.VMOVUPS(r, Mem{Base: dst, Disp: k * v.bytes})
		}
		if i < pixels-1 {
			a.ADDQ(width, dst)
		}
	}
	a.VZEROUPPER()
	a.RET()
}

// laneTaps adds the products of all taps.
func (a *assembler) laneTaps(v vector, s sums, args gotypes.Component, width reg.Register) {
	taps := a.field(args, "taps")
	a.TESTQ(taps, taps)
	a.JZ(LabelRef("summed"))
	src, weights, stride := a.field(args, "src"), a.field(args, "weights"), a.field(args, "stride")
	tapStride := a.field(args, "tapStride")
	a.SHLQ(Imm(2), tapStride)
	a.SHLQ(Imm(2), stride)
	places := []Mem{{}, {Index: stride, Scale: 1}, {Index: stride, Scale: 2}}
	if len(s) > 3 {
		triple := a.GP64()
		a.LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, triple)
		places = append(places, Mem{Index: triple, Scale: 1})
	}
	at, left := a.GP64(), a.GP64()
	a.Label("tap")
	a.MOVQ(src, at)
	a.Load(args.Field("depth"), left)
	a.Label("channel")
	x := make([]reg.VecVirtual, len(s))
	for i := range x {
		x[i] = v.register()
		places[i].Base = at
		a.VMOVUPS(places[i], x[i])
	}
	for k := range s[0] {
		weight := v.register()
		a.VBROADCASTSS(Mem{Base: weights, Disp: 4 * k}, weight)
		for i := range s {
			a.VFMADD231PS(weight, x[i], s[i][k])
		}
	}
	a.ADDQ(Imm(uint64(v.bytes)), at)
	a.LEAQ(Mem{Base: weights, Index: width, Scale: 4}, weights)
	a.DECQ(left)
	a.JNZ(LabelRef("channel"))
	a.ADDQ(tapStride, src)
	a.DECQ(taps)
	a.JNZ(LabelRef("tap"))
	a.Label("summed")
}
