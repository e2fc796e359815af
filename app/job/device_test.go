package job

import (
	"errors"
	"strings"
	"testing"
	"time"

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

func (b *broken) Err() error         { return b.err }
func (b *broken) Info() gpu.Info     { return b.info }
func (b *broken) MemoryInUse() int64 { return b.inUse }
func (b *broken) Peak() float64      { return b.peak }

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
		{errors.New("cuda: no libcuda.so.1"), "LOCKSTEP_CUDA_PATH names more folders with libraries, "},
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
	got := strings.Join(changes(c, was, nil), "\n")
	if want := "--device cuda (math fp32) in place of cpu (math fast): they round differently, so the run " +
		"will not end with the parameters that it would have had"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	was.Config.Device, was.Config.Math = "cuda:1", "fp32"
	if got := changes(c, was, nil); got != nil {
		t.Errorf("from one GPU to another: %q", got)
	}
}

// A resumed run on another kind of GPU, or with other libraries, says so in one line; older checkpoints and
// the same GPU say nothing.
func TestAnotherGPUIsTold(t *testing.T) {
	c := setting.Default().Placed("cuda")
	h200 := &record.GPU{Name: "NVIDIA H200", Driver: 13000, Libraries: []string{"cuDNN 9.14"}}
	for name, test := range map[string]struct {
		was, is *record.GPU
		want    string
	}{
		"equal but for the driver": {&record.GPU{Name: "NVIDIA H200", Driver: 12080,
			Libraries: []string{"cuDNN 9.14"}}, h200, ""},
		"older checkpoint": {nil, h200, ""},
		"other kind": {&record.GPU{Name: "NVIDIA H100"}, h200, "NVIDIA H200 (cuDNN 9.14) in place of " +
			"NVIDIA H100: they may round differently, so the end of the run may not be bit-equal to what " +
			"it would have been"},
		"other libraries": {&record.GPU{Name: "NVIDIA H200", Libraries: []string{"cuDNN 9.10"}}, h200,
			"NVIDIA H200 (cuDNN 9.14) in place of NVIDIA H200 (cuDNN 9.10): they may round differently, so " +
				"the end of the run may not be bit-equal to what it would have been"},
	} {
		if got := strings.Join(changes(c, kept{Config: c, GPU: test.was}, test.is), "\n"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// onGPUs returns workers that take the GPUs of each host in turn.
func onGPUs(workersOf map[string]int, gpus int) (ranks []record.RankStat) {
	for host, workers := range workersOf {
		for i := range workers {
			ranks = append(ranks, record.RankStat{Host: host,
				GPU: &record.RankGPU{Number: i % gpus, GPU: record.GPU{Name: "H100"}}})
		}
	}
	return ranks
}

// seeing returns workers that see a GPU each, which all call number 0.
func seeing(buses ...string) (ranks []record.RankStat) {
	for _, bus := range buses {
		ranks = append(ranks, record.RankStat{Host: "a",
			GPU: &record.RankGPU{Bus: bus, GPU: record.GPU{Name: "H100"}}})
	}
	return ranks
}

// Workers that share a GPU are counted by its host and its place there, or its number.
func TestWorkersOfAGPU(t *testing.T) {
	const contention = " (H100): their times show contention, not scaling"
	for name, test := range map[string]struct {
		ranks   []record.RankStat
		isLab   bool
		workers int
		want    string
	}{
		"8 on 8":               {onGPUs(map[string]int{"a": 8}, 8), false, 1, ""},
		"4 on 2":               {onGPUs(map[string]int{"a": 4}, 2), false, 2, "2 workers shared each GPU"},
		"8 on 1":               {onGPUs(map[string]int{"a": 8}, 1), false, 8, "8 workers shared one GPU"},
		"3 on 2":               {onGPUs(map[string]int{"a": 3}, 2), false, 2, "up to 2 workers shared a GPU"},
		"1 on each of 2 hosts": {onGPUs(map[string]int{"a": 1, "b": 1}, 1), false, 1, ""},
		"2 and 1 of 2 hosts": {onGPUs(map[string]int{"a": 2, "b": 1}, 1), false, 2,
			"up to 2 workers shared a GPU"},
		"2 hosts of a lab":  {onGPUs(map[string]int{"a": 1, "b": 1}, 1), true, 2, "2 workers shared one GPU"},
		"each sees its own": {seeing("0000:3b:00.0", "0000:86:00.0"), false, 1, ""},
		"both see the same": {seeing("0000:3b:00.0", "0000:3b:00.0"), false, 2, "2 workers shared one GPU"},
		"no GPU":            {[]record.RankStat{{Host: "a"}, {Host: "a"}}, false, 0, ""},
	} {
		s := &record.Summary{Outcome: record.Outcome{Device: "cuda", GPU: "H100"}, Ranks: test.ranks}
		addGPUs(s, test.isLab)
		if test.want != "" {
			test.want += contention
		}
		if got := strings.Join(s.Cautions, "\n"); got != test.want || s.GPUWorkers != test.workers {
			t.Errorf("%s: %q of %d workers, want %q of %d", name, got, s.GPUWorkers, test.want, test.workers)
		}
	}
	s := &record.Summary{Outcome: record.Outcome{Device: "cuda", ISA: "avx2"}}
	if text := s.Kernels(); text != s.ISA {
		t.Errorf("kernels %q without a GPU", text)
	}
}

// A run on several kinds of GPU says that one kind may give other bits.
func TestUnlikeGPUs(t *testing.T) {
	ranks := onGPUs(map[string]int{"a": 2}, 2)
	ranks[1].GPU.Name = "H200"
	want := "the workers computed on H100 and on H200: these may round differently, so the same run on one " +
		"kind of GPU may not be bit-equal"
	s := &record.Summary{Ranks: ranks}
	if addGPUs(s, false); strings.Join(s.Cautions, "\n") != want {
		t.Errorf("%q, want %q", s.Cautions, want)
	}
}

// A worker tells the number and the kind of its GPU, and a checkpoint keeps the kind.
func TestAWorkerTellsItsGPU(t *testing.T) {
	info := gpu.Info{Name: "H100", Libraries: []string{"cuDNN 9.14"}}
	w := &worker{config: setting.Config{Device: "cuda:3"}, gpu: &broken{info: info}}
	var r workerResult
	w.addGPU(&r, nil)
	if r.Summary.GPU != "H100" || r.GPU == nil || r.GPU.Number != 3 || r.GPU.Kind() != "H100 (cuDNN 9.14)" {
		t.Errorf("GPU %q, %+v", r.Summary.GPU, r.GPU)
	}
	if k := w.gpuKind(); k == nil || k.Kind() != r.GPU.Kind() {
		t.Errorf("kind %+v", k)
	}
	none := workerResult{}
	if (&worker{}).addGPU(&none, &train.Watched{Steps: 1}); none.GPU != nil || (&worker{}).gpuKind() != nil {
		t.Errorf("a GPU without one: %+v", none.GPU)
	}
}

// A worker tells what its GPU did by its own clock, and the most that was in use of its memory, which it asks
// for once a second.
func TestAWorkerTellsWhatItsGPUDid(t *testing.T) {
	on := &broken{inUse: 5 << 30, peak: 1e12}
	w := &worker{config: setting.Config{Device: "cuda"}, gpu: on}
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
	var r workerResult
	w.addGPU(&r, &train.Watched{Steps: 4, Time: time.Second, Phases: trace.Phases{
		trace.Forward: 300 * time.Millisecond, trace.Backward: 600 * time.Millisecond,
		trace.Optimizer: 50 * time.Millisecond}})
	want := record.GPUTime{Steps: 4, Seconds: 1, Forward: 0.3, Backward: 0.6, Optimizer: 0.05}
	if r.GPU.Time == nil || *r.GPU.Time != want || r.GPU.BytesInUse != 9<<30 {
		t.Errorf("time %+v, %d bytes, want %+v and %d", r.GPU.Time, r.GPU.BytesInUse, want, int64(9<<30))
	}
	if w.config.Workers = 1; w.peakFLOPs() != 1e12 {
		t.Errorf("peak %g, want that of the GPU", w.peakFLOPs())
	}
	if w.config.Workers = 2; w.peakFLOPs() != 0 { // a binary without GPUs counts none, so both have one
		t.Errorf("peak %g of a GPU that two share", w.peakFLOPs())
	}
	if got := new(gpuMemory).look(nil, start); got != 0 {
		t.Errorf("%d bytes in use without a GPU", got)
	}
}

// The work of a run is set against the peak of its GPUs, but not if that of one was not measured.
func TestWorkOnGPUs(t *testing.T) {
	s := &record.Summary{Outcome: record.Outcome{Seconds: 2, GPU: "H100"}}
	s.Ranks = []record.RankStat{{FLOPs: 6e12, PeakFLOPs: 4e12}, {FLOPs: 6e12, PeakFLOPs: 4e12}}
	if w := workOf(s, 0.5); w == nil || w.Peak != 8e12 || w.Of != 0.75 {
		t.Errorf("work %+v, want three quarters of 8 TFLOP/s", w)
	}
	if s.GPUWorkers = 2; workOf(s, 1) != nil {
		t.Error("work of workers that share a GPU has a peak")
	}
	if s.GPUWorkers, s.Ranks[1].PeakFLOPs = 1, 0; workOf(s, 1) != nil {
		t.Error("work has a peak, which is not that of all ranks")
	}
}
