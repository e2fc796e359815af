package record

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"lockstep/app/strategy"
	"lockstep/internal/spelling"
)

// Schema is the version of the record, which summary.json and results.json carry. [Decode] reads this
// version and the second; another is an error that names both. Version 2 added Steps.OwnLoss
// ("own_loss") to version 1, version 3 the version itself to summary.json.
const Schema = 3

// Results is everything a benchmark measured and the settings it was measured under.
type Results struct {
	Schema   int       `json:"schema"`              // version of the record
	Version  string    `json:"version"`             // of the program
	Revision string    `json:"revision,omitempty"`  // of its source
	Go       string    `json:"go"`                  // version of the compiler
	Command  []string  `json:"command"`             // arguments that repeat the benchmark
	Started  time.Time `json:"started"`             // when
	Seconds  float64   `json:"seconds"`             // wall time of all runs
	Rounds   int       `json:"rounds"`              // repeats asked for
	Order    uint64    `json:"order,omitempty"`     // seed of the rows' order; 0: as listed, then reversed
	Complete bool      `json:"complete"`            // all runs were done
	CutShort bool      `json:"cut_short,omitempty"` // not all runs were: the budget was over
	Host     Machine   `json:"host"`                // the machine
	Lab      string    `json:"lab,omitempty"`       // flags of the lab that the workers were in; "": none
	Hosts    *Hosts    `json:"preflight,omitempty"` // of the hosts that the workers were on; null: one
	Load     float64   `json:"load"`                // processes ready to run before the first run
	Rows     []Row     `json:"rows"`                // in the order of the matrix
	Skipped  []Skip    `json:"skipped,omitempty"`   // combinations that were not run
	Recipe   string    `json:"recipe,omitempty"`    // that it was run by; "": none
	Inquiry  *Inquiry  `json:"inquiry,omitempty"`   // what its plan asks; null: nothing

	// Causes are runs that confirm what the plan asks why for; null: it does not ask, or they were not made.
	Causes *Causes `json:"causes,omitempty"`
	// Predictions are those that the plan asks for, frozen before the first run: files of lockstep predict.
	Predictions []json.RawMessage `json:"predictions,omitempty"`
	// Peers compares rows of other programs with ours; null: there are none.
	Peers []PeerCheck `json:"peers,omitempty"`
	// Precision is the relative half width of intervals for which rounds were added; 0: none were.
	Precision float64 `json:"precision,omitempty"`
	// Sittings are those of a benchmark that was interrupted and resumed, in order; null: there was one.
	Sittings []Sitting `json:"sittings,omitempty"`
	// Seal is the SHA-256 of this file without blanks between tokens, zeros in its place; "": older versions.
	Seal string `json:"file_sha256,omitempty"`
	// IsChanged says that the file from which they were read has not its seal.
	IsChanged bool `json:"-"`
}

// PeerCheck compares the losses of another program with ours, from equal weights on equal batches.
type PeerCheck struct {
	Peer     string  `json:"peer"`     // the program
	Settings string  `json:"settings"` // its version, and how it was run
	Model    string  `json:"model"`    // network
	Data     string  `json:"data"`     // data set
	Batch    int     `json:"batch"`    // samples of a step
	Format   string  `json:"format"`   // of its images in memory
	Ours     Numbers `json:"ours"`     // our loss of each step
	Theirs   Numbers `json:"theirs"`   // its loss of each step
}

// Sitting is one of the parts in which a benchmark was run that was interrupted and resumed.
type Sitting struct {
	Started  time.Time `json:"started"`            // when
	Seconds  float64   `json:"seconds"`            // wall time until its last run ended
	First    int       `json:"first"`              // position of its first run
	Version  string    `json:"version"`            // of the program
	Revision string    `json:"revision,omitempty"` // of its source
	Host     Machine   `json:"host"`               // the machine
	Load     float64   `json:"load"`               // processes ready to run before its first run
}

// IsLike reports whether both sittings had the same program on machines of one kind.
func (s Sitting) IsLike(other Sitting) bool {
	a, b := s.Host, other.Host
	return s.Version == other.Version && s.Revision == other.Revision && a.OS == b.OS && a.Arch == b.Arch &&
		a.CPU == b.CPU && a.Cores == b.Cores && slices.Equal(a.ISA, b.ISA)
}

