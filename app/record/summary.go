package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/internal/spelling"
)

// Summary is what summary.json holds and `lockstep train --json` prints. Times and phases are
// those of rank 0 or, of workers that never exchange, of the slowest; bytes are sums over ranks; rates are
// of training without evaluations.
type Summary struct {
	Schema          int               `json:"schema"`           // version of the record, 0 before the third
	Model           string            `json:"model"`            // network, by name
	Data            string            `json:"data"`             // data set, by name or path
	Generated       bool              `json:"generated"`        // the data set is computed, not collected
	Classes         int               `json:"classes"`          // of the data set
	Strategy        string            `json:"strategy"`         // how gradients were exchanged
	Servers         []ServerStat      `json:"servers"`          // parameter servers; null: there are none
	ServerPlace     string            `json:"server_place"`     // workers or apart; "": there are none
	Algorithm       string            `json:"algorithm"`        // of a bucket, if it depends on the size
	AlgorithmChoice *comm.Tuning      `json:"algorithm_choice"` // why; null: it was given
	Link            string            `json:"link"`             // between workers
	StrategyChoice  *StrategyChoice   `json:"strategy_choice"`  // why; null: given, or resumed with
	GradientBytes   int64             `json:"gradient_bytes"`   // of the whole gradient as fp32
	Tensors         int               `json:"tensors"`          // of the gradient
	Gradients       []GradientStat    `json:"gradients"`        // of each, as rank 0 saw them become final
	Workers         int               `json:"workers"`          // replicas
	Threads         int               `json:"threads"`          // of each worker
	SlowWorkers     string            `json:"slow_workers"`     // RANK:FACTOR or RANK:TIME; "": none
	SlowLoader      string            `json:"slow_loader"`      // FACTOR or TIME of a batch; "": not slowed
	Batch           int               `json:"batch"`            // samples over all workers
	Shards          int               `json:"shards"`           // virtual shards of a batch
	Accumulate      int               `json:"accumulate"`       // batches of one step
	LearningRate    float64           `json:"learning_rate"`    // of a step, which the schedule multiplies
	Wire            string            `json:"wire"`             // compression of gradients
	WireChoice      *gradsync.Verdict `json:"wire_choice"`      // what wires cost; null: not measured
	Seed            uint64            `json:"seed"`             // seed of all random numbers
	Epochs          float64           `json:"epochs"`           // completed, with the fraction of the last
	Outcome
	TrainSeconds     float64      `json:"train_seconds"`      // of all parts, without evaluations
	SamplesPerSecond float64      `json:"samples_per_second"` // mean of training, without evaluations
	StepMS           Quantiles    `json:"step_ms"`            // without the first step, if there is another
	Work             *Computation `json:"work"`               // null: no step, or its peak is not known
	Loss             Loss         `json:"loss"`               // of the steps
	TestLoss         *float64     `json:"test_loss"`          // of the last evaluation; null: none
	DataSHA256       DataHash     `json:"data_sha256"`        // of the samples
	Phases           Phases       `json:"phases"`             // adding up to seconds
	BytesVectors     int64        `json:"bytes_vectors"`      // bytes_sent without compression
	BusiestBytes     int64        `json:"busiest_bytes"`      // sent and received by the process with most
	ServerBytes      int64        `json:"server_bytes"`       // the same of the busiest server; 0: none
	PlannedBytes     int64        `json:"planned_bytes"`      // of memory of all, before the first step
	Math             string       `json:"math"`               // how products were computed, on the device
	Directory        string       `json:"directory"`          // the run directory
	Weights          *Start       `json:"weights"`            // what it started from; null: random values
	Saved            *Saved       `json:"saved"`              // the trained weights; null: not written
	Best             *Best        `json:"best,omitempty"`     // by validation samples; null: nothing chose
	TTA              string       `json:"tta"`                // test-time augmentation
	Texts            *TextStat    `json:"texts"`              // null: the samples are images
	Averages         *Averages    `json:"averages"`           // of the weights; null: none were averaged
	Checkpoints      *Checkpoints `json:"checkpoints"`        // what they took; null: there are none
	Resumed          *Resumed     `json:"resumed"`            // what had been done before; null: nothing
	Restarts         []Restart    `json:"restarts"`           // after losses; null: none
	Lost             []Lost       `json:"lost"`               // files that end early; null: none
	Async            *Async       `json:"async"`              // null: updates were synchronous
	LostWorkers      []LostWorker `json:"lost_workers"`       // without which the run went on; null: none
	Moves            []Move       `json:"moves"`              // of shards between workers; null: none
	For              string       `json:"for"`                // length in training time; "": in steps
	Target           *Target      `json:"target"`             // null: there is none
	Scores           *Scores      `json:"scores,omitempty"`   // of the last evaluation; null: not told
	Evaluations      []Evaluation `json:"evaluations"`        // those of all ranks if they never exchange
	Cautions         []string     `json:"cautions"`           // to know before believing the rest
	Ranks            []RankStat   `json:"ranks"`              // by rank
	// IsInterrupted says that the run ended early, for whatever reason, or goes on. What only the end tells
	// is 0 or null.
	IsInterrupted bool      `json:"interrupted"`
	Standing      *Standing `json:"standing"` // where it can go on; null: it has ended, or cannot
	// StepsSHA256 is that of steps.jsonl at the end of the run, of no bytes if there was none; "": not known.
	StepsSHA256 string `json:"steps_sha256,omitempty"`
	// Seal is the SHA-256 of this file without blanks between tokens, zeros in its place; "": older versions.
	Seal string `json:"file_sha256,omitempty"`
	// IsChanged says that the file from which it was read has not its seal.
	IsChanged bool `json:"-"`

	// IsUnchanged says that the run had ended before and that there was nothing to do.
	IsUnchanged bool `json:"-"`
}

