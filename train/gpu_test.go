//go:build cuda && linux && amd64

package train_test

import (
	"context"
	"errors"
	"math"
	"os/exec"
	"testing"

	"lockstep/compute"
	"lockstep/graph/gpu"
	"lockstep/graph/gpu/emulate"
	"lockstep/optim"
	"lockstep/trace"
	"lockstep/train"
)

var (
	_ train.Resident  = (*gpu.Executor)(nil)
	_ train.Stopwatch = (*gpu.Executor)(nil)
)

// onGPU returns c with an executor on a GPU, or an emulated one.
func onGPU(t *testing.T, c train.Config, on gpu.Config) train.Config {
	t.Helper()
	e, err := gpu.Open(on)
	if err != nil {
		dir, failed := emulate.Folder()
		if errors.Is(failed, exec.ErrNotFound) {
			t.Skipf("%v; %v", err, failed)
		}
		if failed != nil {
			t.Fatal(failed)
		}
		t.Setenv("LOCKSTEP_CUDA_PATH", dir)
		on.Plain = true
		if e, err = gpu.Open(on); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(e.Close)
	c.Executor = e
	return c
}

// trained is the result of c on one worker.
func trainedAlone(t *testing.T, c train.Config) (train.Result, diary) {
	t.Helper()
	var d diary
	done, err := alone(t, c).Run(context.Background(), &d)
	if err != nil {
		t.Fatal(err)
	}
	return done, d
}

// A run on a GPU follows that on the host, and again has the same bits.
func TestTrainingOnGPU(t *testing.T) {
	image := example(t, "lenet", 75, 20)
	image.Epochs, image.Steps, image.EvalEvery = 2, 0, 1
	followed := example(t, "resnet20", 24, 8)
	followed.Batch, followed.Lookahead = 12, optim.LookaheadConfig{Every: 2, Alpha: 0.5}
	followed.Steps = 4
	for name, c := range map[string]train.Config{"lenet": image, "resnet20": followed, "bert": textRun(t)} {
		_, want := trainedAlone(t, c)
		first, got := trainedAlone(t, onGPU(t, c, gpu.Config{}))
		second, _ := trainedAlone(t, onGPU(t, c, gpu.Config{}))
		if first.ParameterSHA256 != second.ParameterSHA256 {
			t.Errorf("%s: parameters %s, and %s again", name, first.ParameterSHA256, second.ParameterSHA256)
		}
		if seen := first.Watched; seen == nil || seen.Phases[trace.Forward] <= 0 ||
			seen.Phases[trace.Backward] <= 0 || seen.Phases[trace.Optimizer] <= 0 {
			t.Errorf("%s: the GPU's clock saw %+v", name, seen)
		}
		for i := range want.steps {
			a, b := want.steps[i].Loss, got.steps[i].Loss
			if math.Abs(a-b) > 2e-3*math.Abs(a) {
				t.Errorf("%s: loss of step %d is %v, on the host %v", name, i, b, a)
			}
		}
	}
}

// Two workers that share a GPU end with the bits of one.
func TestOneHashOnGPU(t *testing.T) {
	c := example(t, "lenet", 75, 20)
	c.Plan, c.Steps, c.Clip = cut(t, 2, 1), 4, 0.5
	one, _ := trainedAlone(t, onGPU(t, c, gpu.Config{}))
	c.Plan = cut(t, 2, 2)
	hub := newHub(c.Plan)
	hashes := make(chan string, 2)
	for rank := range 2 {
		c := onGPU(t, c, gpu.Config{})
		cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cpu.Close)
		c.Rank, c.CPU = rank, cpu
		c.Updater = func(l *train.Loop) (train.Updater, error) { return hub.join(rank, l) }
		l, err := train.New(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		go func() {
			done, err := l.Run(context.Background(), nil)
			if err != nil {
				t.Error(err)
			}
			hashes <- done.ParameterSHA256
		}()
	}
	for range 2 {
		if got := <-hashes; got != one.ParameterSHA256 {
			t.Errorf("parameters %s, of one worker %s", got, one.ParameterSHA256)
		}
	}
}
