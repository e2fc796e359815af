//go:build cuda && linux && amd64

package roofline_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"lockstep/app/report"
	"lockstep/app/roofline"
	"lockstep/graph/gpu/emulate"
	"lockstep/internal/cuda"
)

// emulated makes a machine without a GPU emulate one.
func emulated(t *testing.T) {
	t.Helper()
	if d, err := cuda.Open(0); err == nil {
		d.Close()
		return
	}
	dir, err := emulate.Folder()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(cuda.PathVariable, dir)
}

// Every op of a step on a GPU is timed beside the limits of the GPU, and so are the transfer of the samples
// and the update.
func TestGPU(t *testing.T) {
	emulated(t)
	for _, c := range []roofline.Config{
		{Model: "lenet", Batch: 2, Size: 32, GPU: &roofline.GPU{Math: "fp32", Plain: true}},
		{Model: "bert-tiny", Batch: 2, Sequence: 4, GPU: &roofline.GPU{Math: "bf16", Plain: true}},
	} {
		c.Repeats = 2
		k := measure(t, c)
		if k.GPU == nil || k.Math != c.GPU.Math || len(k.StepSeconds) != 2 || k.PeakFLOPs <= 0 ||
			len(k.Bandwidth) != 1 {
			t.Errorf("%+v", k)
		}
		for i, l := range k.Layers {
			if len(l.Seconds) != 2 || l.Median <= 0 || l.Bytes <= 0 || l.Bound <= 0 || l.Kind == "" {
				t.Errorf("op %d: %+v", i, l)
			}
		}
		if first, last := k.Layers[0].Op, k.Layers[len(k.Layers)-1].Op; first != "upload" || last != "sgd" {
			t.Errorf("from %s to %s", first, last)
		}
		var text strings.Builder
		if err := report.Kernels(k, false).Text(&text); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{k.GPU.Name + ", math " + c.GPU.Math, "two events of the driver",
			"A step takes "} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("no %q in %s", want, text.String())
			}
		}
	}
}