// Trained returns the seconds of training without evaluations, of the last part of a resumed run: the time
// base of all rates.
func (s *Summary) Trained() float64 { return s.Seconds - s.Phases.Evaluation }

// Outcome holds the figures that a summary and a run of a benchmark have in common.
type Outcome struct {
	Seconds         float64  `json:"seconds"`          // the training loop's wall time, with evaluations
	Steps           int      `json:"steps"`            // done
	Samples         int64    `json:"samples"`          // trained on by all workers
	TrainAccuracy   *float64 `json:"train_accuracy"`   // of the last epoch, 0 to 1; null: none
	TestAccuracy    *float64 `json:"test_accuracy"`    // of the last evaluation, 0 to 1; null: none
	TestSamples     int64    `json:"test_samples"`     // of an evaluation
	Guess           *Guess   `json:"guess,omitempty"`  // what guessing gets on them; null: not told
	BytesSent       int64    `json:"bytes_sent"`       // by all ranks together
	BytesReceived   int64    `json:"bytes_received"`   // by all ranks together
	PeakRSSBytes    int64    `json:"peak_rss_bytes"`   // sum over processes; shared memory once
	Taken           *Taken   `json:"cores_taken"`      // what others took; null: unknown
	Joules          float64  `json:"joules,omitempty"` // that the processors took, all programs; 0: not told
	ParameterSHA256 string   `json:"parameter_sha256"` // of the weights at the end
	ISA             string   `json:"isa"`              // kernel path; several, if workers had different ones
	Device          string   `json:"device,omitempty"` // cpu, cuda or cuda:N; "": not told, cpu
	GPU             string   `json:"gpu,omitempty"`    // its name, if it computed; "": none did
	// GPUWorkers is the number of workers on the GPU that has most of them; 0: not told, or none computed.
	GPUWorkers int `json:"gpu_workers,omitempty"`
	// GPUs is the number of GPUs that computed; 0: not told, or none did.
	GPUs int `json:"gpus,omitempty"`
	// Batches is the number of those that another program has; with more steps it trains on them again.
	Batches int `json:"batches,omitempty"`
	// Encryption of the links between workers: tls, none, or not needed (one host).
	Encryption string `json:"encryption,omitempty"`
	// Streams is the number of connections of each link by TCP between workers; 0: there is no such link.
	Streams int `json:"streams,omitempty"`
}