// Machine describes the machine all workers of the benchmark ran on.
type Machine struct {
	Name        string   `json:"name,omitempty"`         // the machine's own
	OS          string   `json:"os"`                     // operating system
	Kernel      string   `json:"kernel,omitempty"`       // its version
	Arch        string   `json:"arch"`                   // of the processor
	CPU         string   `json:"cpu,omitempty"`          // model of the processor
	Cores       int      `json:"cores"`                  // usable logical processors
	MemoryBytes uint64   `json:"memory_bytes,omitempty"` // of the machine, or of its container
	ISA         []string `json:"isa,omitempty"`          // supported kernel paths, best last
}

// Setting is what one row did, as asked for. Rows with equal work differ at most in Strategy,
// Algorithm, Link, Wire, Workers and Threads.
type Setting struct {
	Model       string  `json:"model"`                  // network, by name
	Data        string  `json:"data"`                   // data set, by name or path
	Strategy    string  `json:"strategy"`               // how gradients were exchanged
	Algorithm   string  `json:"algorithm"`              // of the collective
	Link        string  `json:"link"`                   // between workers
	LinkRate    float64 `json:"link_rate,omitempty"`    // bits/s of each host of a lab; 0: not limited
	Wire        string  `json:"wire,omitempty"`         // compression of gradients; "": none
	IsLossy     bool    `json:"lossy,omitempty"`        // the compression is lossy
	Workers     int     `json:"workers"`                // replicas
	Threads     int     `json:"threads"`                // of each worker
	Hosts       int     `json:"hosts,omitempty"`        // that have them; 0: not told, one machine or a lab
	PerHost     int     `json:"per_host,omitempty"`     // workers of each host, where they are equal
	Cores       int     `json:"cores,omitempty"`        // usable, of these hosts; 0: those of the machine
	Servers     int     `json:"servers,omitempty"`      // parameter servers; 0: none
	ServerPlace string  `json:"server_place,omitempty"` // where they are: workers, apart
	SlowWorkers string  `json:"slow_workers,omitempty"` // slowed, as RANK:FACTOR or RANK:TIME
	SlowLoader  string  `json:"slow_loader,omitempty"`  // FACTOR or TIME by which batches come later
	Batch       int     `json:"batch"`                  // global
	PerWorker   int     `json:"per_worker,omitempty"`   // samples of each worker, where the batch grows
	Shards      int     `json:"shards"`                 // virtual shards of a batch
	Steps       int     `json:"steps,omitempty"`        // length; 0: in epochs
	Epochs      int     `json:"epochs,omitempty"`       // length; 0: in steps
	For         string  `json:"for,omitempty"`          // length in time; "": in steps or epochs
	LR          float64 `json:"lr"`                     // learning rate
	Seed        uint64  `json:"seed"`                   // seed of all random numbers
	Generated   bool    `json:"generated"`              // the data set is generated by the program
	Classes     int     `json:"classes,omitempty"`      // of the data set; 0 until a run has told

	Weights       string `json:"weights,omitempty"`        // file that training began with; "": random values
	WeightsSHA256 string `json:"weights_sha256,omitempty"` // of it; "" until a run has told

	Peer      string `json:"peer,omitempty"`      // another program that did the work; "": this one
	Options   string `json:"options,omitempty"`   // settings that this row alone has, as given
	Condition string `json:"condition,omitempty"` // under which it ran; rows of others are not compared
	Inexact   string `json:"inexact,omitempty"`   // why not the bits of one worker; "": those
}

// NumThreads returns the number of compute threads of all processes; a server apart has one.
func (s Setting) NumThreads() int {
	threads := s.Workers * s.Threads
	if s.ServerPlace == ServerApart {
		threads += s.Servers
	}
	return threads
}

// Layout words on how many hosts the workers are, such as "on 2 hosts"; "" if that is not told. How many of
// them a host has follows from their number.
func (s Setting) Layout() string {
	switch s.Hosts {
	case 0:
		return ""
	case 1:
		return "on 1 host"
	}
	return fmt.Sprintf("on %d hosts", s.Hosts)
}

