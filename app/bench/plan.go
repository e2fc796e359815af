package bench

import (
	"fmt"
	"slices"

	"lockstep/app/record"
	"lockstep/app/setting"
)

// Config is a benchmark as values.
type Config struct {
	Parts   []Part
	Repeats int    // runs of every row, at least 1
	Copies  int    // times that every row is listed, to find out how often equal rows differ; 0: 1
	Cores   int    // usable logical processors of this machine
	Out     string // folder for results.json and the run directories; must not exist or be empty

	// OneProcess adds, to every part with several workers, strategy single with as many threads
	// as the largest row keeps busy (at most Cores): the same cores in one process are what
	// more workers on one machine have to be compared with.
	OneProcess bool
}

// Part is one matrix. Base gives every setting that is not varied.
type Part struct {
	Base       setting.Config // Threads 0: Cores / largest worker count, at least 1
	Models     []string
	Strategies []string
	Workers    []int
	Batches    []int
	Wires      []string // of rows that exchange; none: that of Base
}

// Plan is the list of rows to run.
type Plan struct {
	Rows    []setting.Config
	Skipped []record.Skip
	Repeats int
	Copies  int // of each row, beside one another
}

// Trial is one run of the schedule.
type Trial struct{ Round, Row int }

// Expand lists the rows of the matrix, models first, then batches, strategies, workers, wires.
//
// Strategy single runs with one worker; all others run with two or more, because with one
// worker they have nothing to exchange and are single under another name. Skipped lists the
// combinations left out. Expand fails with a *setting.UsageError if a list is empty or has
// duplicates, or if a row's configuration is invalid.
func Expand(c Config) (Plan, error) {
	plan := Plan{Repeats: c.Repeats, Copies: max(c.Copies, 1)}
	if c.Repeats < 1 || c.Repeats > record.MaxRounds {
		return Plan{}, usage("repeats %d: want 1 to %d", c.Repeats, record.MaxRounds)
	}
	if c.Copies < 0 || c.Copies > record.MaxRows {
		return Plan{}, usage("copies %d: want 1 to %d", c.Copies, record.MaxRows)
	}
	for _, part := range c.Parts {
		if err := part.check(); err != nil {
			return Plan{}, err
		}
		part.expand(&plan, c)
	}
	plan.Rows = copied(plan.Rows, plan.Copies)
	if len(plan.Rows) == 0 {
		return Plan{}, usage("the matrix is empty: single needs --workers 1, the other " +
			"strategies need two or more")
	}
	if n := len(plan.Rows); n > record.MaxRows {
		return Plan{}, usage("the matrix has %d rows: want at most %d", n, record.MaxRows)
	}
	for i, row := range plan.Rows {
		row.SlowWorkers = row.SlowWorkers.Below(row.Workers)
		plan.Rows[i] = row
		if err := row.Validate(); err != nil {
			return Plan{}, fmt.Errorf("row %d (%s): %w", i+1, Name(row), err)
		}
	}
	return plan, nil
}

// copied returns the rows with n copies of each beside one another.
func copied(rows []setting.Config, n int) []setting.Config {
	var out []setting.Config
	for _, row := range rows {
		out = append(out, slices.Repeat([]setting.Config{row}, n)...)
	}
	return out
}

func (p Part) check() error {
	switch {
	case len(p.Models) == 0:
		return usage("no model")
	case len(p.Strategies) == 0:
		return usage("no strategy")
	case len(p.Workers) == 0:
		return usage("no number of workers")
	case len(p.Batches) == 0:
		return usage("no batch size")
	}
	for _, w := range p.Workers {
		if w < 1 || w > setting.MaxWorkers {
			return usage("workers %d: want 1 to %d", w, setting.MaxWorkers)
		}
	}
	if s, ok := repeated(p.Models); ok {
		return usage("model %s is listed twice", s)
	}
	if s, ok := repeated(p.Strategies); ok {
		return usage("strategy %s is listed twice", s)
	}
	if n, ok := repeated(p.Workers); ok {
		return usage("workers %d is listed twice", n)
	}
	if s, ok := repeated(p.Wires); ok {
		return usage("wire %s is listed twice", s)
	}
	if n, ok := repeated(p.Batches); ok {
		return usage("batch %d is listed twice", n)
	}
	for _, s := range p.Base.SlowWorkers {
		if most := slices.Max(p.Workers); s.Rank >= most {
			return usage("--slow-worker: no row has a worker of rank %d; want 0 to %d", s.Rank, most-1)
		}
	}
	return nil
}

