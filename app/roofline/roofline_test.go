package roofline_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/roofline"
	"lockstep/compute"
)

func measure(t *testing.T, c roofline.Config) *compare.Kernels {
	t.Helper()
	k, err := roofline.Run(context.Background(), c, compare.Kernels{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// No op of the small model beats its bound by more than what a disturbed measurement of the limits
// explains, none is without time, and the ops make up the step.
func TestLayersAreSane(t *testing.T) {
	for _, isa := range compute.Supported() {
		k := measure(t, roofline.Config{Model: "lenet", Batch: 4, Size: 32, Threads: 1, ISA: isa, Repeats: 3})
		if k.ISA != isa.String() || k.Math != "fast" || len(k.StepSeconds) != 3 || len(k.PeakSamples) != 3 {
			t.Errorf("%v: %+v", isa, k)
		}
		if len(k.Layers) < 15 {
			t.Fatalf("%v: %d layers", isa, len(k.Layers))
		}
		for i, b := range k.Bandwidth {
			if b.PerSecond <= 0 || i > 0 && b.Bytes != 2*k.Bandwidth[i-1].Bytes {
				t.Errorf("%v: bandwidth %+v", isa, k.Bandwidth)
			}
		}
		checkTimings(t, k.Layers, 3)
		first, last := k.Layers[0], k.Layers[len(k.Layers)-1]
		if !strings.HasPrefix(first.Op, "conv") || first.Shape != "4x32x32x3 5x5x3x6 > 4x28x28x6" {
			t.Errorf("%v: first op %s of shape %s", isa, first.Op, first.Shape)
		}
		kinds := map[string]bool{}
		for _, l := range k.Layers {
			kinds[l.Kind] = true
		}
		for _, want := range []string{"conv+relu 5x5", "conv-backward-weights 5x5", "sgd"} {
			if !kinds[want] {
				t.Errorf("%v: kinds %v, want %q", isa, kinds, want)
			}
		}
		if last.Op != "sgd" {
			t.Errorf("%v: last op %s, want the update", isa, last.Op)
		}
	}
}

// The products that are of parts are held to the limit of such products, and others are not.
func TestProductsOfParts(t *testing.T) {
	k := measure(t, roofline.Config{Model: "bert-tiny", Batch: 4, Sequence: 32, Threads: 1,
		ISA: compute.Best(), Math: compute.BF16, Repeats: 3})
	if len(k.PartsSamples) != 3 || k.PartsFLOPs <= 0 {
		t.Errorf("samples %v, limit %v", k.PartsSamples, k.PartsFLOPs)
	}
	parts, all := 0, 0
	for _, l := range k.Layers {
		if l.OfParts {
			parts++
			if !strings.HasPrefix(l.Op, "linear") {
				t.Errorf("%s is of parts", l.Op)
			}
		}
		if strings.HasPrefix(l.Op, "linear") {
			all++
		}
	}
	if parts < 20 || parts == all {
		t.Errorf("%d of %d linear ops are of parts", parts, all)
	}
	checkTimings(t, k.Layers, 3)
}

// A model of texts gets generated texts of the length asked for.
func TestModelOfTexts(t *testing.T) {
	k := measure(t, roofline.Config{Model: "bert-tiny", Batch: 2, Sequence: 16, Threads: 1,
		ISA: compute.Best(), Repeats: 1})
	if len(k.Layers) < 30 || !strings.Contains(k.Layers[0].Shape, "> 32x128") {
		t.Errorf("%d layers, the first %+v, want the embedding of 2 texts of 16 tokens", len(k.Layers),
			k.Layers[0])
	}
	for _, l := range k.Layers {
		if len(l.Seconds) != 1 || l.Bytes <= 0 {
			t.Errorf("%+v", l)
		}
	}
}

func checkTimings(t *testing.T, list []compare.Timing, samples int) {
	t.Helper()
	for _, l := range list {
		if len(l.Seconds) != samples || l.Median <= 0 || l.Bytes <= 0 || l.Shape == "" {
			t.Errorf("%+v", l)
		}
		if !(l.Bound > 0 && l.OfBound > 0) { // how near depends on what else runs
			t.Errorf("%s %s: %v of the bound", l.Op, l.Shape, l.OfBound)
		}
	}
}

func TestBadConfigurations(t *testing.T) {
	good := roofline.Config{Model: "lenet", Batch: 2, Size: 32, Threads: 1, Repeats: 1}
	for want, change := range map[string]func(*roofline.Config){
		"repeats 0: want 1 to 1000":    func(c *roofline.Config) { c.Repeats = 0 },
		"batch 65537: want 1 to 65536": func(c *roofline.Config) { c.Batch = 1<<16 + 1 },
		"5000 threads, want 1 to":      func(c *roofline.Config) { c.Threads = 5000 },
		`no model "lenett"`:            func(c *roofline.Config) { c.Model = "lenett" },
	} {
		c := good
		change(&c)
		_, err := roofline.Run(context.Background(), c, compare.Kernels{}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A measurement ends when it is told to, at the next piece of work.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	pieces := 0
	k, err := roofline.Run(ctx, roofline.Config{Model: "lenet", Batch: 2, Size: 32, Threads: 1, Repeats: 5},
		compare.Kernels{}, func(p roofline.Progress) {
			if pieces++; p.Done == 3 {
				cancel()
			}
		})
	if k != nil || !errors.Is(err, context.Canceled) || pieces != 5 {
		t.Errorf("results %v, error %v after %d pieces", k, err, pieces)
	}
}
