package worker

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/graph/gpu"
	"lockstep/trace"
	"lockstep/train"
)

// broken is a GPU that fails when it is told to.
type broken struct {
	device
	err   error
	info  gpu.Info
	inUse int64
	peak  float64
}

func (b *broken) Err() error { return b.err }

func (b *broken) Info() gpu.Info { return b.info }

func (b *broken) MemoryInUse() int64 { return b.inUse }

func (b *broken) Peak() float64 { return b.peak }

// counted counts what is passed on.
type counted struct {
	train.Updater
	ready, waits, sums int
}

func (c *counted) Ready(int) { c.ready++ }

func (c *counted) Wait() (lo, hi int, err error) { c.waits++; return 0, 1, nil }

func (c *counted) Sum(counts []int64) (none error) { c.sums++; return nil }

// What a GPU left behind when it failed reaches no other worker, and its error is that of the run.
func TestAFailedGPUUpdatesNobody(t *testing.T) {
	inner, card := &counted{}, &broken{}
	w := &Worker{Seat: job.Seat{Config: setting.Config{Device: "cuda:1"}, Beacon: job.NewBeacon()},
		processor: processor{gpu: card}}
	u := watched{Updater: inner, worker: w}
	u.Ready(0)
	if _, _, err := u.Wait(); err != nil {
		t.Fatal(err)
	}
	card.err = errors.New("cuda: cuStreamSynchronize: an illegal memory access (status 700)")
	u.Ready(1)
	_, _, err := u.Wait()
	if !errors.Is(err, card.err) || job.ExitCode(err) != job.ExitInternal ||
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

// A worker tells the number and the kind of its GPU.
func TestAWorkerTellsItsGPU(t *testing.T) {
	info := gpu.Info{Name: "H100", Libraries: []string{"cuDNN 9.14"}}
	w := &Worker{Seat: job.Seat{Config: setting.Config{Device: "cuda:3"}},
		processor: processor{gpu: &broken{info: info}}}
	var r job.Result
	w.addGPU(&r, nil)
	if r.Summary.GPU != "H100" || r.GPU == nil || r.GPU.Number != 3 || r.GPU.Kind() != "H100 (cuDNN 9.14)" {
		t.Errorf("GPU %q, %+v", r.Summary.GPU, r.GPU)
	}
	none := job.Result{}
	if (&Worker{}).addGPU(&none, &train.Watched{Steps: 1}); none.GPU != nil {
		t.Errorf("a GPU without one: %+v", none.GPU)
	}
}

// A worker tells what its GPU did by its own clock, and the most that was in use of its memory, which it asks
// for once a second.
func TestAWorkerTellsWhatItsGPUDid(t *testing.T) {
	on := &broken{inUse: 5 << 30, peak: 1e12}
	w := &Worker{Seat: job.Seat{Config: setting.Config{Device: "cuda"}}, processor: processor{gpu: on}}
	start := time.Unix(1_700_000_000, 0)
	for i, inUse := range []int64{5, 8, 6} {
		on.inUse = inUse << 30
		now := start.Add(time.Duration(i) * time.Second)
		w.gpuMemory.look(w.gpu, now)
		on.inUse = 99 << 30
		if got := w.gpuMemory.look(w.gpu, now.Add(time.Second-1)); got != inUse<<30 {
			t.Errorf("%d bytes in use, want %d", got, inUse<<30)
		}
	}
	on.inUse = 9 << 30 // at the end
	var r job.Result
	w.addGPU(&r, &train.Watched{Steps: 4, Time: time.Second, Phases: trace.Phases{
		trace.Forward: 300 * time.Millisecond, trace.Backward: 600 * time.Millisecond,
		trace.Optimizer: 50 * time.Millisecond}})
	want := record.GPUTime{Steps: 4, Seconds: 1, Forward: 0.3, Backward: 0.6, Optimizer: 0.05}
	if r.GPU.Time == nil || *r.GPU.Time != want || r.GPU.BytesInUse != 9<<30 {
		t.Errorf("time %+v, %d bytes, want %+v and %d", r.GPU.Time, r.GPU.BytesInUse, want, int64(9<<30))
	}
	if w.Config.Workers = 1; w.peakFLOPs() != 1e12 {
		t.Errorf("peak %g, want that of the GPU", w.peakFLOPs())
	}
	if w.Config.Workers = 2; w.peakFLOPs() != 0 { // a binary without GPUs counts none, so both have one
		t.Errorf("peak %g of a GPU that two share", w.peakFLOPs())
	}
	if got := new(gpuMemory).look(nil, start); got != 0 {
		t.Errorf("%d bytes in use without a GPU", got)
	}
}