// expand appends the rows of p to plan.
func (p Part) expand(plan *Plan, c Config) {
	largest := slices.Max(p.Workers)
	base := p.Base
	if base.Threads == 0 {
		base.Threads = max(1, c.Cores/largest)
	}
	if base.Shards == 0 {
		base.Shards = largest
	}
	for _, base.Model = range p.Models {
		for _, base.Batch = range p.Batches {
			p.expandStrategies(plan, base, c)
		}
		for _, s := range p.Strategies {
			p.skip(plan, base.Model, s)
		}
	}
}

func (p Part) expandStrategies(plan *Plan, base setting.Config, c Config) {
	for _, strategy := range p.Strategies {
		row := p.under(strategy, base)
		for _, row.Workers = range p.Workers {
			if (strategy == "single") == (row.Workers == 1) {
				p.expandWires(plan, row)
			}
		}
		busy := min(base.Threads*slices.Max(p.Workers), c.Cores)
		if strategy == "single" && c.OneProcess && busy > base.Threads {
			row.Workers, row.Threads = 1, busy
			plan.Rows = append(plan.Rows, row)
		}
	}
}

// under returns base with a strategy. If the matrix has ddp, options of ddp apply only to its rows.
// Otherwise they stay, and Validate reports them.
func (p Part) under(strategy string, base setting.Config) setting.Config {
	base.Strategy = strategy
	if strategy != "ddp" && slices.Contains(p.Strategies, "ddp") {
		base.TuneBucket, base.OverlapForward, base.ShardOptimizer = false, false, false
	}
	return base
}

// expandWires appends a row for each wire, or one row where nothing is exchanged.
func (p Part) expandWires(plan *Plan, base setting.Config) {
	if base.Workers == 1 || base.Strategy == "none" || len(p.Wires) == 0 {
		plan.Rows = append(plan.Rows, base)
		return
	}
	for _, base.Wire = range p.Wires {
		plan.Rows = append(plan.Rows, base)
	}
}

// skip notes the combinations of a model and a strategy that expandStrategies left out.
func (p Part) skip(plan *Plan, model, strategy string) {
	for _, w := range p.Workers {
		s := record.Skip{Model: model, Strategy: strategy, Workers: w}
		switch {
		case strategy == "single" && w > 1:
			continue // single is one worker by definition: nothing is missing
		case strategy != "single" && w == 1:
			s.Reason = "One worker has nobody to exchange with: the row would be single under " +
				"another name."
			plan.Skipped = append(plan.Skipped, s)
		}
	}
}

// Trials returns the order of the runs: every round visits all rows, odd rounds in reverse
// (ABBA), so that a drift of the machine's speed meets every row alike.
func (p Plan) Trials() []Trial {
	trials := make([]Trial, 0, p.Repeats*len(p.Rows))
	for round := range p.Repeats {
		for i := range p.Rows {
			row := i
			if round%2 == 1 {
				row = len(p.Rows) - 1 - i
			}
			trials = append(trials, Trial{Round: round, Row: row})
		}
	}
	return trials
}

// Name labels a row: model, strategy, workers x threads, a wire that is no plain one, and slowed workers.
func Name(c setting.Config) string {
	name := fmt.Sprintf("%s %s %d×%d", c.Model, c.Strategy, c.Workers, c.Threads)
	if wire := wireOf(c.Workers, c.Strategy, c.Wire); wire != "" {
		name += " " + wire
	}
	if len(c.SlowWorkers) > 0 {
		name += " slow " + c.SlowWorkers.String()
	}
	return name
}

// wireOf returns the compression of gradients; "" if there is none or nothing is exchanged.
func wireOf(workers int, strategy, wire string) string {
	if workers == 1 || strategy == "none" || wire == "fp32" {
		return ""
	}
	return wire
}

func repeated[T comparable](list []T) (T, bool) {
	for i, v := range list {
		if slices.Contains(list[:i], v) {
			return v, true
		}
	}
	var zero T
	return zero, false
}

func usage(format string, args ...any) error {
	return setting.Refuse(format, args...)
}