// Kernels words what computed: the kernel path of the processor, and with a GPU that of what it left to the
// processor.
func (o Outcome) Kernels() string {
	if o.GPU == "" {
		return o.ISA
	}
	return fmt.Sprintf("%s on %s, %s beside it", o.Device, o.GPU, o.ISA)
}

// Computer names what decides how results are rounded, besides the math: any processor, or a kind of GPU.
func (o Outcome) Computer() string { return cmp.Or(o.GPU, "processor") }

// Quantiles of a sample, in the sample's unit.
type Quantiles struct {
	Median float64 `json:"median"` // half are below
	P10    float64 `json:"p10"`    // a tenth is below
	P90    float64 `json:"p90"`    // nine tenths are below
}

// Computation says how much was computed, and how fast against what the machine can do. It counts the
// additions and multiplications of forward and backward passes by the definition of each op, padded
// zeros included: algorithms that need fewer of them may pass the peak. Rate and fraction are of those that
// the network is made of (FLOPs), not of what was computed again to save memory, which HardwareFLOPs has too.
type Computation struct {
	FLOPs         int64 `json:"flops"`                   // of all workers
	HardwareFLOPs int64 `json:"hardware_flops,omitzero"` // 0: an older version did not tell

	Rate float64 `json:"flops_per_second"` // of training, without evaluations
	Peak float64 `json:"peak_flops"`       // of multiply-adds in registers on all cores, or products of GPUs
	Of   float64 `json:"fraction_of_peak"` // rate / peak
}

// Again says how much of the computation was done again to save memory, to be put behind a sentence; "" if
// nothing was.
func (c *Computation) Again() string {
	if c.HardwareFLOPs <= c.FLOPs {
		return ""
	}
	return fmt.Sprintf("; %.3g TFLOP more were computed again to save memory",
		float64(c.HardwareFLOPs-c.FLOPs)/1e12)
}

// Loss holds the mean loss of the first and of the last step. A last batch that is smaller than the others
// is filled up with the loss of the step before: a remainder of few samples is not the loss of the run.
type Loss struct {
	First float64 `json:"first"` // mean over the first step
	Last  float64 `json:"last"`  // mean over the last batch's worth of samples
}

// growth is the multiple of the loss of guessing above which a loss counts as grown. An overfitted model may
// have a high loss on test samples, and a small last batch may have any loss, but rarely both.
const growth = 2

// HasGrown reports whether training made the loss worse: the last is above the first and above growth times
// ln(classes), the loss of a model that gives every class the same probability. Of fewer than two classes,
// which is also to say unknown, it is not told.
func (l Loss) HasGrown(classes int) bool {
	return classes >= 2 && l.Last > max(l.First, growth*math.Log(float64(classes)))
}

// Averages says how workers that update their own weights (inner steps) averaged them, and what travelled.
type Averages struct {
	Every    int     `json:"every"`          // inner steps from one average to the next
	Parts    int     `json:"parts"`          // of the weights, averaged in turn
	Overlap  int     `json:"overlap"`        // inner steps while an average was on its way
	LR       float64 `json:"outer_lr"`       // learning rate of the outer optimizer
	Momentum float64 `json:"outer_momentum"` // momentum of the outer optimizer
	Rounds   int     `json:"rounds"`         // averages of the part with the most
	Sent     int64   `json:"bytes_sent"`     // bytes of averages, by all ranks together
	Exposed  float64 `json:"exposed"`        // seconds in which rank 0's training waited for averages
	Hidden   float64 `json:"hidden"`         // the rest of the seconds that rank 0's averages took
}

