package launcher

import (
	"testing"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/setting"
)

// Seconds, those of training and the speed are of one worker: rank 0, which may evaluate alone, or the
// slowest of workers on their own.
func TestTimesAreOfOneClock(t *testing.T) {
	worker := func(rank int, seconds, evaluation float64) job.Result {
		return job.Result{RankStat: record.RankStat{Rank: rank, Samples: 400, Seconds: seconds,
			Phases: record.Phases{Evaluation: evaluation}},
			Summary: record.Summary{TrainSeconds: seconds - evaluation}}
	}
	results := []job.Result{worker(0, 10, 6), worker(1, 11, 1)}
	for strategy, want := range map[string][2]float64{"ps-async": {10, 4}, "ddp": {10, 4}, "none": {11, 10}} {
		s, err := summarize(setting.Config{Workers: 2, Strategy: strategy}, "", nil, results, &heard{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Seconds != want[0] || s.TrainSeconds != want[1] || s.SamplesPerSecond != 800/want[1] {
			t.Errorf("%s: %v s, %v of training, %v samples/s; want %v and 800 samples in the latter",
				strategy, s.Seconds, s.TrainSeconds, s.SamplesPerSecond, want)
		}
	}
}

// The planned memory is that of the start, also after a worker was lost.
func TestPlanOfARunThatLostAWorker(t *testing.T) {
	worker := job.Result{RankStat: record.RankStat{PlannedBytes: 30},
		Summary: record.Summary{PlannedBytes: 100}}
	s, err := summarize(setting.Config{Workers: 3, Strategy: "ps-async"}, "", nil,
		[]job.Result{worker, worker}, &heard{servers: []record.ServerStat{{Rank: 3, PlannedBytes: 10}}})
	if err != nil || s.PlannedBytes != 100 {
		t.Errorf("%v: %d bytes planned, the run had planned 100 for three workers", err, s.PlannedBytes)
	}
}

// Rates are over training without evaluations, samples as well as operations.
func TestRatesLeaveOutEvaluations(t *testing.T) {
	result := job.Result{RankStat: record.RankStat{Samples: 800, Seconds: 10, FLOPs: 2e9, PeakFLOPs: 1e9,
		Phases: record.Phases{Forward: 1, Backward: 1, Evaluation: 8}}}
	s, err := summarize(setting.Config{Workers: 1}, "", nil, []job.Result{result}, &heard{coreShare: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if s.SamplesPerSecond != 400 || s.Work.Rate != 1e9 {
		t.Errorf("%v samples/s, %v operations/s, want 400 and 1e9", s.SamplesPerSecond, s.Work.Rate)
	}
	if s.Work.Peak != 5e8 {
		t.Errorf("a peak of %v operations/s for a thread with half a core, want 5e8", s.Work.Peak)
	}
	result.Phases.Evaluation, result.Seconds, result.Samples = 0, 0, 0
	s, err = summarize(setting.Config{Workers: 1}, "", nil, []job.Result{result}, &heard{})
	if err != nil || s.SamplesPerSecond != 0 {
		t.Errorf("%v samples/s of nothing", s.SamplesPerSecond)
	}
}
