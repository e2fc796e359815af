package job

import (
	"fmt"
	"slices"
	"time"

	"lockstep/app/host"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/trace"
)

// Summary is what summary.json holds and `lockstep train --json` prints. Times and phases are
// those of the slowest rank; bytes are sums over ranks; rates are of training without evaluations.
type Summary struct {
	Model            string            `json:"model"`
	Data             string            `json:"data"`
	Generated        bool              `json:"generated"` // the data set is computed, not collected
	Classes          int               `json:"classes"`   // of the data set
	Strategy         string            `json:"strategy"`
	Algorithm        string            `json:"algorithm"`        // of a bucket, if it depends on the size
	AlgorithmChoice  *comm.Tuning      `json:"algorithm_choice"` // why; null: it was given
	BucketTrials     []gradsync.Trial  `json:"bucket_trials"`    // null: there were none
	Link             string            `json:"link"`
	Workers          int               `json:"workers"`
	Threads          int               `json:"threads"`
	Batch            int               `json:"batch"`
	Shards           int               `json:"shards"`
	Accumulate       int               `json:"accumulate"`    // batches of one step
	LearningRate     float64           `json:"learning_rate"` // of a step, which the schedule multiplies
	Wire             string            `json:"wire"`          // form of the gradients on the links
	WireChoice       *gradsync.Verdict `json:"wire_choice"`   // what wires cost and gain; null: not measured
	Seed             uint64            `json:"seed"`
	Steps            int               `json:"steps"`
	Epochs           float64           `json:"epochs"` // completed, with the fraction of the last
	Samples          int64             `json:"samples"`
	Seconds          float64           `json:"seconds"`       // the training loop's wall time
	TrainSeconds     float64           `json:"train_seconds"` // of all parts, without evaluations
	SamplesPerSecond float64           `json:"samples_per_second"`
	StepMS           Quantiles         `json:"step_ms"` // without the first step, if there is another
	Work             *Computation      `json:"work"`    // null: no step
	Loss             Loss              `json:"loss"`
	TrainAccuracy    *float64          `json:"train_accuracy"` // of the last epoch, 0 to 1
	TestAccuracy     *float64          `json:"test_accuracy"`  // last evaluation, 0 to 1; null if none
	TestLoss         *float64          `json:"test_loss"`      // likewise, see train.Evaluation
	TestSamples      int64             `json:"test_samples"`
	DataSHA256       DataHash          `json:"data_sha256"` // of the samples
	Phases           Phases            `json:"phases"`
	BytesSent        int64             `json:"bytes_sent"`
	BytesVectors     int64             `json:"bytes_vectors"` // what those sent stand for, without a codec
	BytesReceived    int64             `json:"bytes_received"`
	PeakRSSBytes     int64             `json:"peak_rss_bytes"` // sum over workers; shared pages in each
	PlannedBytes     int64             `json:"planned_bytes"`  // the same, as told before the first step
	Taken            *host.Taken       `json:"cores_taken"`    // what others took; null: unknown
	ParameterSHA256  string            `json:"parameter_sha256"`
	ISA              string            `json:"isa"`
	Math             string            `json:"math"`
	Directory        string            `json:"directory"`   // the run directory
	Weights          *Start            `json:"weights"`     // what the run started from; null: fresh values
	Saved            *Saved            `json:"saved"`       // the trained weights; null: not written
	TTA              string            `json:"tta"`         // test-time augmentation
	Texts            *TextStat         `json:"texts"`       // null: the samples are images
	Checkpoints      *Checkpoints      `json:"checkpoints"` // what they took; null: there are none
	Resumed          *Resumed          `json:"resumed"`     // what had been done before; null: nothing
	Lost             []Lost            `json:"lost"`        // files that end early; null: none
	For              string            `json:"for"`         // length in training time; "": in steps
	Target           *Target           `json:"target"`      // null: there is none
	Evaluations      []Evaluation      `json:"evaluations"` // those of all ranks if they never exchange
	Cautions         []string          `json:"cautions"`    // to know before believing the rest
	Ranks            []RankStat        `json:"ranks"`
	IsInterrupted    bool              `json:"interrupted"` // the run has not ended, see Unfinished

	// IsUnchanged says that the run had ended before and that there was nothing to do.
	IsUnchanged bool `json:"-"`
}

// missed returns a *MissedError if there is a target that the run has not reached, else nil.
func (s *Summary) missed() error {
	if t := s.Target; t != nil && !t.IsReached {
		return &MissedError{*t}
	}
	return nil
}

// Quantiles of a sample, in the sample's unit.
type Quantiles struct {
	Median float64 `json:"median"`
	P10    float64 `json:"p10"`
	P90    float64 `json:"p90"`
}

