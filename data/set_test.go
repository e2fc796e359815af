package data_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
	"lockstep/tensor"
)

// tiny returns a set of n images whose pixels are all different functions of their place.
func tiny(n int, shape tensor.Shape) *data.Set {
	s := &data.Set{
		Name: "tiny", Shape: shape, Classes: []string{"a", "b", "c"},
		Pixels: make([]byte, n*shape.Elems()), Labels: make([]int32, n),
		Mean: []float32{0.5, 0.25, 0.125, 0.75}[:shape[2]],
		Std:  []float32{0.25, 0.5, 0.3, 0.1}[:shape[2]],
	}
	for i := range s.Pixels {
		s.Pixels[i] = byte(i * 7 % 251)
	}
	for i := range s.Labels {
		s.Labels[i] = int32(i % 3)
	}
	return s
}

func TestTakeIsTheFormula(t *testing.T) {
	for _, channels := range []int{1, 2, 3, 4} {
		s := tiny(5, tensor.Shape{4, 3, channels})
		var sh data.Shard
		if err := s.Take(&sh, 1, 4); err != nil {
			t.Fatal(err)
		}
		for i, got := range sh.Images {
			c := i % channels
			unit := float32(s.Pixels[12*channels+i]) / 255
			if want := (unit - s.Mean[c]) / s.Std[c]; got != want {
				t.Fatalf("%d channels, element %d: %v, want %v", channels, i, got, want)
			}
		}
		if len(sh.Images) != 3*12*channels || !slices.Equal(sh.Labels, []int32{1, 2, 0}) {
			t.Errorf("%d values, labels %v, want [1 2 0]", len(sh.Images), sh.Labels)
		}
	}
}

func TestTakeAllocatesNothing(t *testing.T) {
	s := tiny(8, tensor.Shape{8, 8, 3})
	var sh data.Shard
	take := func() {
		if err := s.Take(&sh, 2, 6); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(20, take); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestTakePanicsOnWrongRanges(t *testing.T) {
	for _, c := range [][2]int{{3, 5}, {-1, 1}, {2, 1}} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "data: take: ") {
					t.Errorf("%v: panic %q", c, got)
				}
			}()
			err := tiny(4, tensor.Shape{2, 2, 1}).Take(&data.Shard{}, c[0], c[1])
			t.Errorf("%v: no panic, error %v", c, err)
		}()
	}
}

func TestLimitTakesTheFirst(t *testing.T) {
	s := tiny(10, tensor.Shape{2, 2, 3})
	first := s.Limit(4)
	if first.Len() != 4 || len(first.Pixels) != 48 || s.Len() != 10 {
		t.Errorf("limit 4 of 10: %d labels, %d bytes, original has %d",
			first.Len(), len(first.Pixels), s.Len())
	}
	if s.Limit(10) != s || s.Limit(99) != s || s.Limit(-1) != s {
		t.Error("a limit that does not bind makes a new set")
	}
	if s.Limit(0).Len() != 0 {
		t.Error("limit 0 keeps samples")
	}
}

// A bound changes nothing but the number: what is generated is how the whole set begins.
func TestBoundedSetIsHowTheWholeBegins(t *testing.T) {
	for name, shape := range map[string]tensor.Shape{"glyphs": nil, "synthetic": {5, 7, 3},
		"synthetic ": {11}} { // texts
		o := data.Options{Shape: shape, TrainSize: 50, TestSize: 20}
		load := func(maxTrain, maxTest int) (train, test *data.Set) {
			o.MaxTrain, o.MaxTest = maxTrain, maxTest
			train, test, err := data.Load(t.Context(), strings.TrimSpace(name), o)
			if err != nil {
				t.Fatal(err)
			}
			return train, test
		}
		train, test := load(0, 0)
		fewTrain, fewTest := load(33, 7)
		if !reflect.DeepEqual(fewTrain, train.Limit(33)) || !reflect.DeepEqual(fewTest, test.Limit(7)) {
			t.Errorf("%s%v: the bounded set differs from the whole one's first samples", name, shape)
		}
		if train, test := load(99, 99); train.Len() != 50 || test.Len() != 20 {
			t.Errorf("%s%v: a bound of 99 makes %d and %d samples", name, shape, train.Len(), test.Len())
		}
	}
}

func TestSyntheticHasTheShapeAskedFor(t *testing.T) {
	train, test, err := data.Load(context.Background(), "synthetic",
		data.Options{Shape: tensor.Shape{5, 7, 3}, NumClasses: 4, TrainSize: 40, TestSize: 9})
	if err != nil {
		t.Fatal(err)
	}
	if train.Len() != 40 || test.Len() != 9 || !train.Shape.Equal(tensor.Shape{5, 7, 3}) ||
		len(train.Classes) != 4 || slices.Max(train.Labels) != 3 || !train.Generated {
		t.Errorf("got %d + %d images %v, %d classes, labels to %d, generated %v",
			train.Len(), test.Len(), train.Shape, len(train.Classes),
			slices.Max(train.Labels), train.Generated)
	}
	if slices.Equal(train.Pixels[:105], test.Pixels[:105]) {
		t.Error("training and test images are the same")
	}
	for _, o := range []data.Options{{Shape: tensor.Shape{4, 4}}, {Shape: tensor.Shape{4, 4, 9}},
		{Shape: tensor.Shape{0, 4, 3}}, {NumClasses: 70_000}} {
		if _, _, err := data.Load(context.Background(), "synthetic", o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

func TestUnknownNameSuggests(t *testing.T) {
	for name, want := range map[string]string{
		"cifar": "cifar10", "CIFAR10": "cifar10", "minst": "mnist", "glyph": "glyphs", "imagenet": "",
	} {
		_, _, err := data.Load(context.Background(), name, data.Options{})
		var unknown *data.UnknownError
		if !errors.As(err, &unknown) || unknown.Suggestion != want {
			t.Errorf("%s: %v, want suggestion %q", name, err, want)
		}
	}
}

func ExampleLoad() {
	train, test, err := data.Load(context.Background(), "glyphs",
		data.Options{TrainSize: 200, TestSize: 50})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(train.Len(), test.Len(), train.Shape, train.Generated)
	// Output: 200 50 [32, 32, 3] true
}

func TestCheckNamesTheFault(t *testing.T) {
	nan := float32(math.NaN())
	for want, spoil := range map[string]func(*data.Set){
		"label 3 of sample 1, but 3 classes": func(s *data.Set) { s.Labels[1] = 3 },
		"label 1 of sample 1, but 1 class":   func(s *data.Set) { s.Classes = s.Classes[:1] },
		"deviation of channel 2 is 0":        func(s *data.Set) { s.Std[2] = 0 },
		"deviation of channel 0 is NaN":      func(s *data.Set) { s.Std[0] = nan },
		"mean of channel 1 is NaN":           func(s *data.Set) { s.Mean[1] = nan },
		"0 means, 0 deviations, want one for each of 3 channels": func(s *data.Set) {
			s.Mean, s.Std = nil, nil
		},
	} {
		s := tiny(4, tensor.Shape{2, 2, 3})
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		spoil(s)
		if err := s.Check(); err == nil || err.Error() != "data: set tiny: "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
