package job

import (
	"errors"
	"strings"
	"testing"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/graph/gpu"
	"lockstep/train"
)

// broken is a GPU that fails when it is told to.
type broken struct {
	device
	err error
}

func (b *broken) Err() error { return b.err }

// counted counts what is passed on.
type counted struct {
	train.Updater
	ready, waits, sums int
}

func (c *counted) Ready(int)                       { c.ready++ }
func (c *counted) Wait() (lo, hi int, err error)   { c.waits++; return 0, 1, nil }
func (c *counted) Sum(counts []int64) (none error) { c.sums++; return nil }

// What a GPU left behind when it failed reaches no other worker, and its error is that of the run.
func TestAFailedGPUUpdatesNobody(t *testing.T) {
	inner, card := &counted{}, &broken{}
	w := &worker{config: setting.Config{Device: "cuda:1"}, gpu: card, beacon: newBeacon()}
	u := watched{Updater: inner, worker: w}
	u.Ready(0)
	if _, _, err := u.Wait(); err != nil {
		t.Fatal(err)
	}
	card.err = errors.New("cuda: cuStreamSynchronize: an illegal memory access (status 700)")
	u.Ready(1)
	_, _, err := u.Wait()
	var failed *DeviceError
	if !errors.As(err, &failed) || !errors.Is(err, card.err) || ExitCode(err) != ExitInternal ||
		!strings.HasPrefix(err.Error(), "--device cuda:1 failed during the run, whose weights are lost: ") {
		t.Errorf("Wait: %v", err)
	}
	if err := u.Sum(nil); !errors.Is(err, card.err) {
		t.Errorf("Sum: %v", err)
	}
	if inner.ready != 1 || inner.waits != 1 || inner.sums != 0 {
		t.Errorf("passed on: %+v", inner)
	}
}

func TestAMissingGPUIsAnErrorOfUsage(t *testing.T) {
	c := setting.Default()
	c.Device = "cuda"
	for _, test := range []struct {
		err  error
		want string
	}{
		{gpu.ErrNotBuilt, "`go build -tags cuda ./cmd/lockstep` makes one that can, and --device cpu needs"},
		{errors.New("cuda: no libcuda.so.1"), "libraries are also looked for in LOCKSTEP_CUDA_PATH, "},
	} {
		err := noGPU(c, test.err)
		if ExitCode(err) != ExitUsage || !strings.Contains(err.Error(), test.want) ||
			!strings.Contains(err.Error(), test.err.Error()) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}

// A resumed run on another kind of device says that it will end elsewhere.
func TestAnotherDeviceIsTold(t *testing.T) {
	was := kept{Config: setting.Default()}
	c := setting.Default().Placed("cuda")
	got := strings.Join(changes(c, was), "\n")
	if want := "--device cuda (math fp32) in place of cpu (math fast): they round differently, so the run " +
		"will not end with the parameters that it would have had"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	was.Config.Device, was.Config.Math = "cuda:1", "fp32"
	if got := changes(c, was); got != nil {
		t.Errorf("from one GPU to another: %q", got)
	}
}

// Workers that share a GPU are told apart by host.
func TestWorkersOfAGPU(t *testing.T) {
	s := &record.Summary{Outcome: record.Outcome{Device: "cuda", GPU: "H100"},
		Ranks: []record.RankStat{{Host: "a"}, {Host: "a"}, {Host: "b"}}}
	if n := crowdOfGPU(s); n != 2 {
		t.Errorf("%d workers of one GPU, want 2", n)
	}
	if s.GPU = ""; crowdOfGPU(s) != 0 {
		t.Error("workers of no GPU")
	}
	if text := s.Kernels(); text != s.ISA {
		t.Errorf("kernels %q without a GPU", text)
	}
}
