package data_test

import (
	"math"
	"slices"
	"testing"

	"lockstep/data"
	"lockstep/tensor"
)

// Every pixel of a view is where the formula says, with all channels.
func TestTakeViewIsFlipShiftReflect(t *testing.T) {
	const height, width, channels = 6, 7, 3
	set := tiny(3, tensor.Shape{height, width, channels})
	var plain, shown data.Shard
	set.Take(&plain, 1, 3)
	reflected := func(i, n int) int {
		if i < 0 {
			return -i
		}
		return min(i, 2*(n-1)-i)
	}
	views := append(data.FlipShiftViews(), data.View{DY: -2, DX: 3}, data.View{DY: 2, DX: -3, Flip: true})
	for _, v := range views {
		set.TakeView(&shown, 1, 3, v)
		if !slices.Equal(shown.Labels, plain.Labels) || len(shown.Images) != len(plain.Images) {
			t.Fatalf("%+v: %d values, labels %v", v, len(shown.Images), shown.Labels)
		}
		for at, got := range shown.Images {
			c, w, h := at%channels, at/channels%width, at/channels/width%height
			y, x := reflected(h+v.DY, height), reflected(w+v.DX, width)
			if v.Flip {
				x = width - 1 - x
			}
			image := plain.Images[at/(height*width*channels)*height*width*channels:]
			if want := image[(y*width+x)*channels+c]; got != want {
				t.Fatalf("%+v: value %d is %v, want %v", v, at, got, want)
			}
		}
	}
}

// The weights of views are powers of two that add up to 1, so that equal logits stay what they are.
func TestWeightsOfViewsAddUp(t *testing.T) {
	for _, views := range [][]data.View{data.FlipViews(), data.FlipShiftViews()} {
		sum := float32(0)
		for _, v := range views {
			if fraction, _ := math.Frexp(float64(v.Weight)); fraction != 0.5 {
				t.Errorf("%+v: the weight is no power of two", v)
			}
			sum += v.Weight
		}
		if sum != 1 {
			t.Errorf("weights of %v add up to %v, want 1", views, sum)
		}
	}
}

func TestTakeViewRefusesWhatItCannotReflect(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a shift by half of the image: no panic")
		}
	}()
	tiny(1, tensor.Shape{2, 2, 1}).TakeView(&data.Shard{}, 0, 1, data.View{DY: 1})
}
