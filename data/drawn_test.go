package data_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
)

// unequal is a set of 100 samples of which 80, 15 and 5 are of a class, in turns.
func unequal() *data.Set {
	s := indexed(100)
	s.Classes, s.Labels = []string{"often", "some", "seldom"}, nil
	for i := range 100 {
		label := int32(0)
		if at := i * 37 % 100; at >= 95 {
			label = 2
		} else if at >= 80 {
			label = 1
		}
		s.Labels = append(s.Labels, label)
	}
	return s
}

// Classes are drawn in proportion to their shares in each epoch; the samples of a class equally often, to
// within one, after any number of epochs; and the order is a function of seed and epoch.
func TestDrawnByClass(t *testing.T) {
	s := unequal()
	for _, shares := range [][]float32{{1, 1, 1}, {0, 3, 1}, {0.5, 0.2, 0.3}} {
		drawn, err := s.WithClassShares(shares)
		if err != nil {
			t.Fatal(err)
		}
		sampler := data.NewSampler(100, 7, 2, 5).ByClass(drawn.Labels, shares)
		sum := float64(shares[0] + shares[1] + shares[2])
		seen, before := make([]int, 100), []int32(nil)
		for epoch := range 9 {
			order, counts := make([]int32, 100), make([]int, 3)
			sampler.Order(order, epoch)
			for _, i := range order {
				counts[s.Labels[i]]++
				seen[i]++
			}
			if slices.Equal(order, before) {
				t.Errorf("epoch %d is as the one before", epoch)
			}
			before = order
			for c, n := range counts {
				if want := 100 * float64(shares[c]) / sum; float64(n) <= want-1 || float64(n) >= want+1 {
					t.Errorf("epoch %d draws %d of class %d, want %v", epoch, n, c, want)
				}
				var each []int
				for i, label := range s.Labels {
					if int(label) == c {
						each = append(each, seen[i])
					}
				}
				if slices.Max(each)-slices.Min(each) > 1 {
					t.Errorf("epoch %d: samples of class %d were drawn %v times", epoch, c, each)
				}
			}
			again := make([]int32, 100)
			data.NewSampler(100, 7, 2, 5).ByClass(drawn.Labels, shares).Order(again, epoch)
			if !slices.Equal(again, order) {
				t.Errorf("epoch %d has another order when it is drawn alone", epoch)
			}
		}
	}
	if _, err := s.WithClassShares([]float32{1, 1, 1e-6}); err == nil ||
		!strings.Contains(err.Error(), `"seldom" would have no place`) {
		t.Errorf("got %v", err)
	}
}

// A loader gives the samples that are drawn, whatever part of the shards it has; their coverage is that of
// the epoch, and a sample that comes twice is changed twice.
func TestLoaderDrawsByClass(t *testing.T) {
	drawn, err := unequal().WithClassShares([]float32{1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	if drawn.SHA256() == unequal().SHA256() {
		t.Error("drawn by class or not, the hash is one")
	}
	images := map[string]bool{}
	for epoch := range 2 {
		covered := uint64(0)
		for _, run := range [][2]int{{0, 1}, {1, 3}} {
			l, err := data.NewLoader(data.LoaderConfig{Set: drawn, Batch: 9, Shards: 3, Lo: run[0],
				Hi: run[1], Seed: 2, Augment: data.Augmentation{Flip: true}, FromStep: 12 * epoch,
				ToStep: 12 * (epoch + 1)})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			for range 12 {
				step, err := l.Next()
				if err != nil {
					t.Fatal(err)
				}
				for _, sh := range step.Shards {
					covered += sh.Coverage()
					for i, index := range sh.Indices {
						n := len(sh.Images) / sh.Samples
						images[fmt.Sprint(index, sh.Images[i*n:(i+1)*n])] = true
					}
				}
			}
		}
		if covered != drawn.Coverage(2, epoch) || covered == unequal().Coverage(2, epoch) {
			t.Errorf("epoch %d covers %#x, want %#x", epoch, covered, drawn.Coverage(2, epoch))
		}
	}
	looks := 0
	for key := range images {
		if strings.HasPrefix(key, fmt.Sprint(slices.Index(drawn.Labels, 2))+" [") {
			looks++
		}
	}
	if looks != 2 {
		t.Errorf("a sample that is drawn 6 times in an epoch has %d looks, want it and its mirror", looks)
	}
}