// TextStat says what became of the texts of a data set.
type TextStat struct {
	Vocabulary int `json:"vocabulary"` // different tokens there can be
	TrainCut   int `json:"train_cut"`  // training texts too long, cut when they are read; 0 for an evaluation
	TestCut    int `json:"test_cut"`   // test texts too long
}

// Phases are seconds by what the training goroutine was doing; they add up to the wall time.
type Phases struct {
	Forward     float64 `json:"forward"`      // forward passes
	Backward    float64 `json:"backward"`     // backward passes
	SyncExposed float64 `json:"sync_exposed"` // waiting for the exchange: exposed communication
	Optimizer   float64 `json:"optimizer"`    // updating weights
	Data        float64 `json:"data"`         // waiting for the loader
	Evaluation  float64 `json:"evaluation"`   // on the test set
	Other       float64 `json:"other"`        // the rest
}

// Add adds the seconds of q.
func (p *Phases) Add(q Phases) {
	p.Forward += q.Forward
	p.Backward += q.Backward
	p.SyncExposed += q.SyncExposed
	p.Optimizer += q.Optimizer
	p.Data += q.Data
	p.Evaluation += q.Evaluation
	p.Other += q.Other
}

// ByName returns the seconds of all phases by their names in JSON.
func (p Phases) ByName() map[string]float64 {
	return map[string]float64{"forward": p.Forward, "backward": p.Backward, "sync_exposed": p.SyncExposed,
		"optimizer": p.Optimizer, "data": p.Data, "evaluation": p.Evaluation, "other": p.Other}
}

// RankStat holds one worker's own figures.
type RankStat struct {
	Rank            int       `json:"rank"`             // number of the worker
	PID             int       `json:"pid"`              // its process
	Host            string    `json:"host"`             // where it ran
	Steps           int       `json:"steps"`            // done
	Samples         int64     `json:"samples"`          // this rank's share
	Seconds         float64   `json:"seconds"`          // its training loop's wall time
	FirstStepMS     float64   `json:"first_step_ms"`    // time of the first step
	StepMS          Quantiles `json:"step_ms"`          // of the other steps
	Loss            Loss      `json:"loss"`             // of its steps
	Phases          Phases    `json:"phases"`           // adding up to seconds
	FLOPs           int64     `json:"flops"`            // of this rank's passes
	HardwareFLOPs   int64     `json:"hardware_flops"`   // with what was computed again
	PeakFLOPs       float64   `json:"peak_flops"`       // per second, that its threads reach, or its GPU
	BytesSent       int64     `json:"bytes_sent"`       // to its peers
	BytesVectors    int64     `json:"bytes_vectors"`    // bytes_sent without compression
	BytesReceived   int64     `json:"bytes_received"`   // from its peers
	PeakRSSBytes    int64     `json:"peak_rss_bytes"`   // of its process; its part of shared memory
	Cores           CoreTimes `json:"core_seconds"`     // of its machine
	PlannedBytes    int64     `json:"planned_bytes"`    // of memory, before the first step
	OptimizerBytes  int64     `json:"optimizer_bytes"`  // of those: its state, of this rank's share
	ArenaBytes      int64     `json:"arena_bytes"`      // the arenas of activations
	ISA             string    `json:"isa"`              // kernel path
	ParameterSHA256 string    `json:"parameter_sha256"` // of its weights at the end
	// GPU computed the passes of this rank; null: the processor did.
	GPU *RankGPU `json:"gpu,omitempty"`
	// Clock of its host; null: not known.
	Clock *Clock `json:"clock,omitempty"`
	// Buckets of gradients that were exchanged, which workers tell one by one; null if there were none.
	Buckets []BucketStat `json:"buckets"`
}

// BucketStat says what exchanging one bucket of gradients took on a rank, in all steps of this part of
// the run. Buckets are in the order in which backward completes them.
type BucketStat struct {
	Parameters int      `json:"parameters"` // tensors in it
	Bytes      int64    `json:"bytes"`      // of their gradients
	Steps      int      `json:"steps"`      // exchanges
	Sent       int64    `json:"sent"`       // bytes, in all steps
	Received   int64    `json:"received"`   // bytes, in all steps
	Exposed    Quantity `json:"exposed"`    // in which the training thread waited
	// The rest of its time; null with parameter servers, where that is mostly a wait for other workers.
	Hidden *Quantity `json:"hidden"`
}

