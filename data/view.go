package data

import (
	"fmt"
	"runtime"
)

// View is one variant of a test image (test-time augmentation).
type View struct {
	// DY and DX are a shift: pixel (h, w) comes from row h+DY and column w+DX of the image, which
	// is mirrored first if Flip. Pixels outside are reflected at the edge: row -1 is row 1.
	DY, DX int
	// Flip mirrors the image left to right. Wrong for digits and letters.
	Flip bool
	// Weight is the weight of the view's logits in the average.
	Weight float32
}

// FlipViews returns the image itself and its mirror image, with equal weights.
func FlipViews() []View { return []View{{Weight: 0.5}, {Flip: true, Weight: 0.5}} }

// FlipShiftViews returns the image itself and shifted by one pixel along a diagonal in both
// directions, and the mirror images of all three. The unshifted ones have half of the weight. After
// Jordan 2024, arXiv 2404.00498.
func FlipShiftViews() []View {
	return []View{
		{Weight: 0.25}, {Flip: true, Weight: 0.25},
		{DY: -1, DX: -1, Weight: 0.125}, {DY: -1, DX: 1, Flip: true, Weight: 0.125},
		{DY: 1, DX: 1, Weight: 0.125}, {DY: 1, DX: -1, Flip: true, Weight: 0.125},
	}
}

// Fits reports whether v can reflect the edges of images of this size: each side must be more than
// twice the shift.
func (v View) Fits(height, width int) bool { return 2*abs(v.DY) < height && 2*abs(v.DX) < width }

// TakeView is Take for images as changed by v. It panics if the samples are texts, or if v does not
// fit them; errors are those of Samples.
func (s *Set) TakeView(sh *Shard, lo, hi int, v View) error {
	if s.Texts != nil || !v.Fits(s.Shape[0], s.Shape[1]) {
		panic(fmt.Sprintf("data: take view: %+v of samples %v", v, s.Shape))
	}
	if err := s.reserve(sh, lo, hi); err != nil {
		return err
	}
	if sh.convert == nil {
		sh.convert = &converter{}
	}
	sh.convert.of(s)
	parts := min(len(sh.Images)/sharedElems, runtime.GOMAXPROCS(0))
	if s.Samples != nil && s.Samples.IsSlow() {
		parts = min(hi-lo, runtime.GOMAXPROCS(0))
	}
	sh.gang.grow(s, max(1, parts))
	p := pose{dy: v.DY, dx: v.DX, flip: v.Flip}
	if parts <= 1 { // without a closure, which would be allocated
		return s.place(sh, lo, 0, hi-lo, &sh.gang.rooms[0], p)
	}
	return sh.gang.run(hi-lo, parts, func(from, to int, r *room) error {
		return s.place(sh, lo, from, to, r, p)
	})
}

// sharedElems is how many elements of images a goroutine converts at least.
const sharedElems = 1 << 18

// place writes the images from to to of sh, whose first one is sample lo, in pose p.
func (s *Set) place(sh *Shard, lo, from, to int, r *room, p pose) error {
	height, width, channels, elems := s.Shape[0], s.Shape[1], s.Shape[2], s.Shape.Elems()
	for n := from; n < to; n++ {
		raw, err := s.raw(lo+n, r.sample)
		if err != nil {
			return err
		}
		image := sh.Images[n*elems : (n+1)*elems]
		sh.convert.place(image, raw, height, width, channels, p)
		p.reflect(image, height, width, channels)
	}
	return nil
}

// reflect fills the empty part of one image [H, W, C] placed in pose p.
func (p pose) reflect(image []float32, height, width, channels int) {
	row := width * channels
	for h := range height {
		mirrorEdge(image[h*row:(h+1)*row], channels, p.dx)
	}
	mirrorEdge(image, row, p.dy)
}

// mirrorEdge fills the blocks that a shift by d left empty, the first -d or the last d, by
// reflection at the edge.
func mirrorEdge(blocks []float32, size, d int) {
	last := len(blocks)/size - 1
	for i := range abs(d) {
		to, from := i, 2*abs(d)-i
		if d > 0 {
			to, from = last-to, last-from
		}
		copy(blocks[to*size:(to+1)*size], blocks[from*size:(from+1)*size])
	}
}

func abs(n int) int { return max(n, -n) }