// Shape words how many workers there are: workers × threads such as "2×1" or, where they have hosts, "2
// hosts × 1 worker", and the threads if each worker has several. Hosts that have unequal numbers: "3 workers
// on 2 hosts".
func (s Setting) Shape() string {
	if s.Hosts == 0 {
		return fmt.Sprintf("%d×%d", s.Workers, s.Threads)
	}
	text := spelling.Count(s.Workers, "worker") + " " + s.Layout()
	if s.PerHost > 0 {
		text = spelling.Count(s.Hosts, "host") + " × " + spelling.Count(s.PerHost, "worker")
	}
	if s.Threads > 1 {
		text += " × " + spelling.Count(s.Threads, "thread")
	}
	return text
}

// Row is one configuration with all its runs, at most one per round.
type Row struct {
	Setting Setting `json:"setting"`          // what was run
	Rounds  int     `json:"rounds,omitempty"` // asked for; 0: those of the benchmark
	Block   int     `json:"block,omitempty"`  // of rows that a round runs one after another
	Copy    int     `json:"copy,omitempty"`   // rows above it of which it is a copy; 0: none
	Every   int     `json:"every,omitempty"`  // steps of which its runs hold one, see Thin; 0: they hold all
	Runs    []Run   `json:"runs"`             // at most one of each round

	// Replaced are runs that another one stands for: others took cores from them, or they failed before the
	// benchmark was resumed. They enter no statistic.
	Replaced []Run `json:"replaced,omitempty"`
}

// Skip is a combination of the matrix that was not run, with the reason.
type Skip struct {
	Model    string `json:"model"`    // network
	Strategy string `json:"strategy"` // how gradients would be exchanged
	Workers  int    `json:"workers"`  // replicas
	Reason   string `json:"reason"`   // why
}

// Reasons for which combinations are not run; another program has its own behind PeerCannot.
const (
	BeyondBudget = "They were predicted to take longer than their part of the budget."
	BudgetOver   = "The budget ended before their first run."
	PeerCannot   = "PyTorch has no such row: "
)

// Run is one execution of a row. Times are in seconds. A run that failed has Error set; what it
// measured before is kept and enters no statistic.
type Run struct {
	Round        int       `json:"round"`                   // from 0
	Position     int       `json:"position"`                // in the order of execution
	Directory    string    `json:"directory,omitempty"`     // the run directory
	Error        string    `json:"error,omitempty"`         // why the run failed
	Started      time.Time `json:"started"`                 // when
	Chosen       string    `json:"chosen,omitempty"`        // by strategy auto
	Seed         uint64    `json:"seed,omitempty"`          // of this run; 0: that of the row
	Wall         float64   `json:"wall"`                    // seconds, with starting and stopping processes
	Staleness    []int     `json:"staleness,omitempty"`     // number of updates by their staleness
	TrainSeconds float64   `json:"train_seconds,omitempty"` // of training, without evaluations
	BusiestBytes int64     `json:"busiest_bytes,omitempty"` // sent and received by the process with most
	ServerBytes  int64     `json:"server_bytes,omitempty"`  // the same of the busiest server; 0: none
	BytesVectors int64     `json:"bytes_vectors,omitempty"` // bytes_sent without compression; 0: not told
	EpochSeconds Numbers   `json:"epoch_seconds,omitempty"` // complete epochs only
	PeakFLOPs    float64   `json:"peak_flops,omitempty"`    // per second that cores, or GPUs, reach
	Data         DataHash  `json:"data_sha256,omitzero"`    // of its samples; left out: not told
	Outcome
	Checkpoints *Checkpoints    `json:"checkpoints,omitempty"` // what they took; null: there were none
	Evaluations []Evaluation    `json:"evaluations,omitempty"` // on the test set, in order
	Ranks       []Rank          `json:"ranks"`                 // by rank
	Config      json.RawMessage `json:"config,omitempty"`      // every resolved setting
}