// GradientStat is one parameter's place in the flat gradient vector, in floats, and the mean time after which
// the backward pass of a worker's last shard has made its gradient final. They are in the order in which
// that happens.
type GradientStat struct {
	Offset int     `json:"offset"` // of the first float
	Len    int     `json:"len"`    // floats
	Ready  float64 `json:"ready"`  // seconds since that pass began
}

// Quantity is a time in all steps, and in one of them on average.
type Quantity struct {
	Seconds     float64 `json:"seconds"`      // in all steps
	StepSeconds float64 `json:"step_seconds"` // of one step, on average
}

// Target says whether a run has reached the accuracy that it was to reach, and what it took by the
// evaluation that showed it, or by the last one. The clock is that of rank 0.
//
// Training seconds begin before the first step, when programs, memory and the data set are ready and
// all workers have met, and count all wall time from there but that of evaluations: waiting for data
// and for other workers, the preparation of layers by training data, copying for checkpoints. Those
// of all parts of a resumed run count. Evaluation seconds are those of all evaluations so far.
type Target struct {
	Accuracy          float64 `json:"accuracy"`           // to be reached, 0 to 1
	IsReached         bool    `json:"is_reached"`         // an evaluation showed it
	Best              float64 `json:"best"`               // accuracy of all evaluations
	Steps             int     `json:"steps"`              // until then
	Epochs            float64 `json:"epochs"`             // until then
	TrainSeconds      float64 `json:"train_seconds"`      // until then, without evaluations
	EvaluationSeconds float64 `json:"evaluation_seconds"` // of all evaluations so far
}

// Start is what a run started from.
type Start struct {
	Path    string   `json:"path"`    // file or folder
	SHA256  string   `json:"sha256"`  // of the file; of several, see checkpoint.Reader
	Tensors int      `json:"tensors"` // loaded
	Fresh   []string `json:"fresh"`   // tensors of the network that were initialized at random
	Unused  []string `json:"unused"`  // tensors of the file that belong to other heads
	// Mean and Std normalise images; null for other data.
	Mean []float32 `json:"mean"`
	Std  []float32 `json:"std"` // likewise
}

// Saved is the file of trained weights.
type Saved struct {
	Path   string `json:"path"`   // file
	SHA256 string `json:"sha256"` // of the file
}

// Move says how shards were moved between workers before a step, and why: how long the slowest worker
// would compute. The first says so even if they stayed. Times are predicted by the medians of the last steps,
// and waiting for others is no part of them.
type Move struct {
	Step         int       `json:"step"`          // the first step with the new plan
	From         []int     `json:"from"`          // shards by worker before
	To           []int     `json:"to"`            // shards by worker from this step on
	ShardSeconds []float64 `json:"shard_seconds"` // computing a shard takes, by worker
	FixedSeconds []float64 `json:"fixed_seconds"` // computing the rest of a step takes, by worker
	Before       float64   `json:"before"`        // seconds of the slowest worker by the former plan
	After        float64   `json:"after"`         // the same by the new one
	Best         float64   `json:"best"`          // the same by the best plan
	Noise        float64   `json:"noise"`         // of the steps that were measured, relative
	Ideal        float64   `json:"ideal"`         // the same if shards could be divided at will
}

// Checkpoints says what a run's checkpoints took. Copying stops the training; writing goes on
// beside it.
type Checkpoints struct {
	Count          int     `json:"count"`           // written
	Late           int     `json:"late"`            // steps at which one was due while another was written
	ExposedSeconds float64 `json:"exposed_seconds"` // in which training stood still
	WritingSeconds float64 `json:"writing_seconds"` // of writing, beside training
	Bytes          int64   `json:"bytes"`           // of all together
	Last           string  `json:"last"`            // path of the newest
}

