package product

import "lockstep/internal/kernel/asm"

// Note: kept weights
//
// Most kernels copy the weights into panels in each call, as they may have changed. With few rows that takes
// as long as the products: BERT's 340 MB for a text, of which each is used 128 times. A program for inference
// keeps the panels in place of the copies. Bits are the same.

// Layout is how kept weights lie. Convolutions with equal weights and of equal layouts, such as those of a
// network for several sizes of batches, read the same.
type Layout struct {
	gather gatherShape
	chunk  int
	floats int
}

// Floats returns how many floats kept weights take; 0 if Forward keeps none, since it transforms them.
func (l Layout) Floats() int { return l.floats }

// keeping returns the gather whose panels can be kept, if there is one.
func (v *Conv) keeping() *gather {
	plan := v.forward
	if t, ok := plan.(*stridedForward); ok {
		plan = t.plan
	}
	if s, ok := plan.(*strassen); ok {
		plan = s.direct // which computes few rows
	}
	g, _ := plan.(*gather)
	return g
}

// Layout returns how Forward's weights may be kept.
func (v *Conv) Layout() Layout {
	g := v.keeping()
	if g == nil {
		return Layout{}
	}
	l := Layout{gather: g.shape, chunk: g.chunk, floats: g.rows() * g.columns}
	l.gather.srcImage, l.gather.dstImage = 0, 0
	return l
}

// Keep fills kept, of Layout's floats, with w as Forward reads it.
func (v *Conv) Keep(kept, w []float32) {
	g := v.keeping()
	checkLen("conv keep", "kept", kept, v.Layout().floats)
	g.w, g.panels = w, kept
	g.cpu.Run((*gatherPanels)(g))
	g.w, g.panels = nil, nil
}

// Use makes Forward and ForwardAdd read kept, which Keep has filled, in place of their weights where they
// can. These must be the same.
func (v *Conv) Use(kept []float32) {
	checkLen("conv use", "kept", kept, v.Layout().floats)
	v.keeping().kept = kept
}

// CanAdd reports whether there is ForwardAdd.
func (v *Conv) CanAdd() bool {
	_, isLanewise := v.forward.(*lanewise)
	return !isLanewise
}

// ForwardAdd is Forward without a Finisher that adds to y, before the maximum is taken.
func (v *Conv) ForwardAdd(y, x, w, bias []float32, relu bool, scratch []float32) {
	v.run(y, x, w, bias, relu, asm.TileAdd, finishing{}, scratch)
}