// Computation says how much was computed, and how fast against what the machine can do. It counts the
// additions and multiplications of forward and backward passes by the definition of each op, padded
// zeros included: algorithms that need fewer of them may pass the peak.
type Computation struct {
	FLOPs int64   `json:"flops"`            // of all workers
	Rate  float64 `json:"flops_per_second"` // of training, without evaluations
	Peak  float64 `json:"peak_flops"`       // per second, of multiply-adds in registers after the last step
	Of    float64 `json:"fraction_of_peak"`
}

// Loss holds the mean loss of the first and of the last step.
type Loss struct {
	First float64 `json:"first"`
	Last  float64 `json:"last"`
}

// Evaluation is how well the model did on the test set at one time of a run. Loss, accuracy and rate are
// the same on all ranks, so rank 0 tells them, unless ranks never exchange.
type Evaluation struct {
	Rank     int     `json:"rank"`
	Steps    int     `json:"steps"`  // trained so far
	Epochs   float64 `json:"epochs"` // the same in epochs
	Loss     float64 `json:"loss"`   // mean cross entropy
	Accuracy float64 `json:"accuracy"`
	Rate     float64 `json:"learning_rate"` // of the last step; 0 if there was none
	Views    int     `json:"views"`         // of each sample, their logits averaged
	Seconds  float64 `json:"seconds"`       // that it took

	TrainSeconds float64 `json:"train_seconds"` // of training before it, see Target
	WallSeconds  float64 `json:"wall_seconds"`  // of training and evaluations, this one included
}

// TextStat says what became of the texts of a data set.
type TextStat struct {
	Vocabulary int `json:"vocabulary"` // different tokens there can be
	TrainCut   int `json:"train_cut"`  // training texts that were too long and lost their end
	TestCut    int `json:"test_cut"`   // the same of the test texts
}

// Phases are seconds by what the training goroutine was doing; they add up to the wall time.
type Phases struct {
	Forward     float64 `json:"forward"`
	Backward    float64 `json:"backward"`
	SyncExposed float64 `json:"sync_exposed"` // waiting for communication
	Optimizer   float64 `json:"optimizer"`
	Data        float64 `json:"data"` // waiting for the loader
	Evaluation  float64 `json:"evaluation"`
	Other       float64 `json:"other"`
}