// Resumed says what a resumed run had done before. Steps, epochs, samples, evaluations, train_seconds and
// the first loss of its summary are those of the whole run; other times, rates, bytes, memory, ranks, workers
// and threads are those of the last part.
type Resumed struct {
	From         string  `json:"from"`          // path of the checkpoint
	Steps        int     `json:"steps"`         // done before
	Samples      int64   `json:"samples"`       // trained on before
	Seconds      float64 `json:"seconds"`       // wall time of the training loop before, with evaluations
	TrainSeconds float64 `json:"train_seconds"` // the same without evaluations; 0: not told
}

// Standing says where a run that ended early can go on.
type Standing struct {
	Checkpoint string `json:"checkpoint"`        // path of the newest valid one; "": none was written yet
	Step       int    `json:"step"`              // of the checkpoint
	Done       int    `json:"done"`              // steps that were done, at least step
	Planned    string `json:"planned,omitempty"` // the length that it was given; "": not known
	// Written is when the state in the checkpoint was copied; without a checkpoint, when the run began; left
	// out: not known.
	Written time.Time `json:"written,omitzero"`
	Resume  string    `json:"resume,omitempty"` // command line that goes on; "": there is no checkpoint
	// IsGoingOn says that the run did not end early, but goes on.
	IsGoingOn bool `json:"going_on,omitempty"`
	// Cause says how the run ended; left out: it goes on.
	Cause string `json:"cause,omitempty"`
}

// Restart returns what it costs to go on there now, after something was lost.
func (s Standing) Restart(cause string, now time.Time) Restart {
	r := Restart{Cause: cause, Step: s.Step, Redone: s.Done - s.Step}
	if !s.Written.IsZero() {
		r.Seconds = now.Sub(s.Written).Seconds()
	}
	return r
}

// Restart says what it cost that a run was started again after it had lost a worker or a host.
type Restart struct {
	Cause   string  `json:"cause"`   // what was lost
	Step    int     `json:"step"`    // of the checkpoint from which the run went on
	Redone  int     `json:"redone"`  // steps after it that were done again
	Seconds float64 `json:"seconds"` // from Standing.Written to the new start; 0: not known
}

// ParseRestarts reads what the launcher of a run that was started again has noted: JSON, or "" for none.
func ParseRestarts(text string) ([]Restart, error) {
	if text == "" {
		return nil, nil
	}
	var all []Restart
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("restarts: %w", err)
	}
	return all, nil
}

// Lost is a log or a file of metrics that could not be written to its end, usually because the disk is full.
// The run continues without the file; weights and checkpoints matter more.
type Lost struct {
	Rank   int    `json:"rank"`           // whose file
	Host   string `json:"host,omitempty"` // on which the rank is; "": the launcher's
	File   string `json:"file"`           // its name in the run directory
	Reason string `json:"reason"`         // why it ends
}

// String says what is lost and why.
func (l Lost) String() string {
	place := ""
	if l.Host != "" {
		place = " on " + l.Host
	}
	return fmt.Sprintf("%s of rank %d%s ends early: %s", l.File, l.Rank, place, l.Reason)
}

// EncodeSummary returns s as JSON with its seal.
func EncodeSummary(s *Summary) ([]byte, error) {
	outer := *s
	outer.Seal = unsealed
	text, err := json.MarshalIndent(outer, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode summary: %w", err)
	}
	return sealed(append(text, '\n')), nil
}

// DecodeSummary reads what [EncodeSummary] wrote, or what an older version did.
func DecodeSummary(r io.Reader) (*Summary, error) {
	s := &Summary{}
	text, err := readJSON(r, s)
	s.IsChanged = isChanged(text)
	return s, err
}