// Rank holds the steps of one worker.
type Rank struct {
	Rank  int   `json:"rank"`  // number of the worker
	Steps Steps `json:"steps"` // its raw samples
	// Communication that computation hid, in a step on average; null: not told.
	Hidden *float64 `json:"hidden_seconds,omitempty"`
	GPU    *RankGPU `json:"gpu,omitempty"` // that computed its passes; null: the processor did

	BytesSent    int64 `json:"bytes_sent,omitempty"`    // to its peers; 0: nothing, or not told
	BytesVectors int64 `json:"bytes_vectors,omitempty"` // bytes_sent without compression; 0: not told
}

// Steps holds the raw samples of one worker column by column; all columns are equally long. Those from
// usage_seconds on are empty in older files, and gpu_bytes without a GPU.
type Steps struct {
	Epoch   []int   `json:"epoch"`   // of each step, from 0
	Samples []int   `json:"samples"` // of the whole job, in this step
	Loss    Numbers `json:"loss"`    // mean over the samples of the step
	Seconds Numbers `json:"seconds"` // of each step

	// OwnLoss is the mean over the samples of this rank's own shards, before the update; NaN
	// where the step had none for it. Workers that never exchange know no other loss.
	OwnLoss Numbers `json:"own_loss"`

	Phases map[string]Numbers `json:"phases"` // seconds by phase

	Usage    Numbers `json:"usage_seconds,omitempty"`  // in which the rest was taken
	CPU      Numbers `json:"cpu_seconds,omitempty"`    // processor time of all threads
	RSS      Numbers `json:"rss_bytes,omitempty"`      // resident memory
	GPU      Numbers `json:"gpu_bytes,omitempty"`      // memory in use on its GPU, by all processes
	Sent     Numbers `json:"bytes_sent,omitempty"`     // by this rank
	Received Numbers `json:"bytes_received,omitempty"` // by this rank
	Shards   []int   `json:"shards,omitempty"`         // that the rank computed

	// The columns of [Parts]; each is empty if it is 0 in all steps.
	Delayed         Numbers `json:"delayed_seconds,omitempty"`          // without a core, summed over threads
	ExchangeDelayed Numbers `json:"exchange_delayed_seconds,omitempty"` // of it in sync_exposed
	GradientCPU     Numbers `json:"gradient_cpu_seconds,omitempty"`     // of cpu_seconds: before the exchange

	Paused     Numbers `json:"paused_seconds,omitempty"`     // by Go's runtime
	Checkpoint Numbers `json:"checkpoint_seconds,omitempty"` // before the step, for a checkpoint
	Peer       Numbers `json:"peer_seconds,omitempty"`       // of sync_exposed: for the turn of a rank
	Added      Numbers `json:"add_seconds,omitempty"`        // of sync_exposed: adding vectors
	Coded      Numbers `json:"code_seconds,omitempty"`       // of sync_exposed: compressing, en- and decoding
}

// AddParts appends a step's parts to the columns.
func (s *Steps) AddParts(p Parts) {
	s.Delayed, s.Paused = append(s.Delayed, p.DelayedSeconds), append(s.Paused, p.PausedSeconds)
	s.GradientCPU = append(s.GradientCPU, p.GradientCPUSeconds)
	s.ExchangeDelayed = append(s.ExchangeDelayed, p.ExchangeDelayedSeconds)
	s.Checkpoint, s.Peer = append(s.Checkpoint, p.CheckpointSeconds), append(s.Peer, p.PeerSeconds)
	s.Added, s.Coded = append(s.Added, p.AddSeconds), append(s.Coded, p.CodeSeconds)
}

// OmitZeros empties the columns of memory of GPUs and of [Parts] that are 0 in all steps.
func (s *Steps) OmitZeros() {
	for _, column := range []*Numbers{&s.GPU, &s.Delayed, &s.ExchangeDelayed, &s.GradientCPU, &s.Paused,
		&s.Checkpoint, &s.Peer, &s.Added, &s.Coded} {
		if !slices.ContainsFunc(*column, func(v float64) bool { return v != 0 }) {
			*column = nil
		}
	}
}

