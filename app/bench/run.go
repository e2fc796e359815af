package bench

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"lockstep/app/host"
	"lockstep/app/job"
	"lockstep/app/job/chooser"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/internal/spelling"
)

// Options say how Run behaves towards its caller and how the benchmark is labelled; none of them
// changes what is measured.
type Options struct {
	Label    record.Results   // Version, Revision, Command and Lab are copied into the results
	Progress func(Progress)   // called about 10 times a second and after every run; may be nil
	Job      launcher.Options // of every run; Progress and Isolate are set here

	// Probe measures a configuration for a budget; nil: chooser.Probe. Fitted is told what the budget leaves,
	// before the first run; nil: not.
	Probe  func(context.Context, setting.Config, launcher.Options) (record.Probe, error)
	Fitted func(Fitted)

	// Execute runs one row; nil: with chooser.Run, in a lab if the row's condition asks for one, or by
	// the peer that the row names.
	Execute func(context.Context, Row, launcher.Options) (*record.Summary, error)
}

// Progress says how far a benchmark is.
type Progress struct {
	Run, Runs int    // number of the run, from 1, of all that are known to be needed: repeats add to them
	Round     int    // from 1
	Again     bool   // the run repeats one of the round from which others took cores
	Name      string // of the row, see [Row.Name]
	Job       launcher.Progress
	Failed    int           // runs so far
	Disturbed float64       // share of core time that others took from the run that has ended
	Remaining time.Duration // estimate for all runs; 0 while unknown
	Done      bool          // the run has ended; Err says how
	Err       error
	Note      string // something to say on a line of its own; the rest is empty then
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
	prepared, err := o.prepare(ctx, plan, c.Out)
	if err != nil {
		return nil, err
	}
	defer prepared.peers.close()
	o.Execute = prepared.execute
	if o.Probe == nil {
		o.Probe = chooser.Probe
	}
	if err := place(plan.Rows, environment(o.Job), c.Cores); err != nil {
		return nil, err
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
	limit := cmp.Or(c.Limit, c.Budget+c.Budget/8)
	return start(ctx, plan, c.Out, begin, limit, prepared, o)
}

// start runs a plan into a new folder. limit is the time from begin that its runs may take; 0: as long as
// they do.
func start(ctx context.Context, plan Plan, out string, begin time.Time, limit time.Duration, p prepared,
	o Options) (*record.Results, error) {
	release, err := rundir.Reserve(out)
	if err != nil {
		return nil, usage("%v", err)
	}
	defer release()
	b := newBench(plan, out, o)
	b.results.Rows = plan.records()
	b.limit(begin, limit, limit)
	if err := savePlan(out, plan, limit); err != nil {
		return nil, err
	}
	return b.run(ctx, p.peers)
}

// limit sets when runs end that may take so long from begin, of a time in all that is a ninth more than the
// budget; none if that is 0.
func (b *bench) limit(begin time.Time, left, all time.Duration) {
	if all > 0 {
		b.deadline, b.goal = begin.Add(left), begin.Add(left-all/9)
	}
}

// run compares peers, then executes the rounds.
func (b *bench) run(ctx context.Context, p *peers) (*record.Results, error) {
	if err := b.checkPeers(ctx, p); err != nil {
		return nil, err
	}
	err := b.runAll(ctx)
	return &b.results, err
}

// Replay runs the plan of the benchmark in a folder again, into the new folder out, as
// [setting.Config.Foreign] says. It fails with a *setting.UsageError if there is no plan, or results of other
// rows.
func Replay(ctx context.Context, folder, out string, k *setting.Catalog, o Options) (*record.Results, error) {
	begin := time.Now()
	plan, limit, _, err := readBench(folder, k)
	if err != nil {
		return nil, err
	}
	for i := range plan.Rows {
		plan.Rows[i].Config = plan.Rows[i].Foreign()
	}
	p, err := o.prepare(ctx, plan, out)
	if err != nil {
		return nil, err
	}
	defer p.peers.close()
	o.Execute = p.execute
	return start(ctx, plan, out, begin, limit, p, o)
}

// Resume goes on with the benchmark in a folder that was interrupted: it executes the runs that have not
// ended, and those that failed. The plan is that of the folder. more is time beside what is left of its
// budget. It fails with a *setting.UsageError if the folder holds no benchmark that can go on, or another
// process uses it.
func Resume(ctx context.Context, folder string, more time.Duration, k *setting.Catalog, o Options) (
	*record.Results, error) {
	plan, limit, former, err := readBench(folder, k)
	if err != nil {
		return nil, usage("--resume: %v", err)
	}
	prepared, err := o.prepare(ctx, plan, folder)
	if err != nil {
		return nil, err
	}
	defer prepared.peers.close()
	o.Execute = prepared.execute
	unlock, err := rundir.Lock(folder)
	if err != nil {
		return nil, usage("--resume: %v", err)
	}
	defer unlock()
	b := newBench(plan, folder, o)
	b.results.Rows = plan.records()
	if former != nil {
		now := b.results
		b.follow(former)
		if err := samePlace(former, &now, folder); err != nil && !b.isWhole() {
			return nil, err
		}
	}
	if limit > 0 {
		limit += more
	}
	left := limit - time.Duration(b.spent*float64(time.Second))
	if limit > 0 && left <= 0 && !b.isWhole() {
		return nil, usage("--resume: the budget of %s is used up; --budget 10m gives it more time", folder)
	}
	b.limit(b.started, left, limit)
	return b.run(ctx, prepared.peers)
}

// ResumeCommand returns the command line that goes on with the interrupted benchmark r in a folder.
func ResumeCommand(r *record.Results, folder string) string {
	words := slices.Concat([]string{"lockstep"}, record.Behind(r.Lab, r.Hosts), []string{"bench", "--resume",
		folder})
	return spelling.Line(words...)
}

// samePlace refuses to go on with runs of a lab, or of several hosts, elsewhere: rows would be compared
// across networks.
func samePlace(former, now *record.Results, folder string) error {
	was := record.Behind(former.Lab, former.Hosts)
	if slices.Equal(was, record.Behind(now.Lab, now.Hosts)) {
		return nil
	}
	where := "on one machine, without a lab"
	if was != nil {
		where = "started behind lockstep " + spelling.Line(was[:len(was)-1]...)
	}
	return usage("--resume: the runs of %s were %s; want %s", folder, where, ResumeCommand(former, folder))
}

// bench is the state of a benchmark that is being run.
type bench struct {
	plan    Plan
	options Options
	out     string
	started time.Time // this sitting
	spent   float64   // seconds of the sittings before
	results record.Results
	walls   []wall // of finished runs
	failure *FailedError
	ended   int // runs that have ended, in all sittings

	hasToldBusy bool           // that the machine is
	hasTried    map[Trial]bool // that have failed in this sitting

	deadline time.Time // after which no run begins; zero: none
	goal     time.Time // when the budget ends, which the deadline passes by a ninth; zero: there is none
}

func newBench(p Plan, out string, o Options) *bench {
	b := &bench{plan: p, options: o, out: out, started: time.Now(), results: o.Label,
		hasTried: map[Trial]bool{}}
	b.results.Go, b.results.Host = runtime.Version(), DescribeHost()
	b.results.Load = Load()
	if hosts, err := record.ParseHosts(o.Job.Environment[cluster.EnvPreflight]); err == nil {
		b.results.Hosts = hosts // each run warns of text that cannot be read
	}
	b.results.Rounds, b.results.Order = p.Repeats, p.Order
	b.results.Precision, b.results.Inquiry = p.Precision, p.Inquiry
	b.results.Started = b.started
	b.results.Skipped = slices.Clone(p.Skipped)
	return b
}

// follow takes over what an interrupted benchmark has measured, as its former sittings.
func (b *bench) follow(former *record.Results) {
	now := b.results
	if former.Sittings == nil {
		former.Sittings = []record.Sitting{{Started: former.Started, Seconds: former.Seconds,
			Version: former.Version, Revision: former.Revision, Host: former.Host, Load: former.Load}}
	}
	b.results = *former
	b.results.CutShort = false
	b.results.Skipped = slices.DeleteFunc(b.results.Skipped, func(s record.Skip) bool {
		return s.Reason == record.BudgetOver
	})
	b.spent = former.Seconds
	for i, row := range former.Rows {
		switch rounds := row.Rounds; {
		case rounds > b.plan.Rows[i].Rounds && rounds <= b.plan.Asked: // time was left
			b.plan.Rows[i].Rounds, b.plan.Repeats = rounds, max(b.plan.Repeats, rounds)
		case rounds >= b.plan.Repeats && b.plan.Precision > 0: // it has had those of a narrow interval
			b.plan.Rows[i].Rounds = rounds
		}
		b.ended += len(row.Runs) + len(row.Replaced)
		for _, run := range row.Runs {
			b.walls = append(b.walls, wall{i, run.Wall})
		}
	}
	b.results.Sittings = append(slices.Clone(former.Sittings), record.Sitting{Started: now.Started,
		First: b.ended, Version: now.Version, Revision: now.Revision, Host: now.Host, Load: now.Load})
}

// isOver reports whether the run would end after the deadline.
func (b *bench) isOver(t Trial) bool {
	if len(b.walls) == 0 || t.Round >= b.plan.Repeats {
		return false // a round that was added has been found to fit
	}
	return !b.hasTime([]Trial{t})
}

// leaveOut notes a run that the budget has no time for. A row without any run is told as left out.
func (b *bench) leaveOut(t Trial) {
	b.results.CutShort = true
	row := b.plan.Rows[t.Row]
	if skip := row.skipped(record.BudgetOver); len(b.results.Rows[t.Row].Runs) == 0 &&
		!slices.Contains(b.results.Skipped, skip) {
		b.results.Skipped = append(b.results.Skipped, skip)
	}
}

// runAll executes the rounds of the plan, then those that the precision asks for.
func (b *bench) runAll(ctx context.Context) error {
	if err := b.save(); err != nil {
		return err
	}
	for round := 0; b.hasRound(round); round++ {
		b.results.Rounds = max(b.results.Rounds, round+1)
		if err := b.runRound(ctx, round); err != nil {
			return err
		}
	}
	if b.failure != nil {
		return b.failure
	}
	return b.save()
}

// runRound executes the runs of a round that have not ended, then those again that were disturbed.
func (b *bench) runRound(ctx context.Context, round int) error {
	for _, t := range b.plan.round(round) {
		if b.hasEnded(t) {
			continue
		}
		if b.isOver(t) {
			b.leaveOut(t)
			continue
		}
		if err := b.runAndSave(ctx, t); err != nil {
			return err
		}
	}
	return b.repeatRound(ctx, round)
}

// runAndSave executes a run and writes the results. A run that fails alone is no error.
func (b *bench) runAndSave(ctx context.Context, t Trial) error {
	err := b.runOne(ctx, t)
	if failed := b.save(); failed != nil {
		return failed
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		return nil
	}
	name := b.plan.Rows[t.Row].Name()
	if isFatal(err) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if b.failure == nil {
		b.failure = &FailedError{Runs: len(b.plan.Trials()), Name: name, First: err}
	}
	b.failure.Failed++
	return nil
}

// save writes the results.
func (b *bench) save() error {
	now := time.Since(b.started).Seconds()
	b.results.Seconds = b.spent + now
	if n := len(b.results.Sittings); n > 0 {
		b.results.Sittings[n-1].Seconds = now
	}
	b.results.Complete = b.isWhole()
	return report.Save(b.out, &b.results)
}

// isWhole reports whether every run of the rounds so far has ended, and there were those of the plan.
func (b *bench) isWhole() bool {
	for round := range max(b.plan.Repeats, b.results.Rounds) {
		for _, t := range b.plan.round(round) {
			if b.runOf(t) == nil {
				return false
			}
		}
	}
	return true
}

// runOf returns the run that counts of a row in a round; nil if there is none.
func (b *bench) runOf(t Trial) *record.Run {
	runs := b.results.Rows[t.Row].Runs
	i := slices.IndexFunc(runs, func(r record.Run) bool { return r.Round == t.Round })
	if i < 0 {
		return nil
	}
	return &runs[i]
}

// hasEnded reports whether a row has had its run of a round, without a failure.
func (b *bench) hasEnded(t Trial) bool {
	run := b.runOf(t)
	return run != nil && run.Error == ""
}

// runOne executes a run and adds what it measured, its failure included, to its row. A run that was cancelled
// leaves nothing in the results.
func (b *bench) runOne(ctx context.Context, t Trial) error {
	config := b.plan.Rows[t.Row]
	config.Out = freeDirectory(filepath.Join(b.out, "runs", config.directory(t)))
	config.Seed = b.plan.seed(t)
	config.Save = false // a benchmark keeps figures, not weights
	state := Progress{Run: b.ended + 1, Round: t.Round + 1, Again: b.hasEnded(t), Name: config.Name()}
	if b.failure != nil {
		state.Failed = b.failure.Failed
	}
	latency := host.CoreLatency()
	begin := time.Now()
	b.report(state, t, begin)
	options := b.options.Job
	options.Isolate = true
	options.Progress = func(p launcher.Progress) {
		state.Job = p
		b.report(state, t, begin)
	}
	summary, err := b.options.Execute(ctx, config, options)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	run := record.Run{Round: t.Round, Position: b.ended, Started: begin,
		Wall: time.Since(begin).Seconds()}
	row := &b.results.Rows[t.Row]
	if err == nil {
		if err := b.checkData(config.Config, summary.DataSHA256); err != nil {
			return err
		}
		err = collect(&run, row, config.Config, summary)
	}
	if err != nil {
		run.Error = err.Error()
	}
	if row.Setting.Cores == 0 { // it ran on this machine
		run.CoreLatency = record.Numbers{float64(latency), float64(host.CoreLatency())}
	}
	if run.Directory, _ = filepath.Rel(b.out, config.Out); run.Directory == "" {
		run.Directory = config.Out
	}
	addRun(row, run)
	b.ended++
	b.walls = append(b.walls, wall{t.Row, run.Wall})
	state.Done, state.Err, state.Disturbed = true, err, run.Taken.Sum()
	b.hasTried[t] = err != nil
	b.report(state, t, time.Now())
	return err
}

// report passes the progress to the caller. The run that is going on, or has ended, began at begin.
func (b *bench) report(p Progress, t Trial, begin time.Time) {
	if b.options.Progress == nil {
		return
	}
	p.Runs = b.ended + len(b.left(t.Round))
	p.Remaining = b.timeLeft(t, time.Since(begin), p.Done)
	b.options.Progress(p)
}

// isFatal reports whether every other run would fail too, because the request or the data are wrong.
func isFatal(err error) bool {
	code := job.ExitCode(err)
	return code == job.ExitUsage || code == job.ExitData
}

// prepared is how the rows of a plan are executed.
type prepared struct {
	execute func(context.Context, Row, launcher.Options) (*record.Summary, error)
	peers   *peers // nil: no row has one
}

// prepare finds out how rows are executed, and whether they can be.
func (o Options) prepare(ctx context.Context, p Plan, out string) (prepared, error) {
	if o.Execute != nil {
		return prepared{execute: o.Execute}, nil
	}
	if err := checkLab(ctx, p, o.Job.Environment); err != nil {
		return prepared{}, err
	}
	found, err := openPeers(ctx, p, out, o.Job)
	if err != nil {
		return prepared{}, err
	}
	return prepared{peers: found,
		execute: func(ctx context.Context, row Row, o launcher.Options) (*record.Summary, error) {
			if row.Peer != "" {
				return found.run(ctx, row)
			}
			return execute(ctx, row, o)
		}}, nil
}

// checkPeers compares the losses of peers with ours.
func (b *bench) checkPeers(ctx context.Context, p *peers) (err error) {
	if p == nil {
		return nil
	}
	b.results.Peers, err = p.check(ctx, b.plan.Rows, b.results.Peers)
	return err
}