// RankStat holds one worker's own figures.
type RankStat struct {
	Rank            int            `json:"rank"`
	PID             int            `json:"pid"`
	Host            string         `json:"host"`
	Steps           int            `json:"steps"`
	Samples         int64          `json:"samples"` // this rank's share
	Seconds         float64        `json:"seconds"`
	FirstStepMS     float64        `json:"first_step_ms"`
	StepMS          Quantiles      `json:"step_ms"`
	Loss            Loss           `json:"loss"`
	Phases          Phases         `json:"phases"`
	FLOPs           int64          `json:"flops"`      // of this rank's passes
	PeakFLOPs       float64        `json:"peak_flops"` // per second, that this rank's threads reach
	BytesSent       int64          `json:"bytes_sent"`
	BytesVectors    int64          `json:"bytes_vectors"` // what those sent stand for, without a codec
	BytesReceived   int64          `json:"bytes_received"`
	PeakRSSBytes    int64          `json:"peak_rss_bytes"`
	Cores           host.CoreTimes `json:"core_seconds"`    // of its machine
	PlannedBytes    int64          `json:"planned_bytes"`   // of memory, before the first step
	OptimizerBytes  int64          `json:"optimizer_bytes"` // of those: its state, of this rank's share
	ArenaBytes      int64          `json:"arena_bytes"`     // the largest program's activation arena
	ISA             string         `json:"isa"`
	ParameterSHA256 string         `json:"parameter_sha256"`
	// Buckets of gradients that were exchanged, which workers tell one by one; null if there were none.
	Buckets []BucketStat `json:"buckets"`
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// firstStep returns the first step's time in milliseconds; 0 if there was none.
func firstStep(times []time.Duration) float64 {
	if len(times) == 0 {
		return 0
	}
	return milliseconds(times[0])
}

// stepQuantiles returns the quantiles of step times in milliseconds, without the first step if
// there is another: it warms up caches and links. All are 0 if there was no step.
func stepQuantiles(times []time.Duration) Quantiles {
	switch len(times) {
	case 0:
		return Quantiles{}
	case 1:
	default:
		times = times[1:]
	}
	sorted := slices.Sorted(slices.Values(times))
	at := func(q float64) float64 {
		// Linear between the two nearest order statistics.
		position := q * float64(len(sorted)-1)
		i := int(position)
		low, high := sorted[i], sorted[min(i+1, len(sorted)-1)]
		return milliseconds(low) + (position-float64(i))*milliseconds(high-low)
	}
	return Quantiles{Median: at(0.5), P10: at(0.1), P90: at(0.9)}
}

func phasesOf(p trace.Phases) Phases {
	return Phases{
		Forward: p[trace.Forward].Seconds(), Backward: p[trace.Backward].Seconds(),
		SyncExposed: p[trace.SyncExposed].Seconds(), Optimizer: p[trace.Optimizer].Seconds(),
		Data: p[trace.Data].Seconds(), Evaluation: p[trace.Evaluation].Seconds(),
		Other: p[trace.Other].Seconds(),
	}
}

// summarize combines the results of all workers, by rank, and what they told. It fails if replicas
// that exchanged their gradients ended with different parameters.
func summarize(c setting.Config, dir rundir.Directory, from *resumption, results []workerResult,
	told *record) (*Summary, error) {
	first := results[0]
	s := &Summary{
		Model: c.Model, Data: c.Data, Generated: first.Generated,
		Classes: first.Classes, Strategy: c.Strategy,
		Algorithm: first.Algorithm, AlgorithmChoice: first.AlgorithmChoice,
		BucketTrials: first.BucketTrials,
		Link:         c.Link, Workers: c.Workers, Threads: c.Threads,
		Batch: c.Batch, Shards: c.Shards, Accumulate: c.Accumulate, LearningRate: c.UpdateRule().LR,
		Wire: first.wire(c), WireChoice: first.Wire, Seed: c.Seed, Steps: first.Steps, Epochs: first.Epochs,
		Loss: first.Loss, TestSamples: first.TestSamples, DataSHA256: first.DataSHA256,
		ParameterSHA256: first.ParameterSHA256, ISA: c.ISA, Math: c.Math,
		Directory: string(dir), Evaluations: told.evaluations,
		Weights: first.Weights, Saved: first.Saved, TTA: c.TTA, Texts: first.Texts,
		Checkpoints: first.Checkpoints, Resumed: from.summary(), Lost: told.lost,
		For: c.For, Target: targetOf(c, told.evaluations), TrainSeconds: first.TrainSeconds,
	}
	slowest := first
	correct, trained := first.TrainCorrect, first.TrainSamples
	for i, r := range results {
		r.Buckets = told.buckets[i]
		s.Ranks = append(s.Ranks, r.RankStat)
		s.Samples += r.Samples
		s.BytesSent += r.BytesSent
		s.BytesVectors += r.BytesVectors
		s.BytesReceived += r.BytesReceived
		s.PlannedBytes += r.PlannedBytes
		if c.IsOneProcess() {
			s.PeakRSSBytes = max(s.PeakRSSBytes, r.PeakRSSBytes) // they share one process
		} else {
			s.PeakRSSBytes += r.PeakRSSBytes
		}
		if r.Seconds > slowest.Seconds {
			slowest = r
		}
		if i > 0 && c.IsIsolated() {
			correct += r.TrainCorrect
			trained += r.TrainSamples
		}
		if !c.IsIsolated() && r.ParameterSHA256 != first.ParameterSHA256 {
			return nil, fmt.Errorf("job: replicas differ: rank %d ended with parameters %s, "+
				"rank 0 with %s", i, r.ParameterSHA256, first.ParameterSHA256)
		}
	}
	s.Seconds, s.StepMS, s.Phases = slowest.Seconds, slowest.StepMS, slowest.Phases
	s.Work = workOf(s)
	s.Taken = takenOf(s.Ranks, c.IsOneProcess())
	if seconds := s.trained(); seconds > 0 {
		s.SamplesPerSecond = float64(s.Samples) / seconds
	}
	if s.Resumed != nil {
		s.Samples += s.Resumed.Samples
	}
	s.TrainAccuracy = ratio(correct, trained)
	s.TestAccuracy = ratio(first.TestCorrect, first.TestSamples)
	if first.TestSamples > 0 {
		s.TestLoss = &first.TestLoss
	}
	s.Cautions = s.cautions()
	return s, nil
}

// trained returns the seconds of the training loop without evaluations, which all rates are over.
func (s *Summary) trained() float64 { return s.Seconds - s.Phases.Evaluation }

// workOf adds up what the ranks computed; nil if that is nothing.
func workOf(s *Summary) *Computation {
	var w Computation
	for _, r := range s.Ranks {
		w.FLOPs += r.FLOPs
		w.Peak += r.PeakFLOPs
	}
	time := s.trained()
	if w.FLOPs == 0 || time <= 0 || w.Peak == 0 {
		return nil
	}
	w.Rate = float64(w.FLOPs) / time
	w.Of = w.Rate / w.Peak
	return &w
}

// wire returns the form that gradients had in the end.
func (r workerResult) wire(c setting.Config) string {
	switch {
	case r.Wire != nil:
		return r.Wire.Chosen()
	case c.GradientWire().IsAuto():
		return gradsync.Wire{}.String() // nothing to choose between
	}
	return c.Wire
}

// ratio returns part/whole, or nil if there is nothing to divide.
func ratio(part, whole int64) *float64 {
	if whole == 0 {
		return nil
	}
	r := float64(part) / float64(whole)
	return &r
}
