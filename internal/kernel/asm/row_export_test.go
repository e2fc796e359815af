package asm

import "lockstep/compute"

// RowLoop calls one of RowOps: it may change out, reads in, and returns what the loop returns.
type RowLoop struct {
	Name string
	Run  func(out, in [][]float32) []float32
}

// RowLoops lists the loops of isa, with three outputs and three inputs at most, all of one length.
func RowLoops(isa compute.ISA) []RowLoop {
	o := rowFor(isa)
	return []RowLoop{
		{"mul", func(y, x [][]float32) []float32 { o.Mul(y[0], x[0], x[1]); return nil }},
		{"mulAdd", func(y, x [][]float32) []float32 { o.MulAdd(y[0], x[0], x[1], x[2]); return nil }},
		{"addScaled", func(y, x [][]float32) []float32 { o.AddScaled(y[0], x[0], x[1], 0.3); return nil }},
		{"lerp", func(y, x [][]float32) []float32 { o.Lerp(y[0], x[0], x[1], 0.3); return nil }},
		{"sum", func(y, x [][]float32) []float32 { return []float32{o.Sum(x[0])} }},
		{"top", func(y, x [][]float32) []float32 { return []float32{o.Top(x[0])} }},
		{"dot", func(y, x [][]float32) []float32 { return []float32{o.Dot(x[0], x[1])} }},
		{"squares", func(y, x [][]float32) []float32 { return []float32{o.Squares(x[0], 0.25)} }},
		{"gelu", func(y, x [][]float32) []float32 { o.Gelu(y[0], x[0]); return nil }},
		{"geluSlope", func(y, x [][]float32) []float32 { o.GeluSlope(y[0], y[1], x[0]); return nil }},
		{"geluBackward", func(y, x [][]float32) []float32 { o.GeluBackward(y[0], x[0], x[1]); return nil }},
		{"expSum", func(y, x [][]float32) []float32 {
			return []float32{o.ExpSum(y[0], x[0], 0.125, 4)}
		}},
		{"exps", func(y, x [][]float32) []float32 { o.Exps(y[0], x[0], 20, 4, 0.3); return nil }},
		{"softmaxGrad", func(y, x [][]float32) []float32 {
			o.SoftmaxGrad(y[0], x[0], x[1], 0.3, 0.125)
			return nil
		}},
		{"layerNorm", func(y, x [][]float32) []float32 {
			o.LayerNorm(y[0], x[0], x[1], x[2], 0.1, 1.7)
			return nil
		}},
		{"layerNormSums", func(y, x [][]float32) []float32 {
			s, q := o.LayerNormSums(x[0], x[1], x[2], 0.1, 1.7)
			return []float32{s, q}
		}},
		{"layerNormGrad", func(y, x [][]float32) []float32 {
			o.LayerNormGrad(y[0], y[1], y[2], x[0], x[1], x[2], 0.1, 1.7, 0.3, 0.2)
			return nil
		}},
		{"drop", func(y, x [][]float32) []float32 {
			o.Drop(y[0], 0xFFFF_FFFF_FFFF_FFF0, 6554, 1.1)
			return nil
		}},
		{"adamW", func(y, x [][]float32) []float32 {
			o.AdamW(y[0], y[1], y[2], x[0], 0.25, 0.99, 0.1, 0.999, 0.001, 0.01, 0.3, 1e-8)
			return nil
		}},
	}
}

// Exp32 and Normal are the functions of the notes "exponential in float32" and "GELU".
var (
	Exp32  = exp32
	Normal = normal
)
