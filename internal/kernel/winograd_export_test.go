package kernel

// WinogradTransform is a transform of Winograd's algorithm for the tests: its numbers of source and
// destination vectors, and whether the source and the destination are pixels of a table.
type WinogradTransform struct {
	Name                 string
	From, To             int
	FromPixels, ToPixels bool
	run                  func(*winogradArgs)
}

// WinogradTransforms lists those of isa.
func WinogradTransforms(isa ISA) []WinogradTransform {
	o := winogradFor(isa)
	return []WinogradTransform{
		{"input", 36, 36, true, false, o.input},
		{"output", 36, 16, false, true, o.output},
		{"filter", 9, 36, false, false, o.filter},
		{"output gradient", 16, 36, true, false, o.outputGrad},
		{"filter gradient", 36, 9, false, false, o.filterGrad},
	}
}

// Run transforms width channels; stride is the distance of points and taps. It adds to dst and replaces
// negative results by zero if asked to, where the transform can.
func (t *WinogradTransform) Run(dst, src, zero, bias []float32, table []int32, stride, width int,
	add, relu bool) {
	a := &winogradArgs{table: table, src: src, dst: dst, zero: zero, bias: bias, stride: stride,
		tapStride: stride, width: width, work: make([]float32, winogradWork)}
	if add {
		a.flags |= tileAdd
	}
	if relu {
		a.flags |= tileReLU
	}
	t.run(a)
}
