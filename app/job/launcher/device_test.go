package launcher

import (
	"errors"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/worker"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/graph/gpu"
)

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
		err := worker.NoGPU(c, test.err)
		if job.ExitCode(err) != job.ExitUsage || !strings.Contains(err.Error(), test.want) ||
			!strings.Contains(err.Error(), test.err.Error()) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}

// A resumed run on another kind of device says that it will end elsewhere.
func TestAnotherDeviceIsTold(t *testing.T) {
	was := job.Kept{Config: setting.Default()}
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
		"4 on 2":               {onGPUs(map[string]int{"a": 4}, 2), false, 2, "up to 2 workers shared a GPU"},
		"8 on 1":               {onGPUs(map[string]int{"a": 8}, 1), false, 8, "up to 8 workers shared a GPU"},
		"3 on 2":               {onGPUs(map[string]int{"a": 3}, 2), false, 2, "up to 2 workers shared a GPU"},
		"1 on each of 2 hosts": {onGPUs(map[string]int{"a": 1, "b": 1}, 1), false, 1, ""},
		"2 and 1 of 2 hosts": {onGPUs(map[string]int{"a": 2, "b": 1}, 1), false, 2,
			"up to 2 workers shared a GPU"},
		"2 hosts of a lab": {onGPUs(map[string]int{"a": 1, "b": 1}, 1), true, 2,
			"up to 2 workers shared a GPU"},
		"each sees its own": {seeing("0000:3b:00.0", "0000:86:00.0"), false, 1, ""},
		"both see the same": {seeing("0000:3b:00.0", "0000:3b:00.0"), false, 2,
			"up to 2 workers shared a GPU"},
		"no GPU": {[]record.RankStat{{Host: "a"}, {Host: "a"}}, false, 0, ""},
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