// mostKept is how many steps of a worker are enough to tell of a run that trains for a time.
const mostKept = 2000

// Thin leaves the first of every few steps in a run of a row that trains for a time, whose steps are as many
// as the machine makes; all are in the run's directory. How few is told by the first run of the row. It is a
// power of three, so that what recurs every ten or hundred steps is among them as often as it happens.
func (row *Row) Thin(run *Run) {
	if row.Every == 0 {
		row.Every = 1
		for _, r := range run.Ranks {
			for len(r.Steps.Seconds)/row.Every > mostKept {
				row.Every *= 3
			}
		}
	}
	for i := range run.Ranks {
		run.Ranks[i].Steps.thin(row.Every)
	}
}

// thin leaves the first of every few steps.
func (s *Steps) thin(every int) {
	for _, column := range []*[]int{&s.Epoch, &s.Samples, &s.Shards} {
		*column = thinned(*column, every)
	}
	for _, column := range append(slices.Collect(maps.Values(s.usage())), &s.Loss, &s.Seconds, &s.OwnLoss) {
		*column = thinned(*column, every)
	}
	for name, column := range s.Phases {
		s.Phases[name] = thinned(column, every)
	}
}

func thinned[S ~[]T, T any](all S, every int) (some S) {
	for i := 0; i < len(all); i += every {
		some = append(some, all[i])
	}
	return some
}

// usage returns the columns that may be empty, by name.
func (s *Steps) usage() map[string]*Numbers {
	return map[string]*Numbers{"usage_seconds": &s.Usage, "cpu_seconds": &s.CPU, "rss_bytes": &s.RSS,
		"gpu_bytes": &s.GPU, "bytes_sent": &s.Sent, "bytes_received": &s.Received,
		"delayed_seconds": &s.Delayed, "gradient_cpu_seconds": &s.GradientCPU, "paused_seconds": &s.Paused,
		"checkpoint_seconds": &s.Checkpoint, "exchange_delayed_seconds": &s.ExchangeDelayed,
		"peer_seconds": &s.Peer, "add_seconds": &s.Added, "code_seconds": &s.Coded}
}

// Encode writes r as JSON with its seal and schema version.
func Encode(w io.Writer, r *Results) error {
	r.Schema = Schema
	outer := *r
	outer.Seal = unsealed
	text, err := json.Marshal(outer)
	if err == nil {
		_, err = w.Write(sealed(append(text, '\n')))
	}
	if err != nil {
		return fmt.Errorf("encode results: %w", err)
	}
	return nil
}

// Decode reads what [Encode] wrote and checks it with [Results.Validate]. Other documents that are called
// results are an error.
func Decode(r io.Reader) (*Results, error) {
	var file struct {
		Kind string `json:"kind"` // of other documents that are called results
		Results
	}
	text, err := readJSON(r, &file)
	if err != nil {
		return nil, fmt.Errorf("decode results: %w", err)
	}
	if file.Kind != "" {
		return nil, fmt.Errorf("decode results: these are of kind %s, not of a comparison", file.Kind)
	}
	results := file.Results
	results.IsChanged = isChanged(text)
	if results.Schema != Schema && results.Schema != 2 {
		return nil, fmt.Errorf("decode results: schema %d, this program reads 2 and %d",
			results.Schema, Schema)
	}
	if err := results.Validate(); err != nil {
		return nil, fmt.Errorf("decode results: %w", err)
	}
	return &results, nil
}

// Bounds of what a benchmark holds: its rows are compared pair by pair, and every raw sample is kept.
const (
	MaxRows   = 500
	MaxRounds = 1000
	maxEvery  = 1 << 30 // steps
)

// Ran returns the number of rounds that have a run: fewer than Rounds where a budget allows no more.
func (r *Results) Ran() int {
	ran := 0
	for _, row := range r.Rows {
		for _, run := range row.Runs {
			ran = max(ran, run.Round+1)
		}
	}
	return ran
}

