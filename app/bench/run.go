package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/setting"
)

// Options say how Run behaves towards its caller and how the benchmark is labelled; none of them
// changes what is measured.
type Options struct {
	Label    record.Results // Version, Revision, Command and Lab are copied into the results
	Progress func(Progress) // called about 10 times a second and after every run; may be nil
	Job      job.Options    // of every run; Progress and Isolate are set here

	// Probe measures a configuration for a budget; nil: job.Probe. Fitted is told what the budget leaves,
	// before the first run; nil: not.
	Probe  func(context.Context, setting.Config, job.Options) (record.Probe, error)
	Fitted func(Fitted)

	// Execute runs one row; nil: with job.Run, or in a lab if the row's condition asks for one.
	Execute func(context.Context, Row, job.Options) (*record.Summary, error)
}

// Progress says how far a benchmark is.
type Progress struct {
	Run, Runs int    // number of the run, from 1, of all
	Round     int    // from 1
	Name      string // of the row, see [Row.Name]
	Job       job.Progress
	Failed    int           // runs so far
	Elapsed   time.Duration // since the first run began
	Remaining time.Duration // estimate for all runs; 0 while unknown
	Done      bool          // the run has ended; Err says how
	Err       error
}

// FailedError says that runs failed while the benchmark went on. It unwraps to the first.
type FailedError struct {
	Failed, Runs int
	Name         string // of the row that failed first
	First        error
}

// Error names how many runs failed and the first with its reason.
func (e *FailedError) Error() string {
	return fmt.Sprintf("%d of %d runs failed, first %s: %v", e.Failed, e.Runs, e.Name, e.First)
}

// Unwrap returns the reason of the first failure.
func (e *FailedError) Unwrap() error { return e.First }

// Run executes the matrix of c and returns its results, which also lie in c.Out as results.json,
// written anew after every run. With an error the results hold what was measured before it;
// they are nil only if nothing was run. See the package's comment for the errors.
func Run(ctx context.Context, c Config, o Options) (*record.Results, error) {
	begin := time.Now()
	plan, err := Expand(c)
	if err != nil {
		return nil, err
	}
	if o.Execute == nil {
		o.Execute = execute
		if err := checkLab(ctx, plan, o.Job.Environment); err != nil {
			return nil, err
		}
	}
	if o.Probe == nil {
		o.Probe = job.Probe
	}
	if c.Budget > 0 {
		var fitted Fitted
		if plan, fitted, err = budgeted(ctx, plan, c.Budget, o); err != nil {
			return nil, err
		}
		if o.Fitted != nil {
			o.Fitted(fitted)
		}
	}
	if err := Claim(c.Out); err != nil {
		return nil, err
	}
	b := &bench{plan: plan, options: o, out: c.Out, started: time.Now(), results: o.Label}
	b.results.Go, b.results.Host = runtime.Version(), DescribeHost()
	b.results.Load = Load()
	b.results.Rounds = plan.Repeats
	b.results.Started = b.started
	b.results.Skipped = plan.Skipped
	if c.Budget > 0 {
		b.deadline = begin.Add(c.Budget + c.Budget/8)
	}
	for i, row := range plan.Rows {
		b.results.Rows = append(b.results.Rows, record.Row{Setting: row.setting(), Rounds: row.Rounds,
			Copy: i % plan.Copies})
	}
	err = b.runAll(ctx)
	return &b.results, err
}

// bench is the state of a benchmark that is being run.
type bench struct {
	plan    Plan
	options Options
	out     string
	started time.Time
	results record.Results
	walls   []wall // of finished runs
	failure *FailedError

	deadline time.Time // after which no run begins; zero: none
}

// isOver reports whether the run would end after the deadline.
func (b *bench) isOver(t Trial) bool {
	if b.deadline.IsZero() || len(b.walls) == 0 {
		return false
	}
	seconds := expect(b.plan, b.walls, t.Row)
	return time.Now().Add(time.Duration(seconds * float64(time.Second))).After(b.deadline)
}

// leaveOut notes a run that the budget has no time for. A row without any run is told as left out.
func (b *bench) leaveOut(t Trial) {
	b.results.Complete = false
	row := b.plan.Rows[t.Row]
	if len(b.results.Rows[t.Row].Runs) == 0 {
		b.results.Skipped = append(b.results.Skipped, row.skipped("The time of the budget was over."))
	}
}

func (b *bench) runAll(ctx context.Context) error {
	trials := b.plan.Trials()
	isWhole := true
	for i, t := range trials {
		if b.isOver(t) {
			isWhole = false
			b.leaveOut(t)
			continue
		}
		err := b.runOne(ctx, i, trials)
		b.results.Complete = i == len(trials)-1 && ctx.Err() == nil && isWhole
		b.results.Seconds = time.Since(b.started).Seconds()
		if err := report.Save(b.out, &b.results); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			continue
		}
		name := b.plan.Rows[t.Row].Name()
		if isFatal(err) {
			return fmt.Errorf("%s: %w", name, err)
		}
		if b.failure == nil {
			b.failure = &FailedError{Runs: len(trials), Name: name, First: err}
		}
		b.failure.Failed++
	}
	if b.failure != nil {
		return b.failure
	}
	return report.Save(b.out, &b.results)
}

// runOne executes trial i and appends what it measured, its failure included, to its row. A run
// that was cancelled leaves nothing behind.
func (b *bench) runOne(ctx context.Context, i int, trials []Trial) error {
	t := trials[i]
	config := b.plan.Rows[t.Row]
	config.Out = filepath.Join(b.out, "runs", config.directory(t))
	config.Seed = b.plan.seed(t)
	config.Save = false // a benchmark keeps figures, not weights
	state := Progress{Run: i + 1, Runs: len(trials), Round: t.Round + 1, Name: config.Name()}
	if b.failure != nil {
		state.Failed = b.failure.Failed
	}
	begin := time.Now()
	b.report(state, trials[i:], begin)
	options := b.options.Job
	options.Isolate = true
	options.Progress = func(p job.Progress) {
		state.Job = p
		b.report(state, trials[i:], begin)
	}
	summary, err := b.options.Execute(ctx, config, options)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	run := record.Run{Round: t.Round, Position: i, Started: begin,
		Wall: time.Since(begin).Seconds()}
	row := &b.results.Rows[t.Row]
	if err == nil {
		err = collect(&run, row, config.Config, summary)
	}
	if err != nil {
		run.Error = err.Error()
	}
	if run.Directory, _ = filepath.Rel(b.out, config.Out); run.Directory == "" {
		run.Directory = config.Out
	}
	row.Runs = append(row.Runs, run)
	b.walls = append(b.walls, wall{t.Row, run.Wall})
	state.Done, state.Err = true, err
	b.report(state, trials[i+1:], time.Now())
	return err
}

// report passes the progress to the caller. left holds the remaining trials, of which the first began at
// begin.
func (b *bench) report(p Progress, left []Trial, begin time.Time) {
	if b.options.Progress == nil {
		return
	}
	p.Elapsed = time.Since(b.started)
	p.Remaining = remaining(b.plan, b.walls, left, time.Since(begin))
	b.options.Progress(p)
}

// isFatal reports whether every other run would fail too, because the request or the data are wrong.
func isFatal(err error) bool {
	code := job.ExitCode(err)
	return code == job.ExitUsage || code == job.ExitData
}

// execute runs one row.
func execute(ctx context.Context, row Row, o job.Options) (*record.Summary, error) {
	if row.isApart() {
		return runApart(ctx, row, o)
	}
	return job.Run(ctx, row.Config, o)
}