// Contradicts says which files of the ended run were changed after its end: the summary by its seal, and
// steps.jsonl by its SHA-256 now. That is "" if it is not known or not there: steps that were removed
// altogether, as to make room, tell nothing that is not so.
func (s *Summary) Contradicts(stepsSHA256 string) (out []string) {
	if s.IsChanged {
		out = append(out, "summary.json has a seal that is not that of what it holds: some of it was "+
			"changed, added or removed.")
	}
	if s.StepsSHA256 != "" && stepsSHA256 != "" && stepsSHA256 != s.StepsSHA256 {
		out = append(out, fmt.Sprintf("steps.jsonl has the SHA-256 %.12s…, and had %.12s… at the end of "+
			"the run: some of its lines were changed, added or removed.", stepsSHA256, s.StepsSHA256))
	}
	return out
}

// Unbeaten warns that the accuracy of an outcome is no better than that of guessing; "" if it is, or if
// either is not told.
func (o Outcome) Unbeaten() string {
	if o.Guess == nil || o.TestAccuracy == nil || *o.TestAccuracy > o.Guess.Accuracy {
		return ""
	}
	return fmt.Sprintf("an accuracy of %.2f %% is no better than answering the most frequent class "+
		"throughout, which is right for %.2f %% of the %d samples", 100**o.TestAccuracy,
		100*o.Guess.Accuracy, o.TestSamples)
}

// ServerText says how many servers the run had and where, such as "2 servers apart"; "" if it had none.
func (s *Summary) ServerText() string {
	if len(s.Servers) == 0 {
		return ""
	}
	text := spelling.Count(len(s.Servers), "server")
	if s.ServerPlace == ServerApart {
		return text + " apart"
	}
	return text + " with the workers"
}

// Async describes the updates of an asynchronous run, or of the last part of a resumed one.
type Async struct {
	Bound       int   `json:"bound"`        // on staleness
	Backup      int   `json:"backup"`       // workers that are not waited for
	DividesRate bool  `json:"divides_rate"` // learning rates are divided by staleness
	Updates     int   `json:"updates"`      // made
	Dropped     int   `json:"dropped"`      // gradients that were not used
	Samples     int64 `json:"samples"`      // of their batches
	Staleness   []int `json:"staleness"`    // number of updates, by their staleness
	ByWorker    []int `json:"by_worker"`    // number of updates, by the worker that computed them
	Replayed    bool  `json:"replayed"`     // the order was that of another run
}

// MeanStaleness returns the mean over the updates.
func (a *Async) MeanStaleness() float64 {
	sum := 0
	for staleness, n := range a.Staleness {
		sum += staleness * n
	}
	return float64(sum) / float64(max(1, a.Updates))
}

// LostWorker is a worker without which an asynchronous run went on.
type LostWorker struct {
	Rank  int    `json:"rank"`  // of the worker
	Cause string `json:"cause"` // what is known about its end
}

// ServerApart is the place of servers that have processes of their own.
const ServerApart = "apart"

// ServerStat holds one parameter server's own figures. Those of its process are those of the worker's if it
// is in one: memory and processor time of a server are then part of the worker's, and left out here.
type ServerStat struct {
	Server         int       `json:"server"`                  // its number
	Rank           int       `json:"rank"`                    // a worker's, or one after theirs
	PID            int       `json:"pid"`                     // its process
	Host           string    `json:"host"`                    // where it ran
	Elements       int64     `json:"elements"`                // of the weights that it has
	Updates        int       `json:"updates"`                 // of these
	BytesSent      int64     `json:"bytes_sent"`              // by its process
	BytesReceived  int64     `json:"bytes_received"`          // by its process
	BytesVectors   int64     `json:"bytes_vectors"`           // bytes_sent without compression
	PeakRSSBytes   int64     `json:"peak_rss_bytes,omitzero"` // of its process; left out with a worker
	Cores          CoreTimes `json:"core_seconds,omitzero"`   // of its machine; left out with a worker
	PlannedBytes   int64     `json:"planned_bytes,omitzero"`  // of memory; left out with a worker
	OptimizerBytes int64     `json:"optimizer_bytes"`         // of its optimizer's state
}
