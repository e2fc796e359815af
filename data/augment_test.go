package data_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/data"
	"lockstep/tensor"
)

// The fused copy against the definition: pad with black, crop, mirror, normalise.
func TestPlaceIsPadCropFlip(t *testing.T) {
	for _, shape := range []tensor.Shape{{5, 4, 1}, {4, 6, 3}, {3, 3, 2}} {
		s := tiny(1, shape)
		height, width, channels := shape[0], shape[1], shape[2]
		dst := make([]float32, shape.Elems())
		for dy := -height - 1; dy <= height+1; dy++ {
			for dx := -width - 1; dx <= width+1; dx++ {
				for _, flip := range []bool{false, true} {
					clear(dst)
					s.Place(dst, s.Pixels, dy, dx, flip)
					for i, got := range dst {
						y, x, c := i/channels/width+dy, i/channels%width+dx, i%channels
						pixel := byte(0)
						if y >= 0 && y < height && x >= 0 && x < width {
							if flip {
								x = width - 1 - x
							}
							pixel = s.Pixels[(y*width+x)*channels+c]
						}
						unit := float32(pixel) / 255
						if want := (unit - s.Mean[c]) / s.Std[c]; got != want {
							t.Fatalf("%v shifted by %d, %d, flip %v: element %d is %v, want %v",
								shape, dy, dx, flip, i, got, want)
						}
					}
				}
			}
		}
	}
}

func TestDrawIsUniformAndPure(t *testing.T) {
	a := data.Augmentation{Pad: 2, Flip: true}
	counts, flips := map[[2]int]int{}, 0
	const n = 25_000
	for i := range n {
		dy, dx, flip := a.Draw(7, i%5, i)
		counts[[2]int{dy, dx}]++
		if flip {
			flips++
		}
		if y, x, f := a.Draw(7, i%5, i); y != dy || x != dx || f != flip {
			t.Fatal("two draws for one sample differ")
		}
	}
	if len(counts) != 25 || flips < n*48/100 || flips > n*52/100 {
		t.Errorf("%d different shifts, %d flips of %d; want 25, half", len(counts), flips, n)
	}
	for shift, k := range counts {
		if k < n/25*8/10 || k > n/25*12/10 {
			t.Errorf("shift %v drawn %d times, want about %d", shift, k, n/25)
		}
	}
	if dy, dx, flip := (data.Augmentation{}).Draw(7, 1, 1); dy != 0 || dx != 0 || flip {
		t.Error("the zero augmentation changes something")
	}
}

func TestHolesAreUniformAndPure(t *testing.T) {
	a := data.Augmentation{Cutout: 4}
	const n, side = 20_000, 8
	var covered [side][side]int
	for i := range n {
		top, bottom, left, right := a.DrawHole(7, i%3, i, side, side)
		if top < 0 || left < 0 || bottom > side || right > side || bottom-top < 2 || bottom-top > 4 {
			t.Fatalf("hole [%d, %d) x [%d, %d)", top, bottom, left, right)
		}
		for y := top; y < bottom; y++ {
			for x := left; x < right; x++ {
				covered[y][x]++
			}
		}
		if y, _, x, _ := a.DrawHole(7, i%3, i, side, side); y != top || x != left {
			t.Fatal("two draws for one sample differ")
		}
	}
	// A middle is in each of the 64 places as often; 4 x 4 of them cover an inner pixel.
	if k := covered[4][4]; k < n/4*9/10 || k > n/4*11/10 {
		t.Errorf("an inner pixel is covered %d times, want about %d", k, n/4)
	}
	a = data.Augmentation{Pad: 4, Flip: true}
	if top, bottom, left, right := a.DrawHole(7, 1, 1, 8, 8); bottom > top || right > left {
		t.Error("a hole without cutout")
	}
}

// Each image is mirrored in every other epoch, half of them in the first.
func TestAlternateFlips(t *testing.T) {
	a := data.Augmentation{Pad: 2, Flip: true, Alternate: true}
	const n = 2000
	flips, shifts := 0, map[[2]int]bool{}
	for i := range n {
		_, _, first := a.Draw(7, 0, i)
		if first {
			flips++
		}
		for epoch := range 5 {
			dy, dx, flip := a.Draw(7, epoch, i)
			shifts[[2]int{dy, dx}] = true
			if flip != (first == (epoch%2 == 0)) {
				t.Fatalf("sample %d, epoch %d: mirrored %v, in the first %v", i, epoch, flip, first)
			}
		}
	}
	if flips < n*45/100 || flips > n*55/100 || len(shifts) != 25 {
		t.Errorf("%d of %d mirrored, %d shifts", flips, n, len(shifts))
	}
}

// A loader that reflects shows each image as the view with its pose does.
func TestLoaderReflects(t *testing.T) {
	set := tiny(6, tensor.Shape{6, 5, 3})
	a := data.Augmentation{Pad: 2, Reflect: true, Flip: true}
	l, err := data.NewLoader(data.LoaderConfig{Set: set, Batch: 6, Shards: 1, Hi: 1, Seed: 3, Augment: a})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var want data.Shard
	for range 4 {
		s, err := l.Next()
		if err != nil {
			t.Fatal(err)
		}
		for i, index := range s.Shards[0].Indices {
			dy, dx, flip := a.Draw(3, s.Epoch, int(index))
			set.TakeView(&want, int(index), int(index)+1, data.View{DY: dy, DX: dx, Flip: flip})
			if got := s.Shards[0].Images[i*90:][:90]; !slices.Equal(got, want.Images) {
				t.Fatalf("epoch %d, sample %d: %v, want %v", s.Epoch, index, got, want.Images)
			}
		}
	}
	_, err = data.NewLoader(data.LoaderConfig{Set: set, Batch: 6, Shards: 1, Hi: 1,
		Augment: data.Augmentation{Pad: 3, Reflect: true}})
	if err == nil || !strings.Contains(err.Error(), "padding 3 reflects") {
		t.Errorf("error %v, want one about the padding", err)
	}
}