// Validate checks what the rest of the package relies on: counts within bounds, at most one run per
// round, ranks in order, columns of equal length, and in a run that succeeded as many steps of every rank.
// The error names the row and the run.
func (r *Results) Validate() error {
	if len(r.Rows) > MaxRows || r.Rounds < 0 || r.Rounds > MaxRounds {
		return fmt.Errorf("%d rows, %d rounds: want at most %d and 0 to %d", len(r.Rows), r.Rounds, MaxRows,
			MaxRounds)
	}
	if err := r.Hosts.Validate(); err != nil {
		return err
	}
	if err := validateRows(r.Rows, r.Rounds); err != nil {
		return err
	}
	return r.Causes.validate(len(r.Rows))
}

// validateRows checks the rows of so many rounds.
func validateRows(rows []Row, rounds int) error {
	for i := range rows {
		row := &rows[i]
		s := row.Setting
		if row.Copy < 0 || row.Copy > i {
			return fmt.Errorf("row %d: a copy of the one %d above", i, row.Copy)
		}
		if row.Every < 0 || row.Every > maxEvery {
			return fmt.Errorf("row %d: one of %d steps: want 0 to %d", i, row.Every, maxEvery)
		}
		if s.Workers < 1 || s.Threads < 1 || s.Batch < 1 || s.Shards < 1 {
			return fmt.Errorf("row %d: workers %d, threads %d, batch %d, shards %d: want positive",
				i, s.Workers, s.Threads, s.Batch, s.Shards)
		}
		if err := row.validate(rounds); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

// validate checks the runs of a row, and that each replaced one has another in its place.
func (row *Row) validate(rounds int) error {
	if len(row.Replaced) > MaxRounds {
		return fmt.Errorf("%d replaced runs: want at most %d", len(row.Replaced), MaxRounds)
	}
	isAsync := strategy.Named(row.Setting.Strategy).IsAsync
	seen := map[int]bool{}
	for i, run := range slices.Concat(row.Runs, row.Replaced) {
		isReplaced := i >= len(row.Runs)
		if run.Round < 0 || run.Round >= rounds || seen[run.Round] != isReplaced {
			return fmt.Errorf("round %d: want each of 0 to %d at most once, and replaced runs only beside "+
				"others", run.Round, rounds-1)
		}
		seen[run.Round] = true
		if err := run.validate(isAsync); err != nil {
			return fmt.Errorf("round %d: %w", run.Round, err)
		}
	}
	return nil
}

func (r *Run) validate(isAsync bool) error {
	for i, rank := range r.Ranks {
		if rank.Rank != i {
			return fmt.Errorf("rank %d in place %d: want ranks in order from 0", rank.Rank, i)
		}
		s := rank.Steps
		n := len(s.Seconds)
		if first := len(r.Ranks[0].Steps.Seconds); n != first && r.Error == "" && !isAsync {
			return fmt.Errorf("rank %d has %d steps, rank 0 has %d: want equal", i, n, first)
		}
		if len(s.Loss) != n || len(s.OwnLoss) != n || len(s.Epoch) != n || len(s.Samples) != n {
			return fmt.Errorf("rank %d: %d seconds, %d losses, %d own losses, %d epochs, "+
				"%d samples: want equal", rank.Rank, n, len(s.Loss), len(s.OwnLoss), len(s.Epoch),
				len(s.Samples))
		}
		for name, v := range s.usage() {
			if len(*v) != n && len(*v) != 0 || len(s.Shards) != n && len(s.Shards) != 0 {
				return fmt.Errorf("rank %d: %d %s, %d shards: want %d or none", rank.Rank, len(*v), name,
					len(s.Shards), n)
			}
		}
		if slices.ContainsFunc(s.Seconds, isNoTime) {
			return fmt.Errorf("rank %d: a step that takes no time from 0 to 1e9 seconds", rank.Rank)
		}
		for name, v := range s.Phases {
			if len(v) != n || slices.ContainsFunc(v, isNoTime) {
				return fmt.Errorf("rank %d: phase %s has %d values, want %d from 0 to 1e9", rank.Rank, name,
					len(v), n)
			}
		}
	}
	return nil
}

// isNoTime allows for rounding: some phases are what others leave of a step.
func isNoTime(seconds float64) bool { return !(seconds > -1e-6 && seconds <= 1e9) }
