package model_test

import (
	"math"
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/random"
	"lockstep/tensor"
)

// The responses of the prepared filters to the patches of the images are uncorrelated and of unit
// size; the second half of the filters are the negatives of the first.
func TestAirbenchWhitens(t *testing.T) {
	const side, channels, taps, num = 32, 3, 12, 20
	net, err := model.Named("airbench", 10, tensor.Shape{side, side, channels})
	if err != nil {
		t.Fatal(err)
	}
	v := graph.NewVariables(compile(t, net, 1, compute.Plain, true))
	images := make([]float32, num*side*side*channels)
	noise := random.Derive(3, 1)
	for i := range images { // what lies close together is alike
		images[i] = noise.Symmetric(uint64(i/6), 2) + noise.Symmetric(uint64(i)<<20, 1)
	}
	net.Prepare(v, images)
	at := slices.IndexFunc(v.Params, func(p graph.Param) bool { return p.Name == "whiten.weight" })
	filters := make([]float32, 2*taps*taps)
	v.Param(at, filters)
	for i, x := range filters[:taps*taps] {
		if filters[taps*taps+i] != -x {
			t.Fatalf("weight %d is %v, its negative %v", i, x, filters[taps*taps+i])
		}
	}

	var moments [taps][taps]float64
	const patches = num * (side - 1) * (side - 1)
	for n := range num {
		for h := range side - 1 {
			for w := range side - 1 {
				var response [taps]float64
				for f := range response {
					for tap := range taps {
						c, y, x := tap/4, tap/2%2, tap%2
						pixel := images[((n*side+h+y)*side+w+x)*channels+c]
						response[f] += float64(filters[f*taps+tap]) * float64(pixel)
					}
				}
				for i, a := range response {
					for j, b := range response {
						moments[i][j] += a * b / patches
					}
				}
			}
		}
	}
	for i, row := range moments {
		for j, m := range row {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(m-want) > 0.005 { // eps takes up to 0.003 where the images vary least
				t.Errorf("moment %d, %d is %v, want %v", i, j, m, want)
			}
		}
	}
}
