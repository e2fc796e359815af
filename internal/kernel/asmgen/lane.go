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
					a.laneOuter(v, pixels, channels)
				}
			}
		}
	}
}

// laneTile writes one tile.
func (a *assembler) laneTile(v vector, pixels, channels int) {
	name := fmt.Sprintf("lane%s_%dx%d", v.name, pixels, channels)
	a.serve(name, fmt.Sprintf("Tile[%d][%d]", pixels, channels), v.name)
	args := a.function(name, "LaneArgs", name+" is lanePlain for a tile of this size.")
	s := newSums(v, pixels, channels)
	bias := a.field(args, "Bias")
	for k := range channels {
		a.VBROADCASTSS(Mem{Base: bias, Disp: 4 * k}, s[0][k])
		for i := 1; i < pixels; i++ {
			a.VMOVAPS(s[0][k], s[i][k])
		}
	}
	width := a.Load(args.Field("Width"), a.GP64())
	a.laneTaps(v, s, args, width)

	flags := a.Load(args.Field("Flags"), a.GP64())
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
	dst := a.field(args, "Dst")
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
	taps := a.field(args, "Taps")
	a.TESTQ(taps, taps)
	a.JZ(LabelRef("summed"))
	src, weights, stride := a.field(args, "Src"), a.field(args, "Weights"), a.field(args, "Stride")
	tapStride := a.field(args, "TapStride")
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
	a.Load(args.Field("Depth"), left)
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

// laneOuter writes a row of tiles of a gradient of weights.
func (a *assembler) laneOuter(v vector, depth, channels int) {
	name := fmt.Sprintf("laneOuter%s_%dx%d", v.name, depth, channels)
	a.serve(name, fmt.Sprintf("Outer[%d][%d]", depth, channels), v.name)
	args := a.function(name, "LaneOuterArgs", name+" is laneOuterPlain for tiles of this size.")
	load := func(name string) reg.Register { return a.Load(args.Field(name), a.GP64()) }
	x, dst, tiles := a.field(args, "X"), a.field(args, "Dst"), load("Tiles")
	stride, rowStride, width := load("Stride"), load("RowStride"), load("Width")
	a.SHLQ(Imm(2), stride)
	a.SHLQ(Imm(2), rowStride)
	a.IMUL3Q(Imm(uint64(v.bytes)), width, width)
	a.Label("tile")
	s := newSums(v, depth, channels)
	a.clear(v, s)
	next := a.GP64()
	a.MOVQ(dst, next)
	for range depth {
		a.prefetch(v, channels, Mem{Base: next})
		a.ADDQ(width, next)
	}
	a.laneProducts(v, s, args, x, stride, rowStride, width)
	a.laneStore(v, s, args, dst, width)
	a.ADDQ(U32(depth*v.bytes), x)
	a.DECQ(tiles)
	a.JNZ(LabelRef("tile"))
	a.VZEROUPPER()
	a.RET()
}

// laneProducts adds the products of one tile; stride, rowStride and width are in bytes.
func (a *assembler) laneProducts(v vector, s sums, args gotypes.Component,
	x, stride, rowStride, width reg.Register) {
	dy, rows, row := a.field(args, "Dy"), a.Load(args.Field("Rows"), a.GP64()), a.GP64()
	at, left := a.GP64(), a.GP64()
	a.MOVQ(x, row)
	a.Label("row")
	a.MOVQ(row, at)
	a.Load(args.Field("Pixels"), left)
	a.Label("pixel")
	factors := make([]reg.VecVirtual, len(s))
	for d := range s {
		factors[d] = v.register()
		a.VMOVUPS(Mem{Base: at, Disp: d * v.bytes}, factors[d])
	}
	for k := range s[0] {
		y := v.register()
		a.VMOVUPS(Mem{Base: dy, Disp: k * v.bytes}, y)
		for d := range s {
			a.VFMADD231PS(y, factors[d], s[d][k])
		}
	}
	a.ADDQ(stride, at)
	a.ADDQ(width, dy)
	a.DECQ(left)
	a.JNZ(LabelRef("pixel"))
	a.ADDQ(rowStride, row)
	a.DECQ(rows)
	a.JNZ(LabelRef("row"))
}

// laneStore writes the sums of a tile to dst or adds them to it, and moves dst on to the next tile; width
// are the bytes from one d to the next.
func (a *assembler) laneStore(v vector, s sums, args gotypes.Component, dst, width reg.Register) {
	flags, next := a.Load(args.Field("Flags"), a.GP64()), a.GP64()
	a.TESTQ(U32(tileAdd), flags)
	a.JZ(LabelRef("store"))
	a.MOVQ(dst, next)
	for _, row := range s {
		for k, r := range row {
			a.VADDPS(Mem{Base: next, Disp: k * v.bytes}, r, r)
		}
		a.ADDQ(width, next)
	}
	a.Label("store")
	for _, row := range s {
		for k, r := range row {
			a.VMOVUPS(r, Mem{Base: dst, Disp: k * v.bytes})
		}
		a.ADDQ(width, dst)
	}
}
