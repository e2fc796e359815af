package product_test

import (
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"

	"pgregory.net/rapid"
)

// smallRun is products of small matrices: left [rows, terms] and other [rows, width] give the product of left
// and right [terms, width] from right packed and from its transpose, and that of left transposed and other.
type smallRun struct {
	rows, terms, width int
	left, right, other []float32
}

// run returns the three products, the last added to ones.
func (r smallRun) run(t kerneltest.TB, isa compute.ISA) (packed, turned, across []float32) {
	o := asm.OpsFor(isa, compute.BF16)
	p := product.NewSmallParts(&o.Split, max(r.rows, r.terms, r.width))
	p.Use(kerneltest.Floats(t, p.ScratchFloats(r.rows, r.terms, r.width)), r.rows, r.terms, r.width)
	c := product.NewColumns(&o.Gemm, r.width)
	left := product.Matrix{Floats: r.left, Stride: product.WholeSteps(r.terms)}
	panels := kerneltest.Floats(t, p.PanelFloats(r.terms, r.width))
	result := func(rows int) product.Matrix {
		return product.Matrix{Floats: kerneltest.Floats(t, rows*r.width), Stride: r.width}
	}
	first, second, third := result(r.rows), result(r.rows), result(r.terms)
	p.Times(first, left, r.rows, r.terms, p.Packed(panels, r.right, r.width, r.terms, c), false)
	if r.terms%asm.SplitSide == 0 {
		turned := make([]float32, len(r.right))
		for i, v := range r.right {
			turned[i%r.width*r.terms+i/r.width] = v
		}
		p.Times(second, left, r.rows, r.terms, p.Turned(panels, turned, r.terms, r.terms, c), false)
	}
	for i := range third.Floats {
		third.Floats[i] = 1
	}
	p.Transposed(third, left, product.Matrix{Floats: r.other, Stride: r.width}, r.terms, r.rows, true, c)
	return first.Floats, second.Floats, third.Floats
}

// Small products of any sizes are those of operands rounded to bf16, and every ISA gives the portable twin's
// bits.
func TestSmallParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(lo, hi int, name string) int { return rapid.IntRange(lo, hi).Draw(t, name) }
		r := smallRun{rows: draw(1, 300, "rows"), terms: draw(1, 140, "terms"),
			width: 32 * draw(1, 3, "width/32")}
		if rapid.Bool().Draw(t, "whole") {
			r.terms = product.WholeSteps(r.terms)
		}
		r.left = filled(t, r.rows*product.WholeSteps(r.terms), noise(1))
		for i := range r.left {
			if i%product.WholeSteps(r.terms) >= r.terms {
				r.left[i] = 0
			}
		}
		r.right, r.other = filled(t, r.terms*r.width, noise(2)), filled(t, r.rows*r.width, noise(3))
		r.check(t)
	})
}

func (r smallRun) check(t *rapid.T) {
	packed, turned, across := r.run(t, compute.Plain)
	near := func(what string, got float32, sum, size float64) {
		if e := math.Abs(float64(got) - sum); !(e <= 0x1p-7*size+1e-6) {
			t.Fatalf("%s is %v, want %v", what, got, sum)
		}
	}
	deep := product.WholeSteps(r.terms)
	for i := 0; i < r.rows; i += 7 {
		for j := 0; j < r.width; j += 5 {
			var sum, size float64
			for k := range r.terms {
				x := float64(r.left[i*deep+k]) * float64(r.right[k*r.width+j])
				sum, size = sum+x, size+math.Abs(x)
			}
			near("a product", packed[i*r.width+j], sum, size)
			if r.terms%asm.SplitSide == 0 {
				near("a product of turned columns", turned[i*r.width+j], sum, size)
			}
		}
	}
	for k := 0; k < r.terms; k += 3 {
		for j := 0; j < r.width; j += 5 {
			sum, size := 1.0, 1.0
			for i := range r.rows {
				x := float64(r.left[i*deep+k]) * float64(r.other[i*r.width+j])
				sum, size = sum+x, size+math.Abs(x)
			}
			near("a product of turned rows", across[k*r.width+j], sum, size)
		}
	}
	for _, isa := range compute.Supported()[1:] {
		a, b, c := r.run(t, isa)
		for i, list := range [][2][]float32{{a, packed}, {b, turned}, {c, across}} {
			for j := range list[0] {
				if math.Float32bits(list[0][j]) != math.Float32bits(list[1][j]) {
					t.Fatalf("%v: [%d] of product %d is %v, want %v", isa, j, i, list[0][j], list[1][j])
				}
			}
		}
	}
}
