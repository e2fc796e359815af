package bench

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/question"
	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/rundir"
	"lockstep/app/setting"
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

	// Confirm makes the runs that confirm what the plan asks why for, after its rounds, which r holds, into
	// the new folder out. left is the time for them; 0: they take as long as they do. nil: there are none,
	// and nothing of a budget is kept for them.
	Confirm func(ctx context.Context, p Plan, r *record.Results, out string, left time.Duration,
		o Options) (*record.Causes, error)

	// Execute runs one row; nil: with chooser.Run, in a lab if the row's condition asks for one, or by
	// the peer that the row names.
	Execute func(context.Context, Row, launcher.Options) (*record.Summary, error)
}

// Progress says how far a benchmark is.
type Progress struct {
	Run, Runs int    // number of the run, from 1, of all that are known to be needed; a repeat adds one
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

// MaxAdded is the number of rounds that a precision adds at most.
const MaxAdded = 50

// bench is the state of a benchmark that is being run.
type bench struct {
	plan    Plan
	options Options
	out     string
	peers   *peers    // nil: no row has one
	started time.Time // this sitting
	spent   float64   // seconds of the sittings before
	results record.Results
	failure *FailedError
	ended   int  // runs that have ended, in all sittings
	isTold  bool // that the machine is busy

	saved    time.Time     // when the results were written last
	saving   time.Duration // how long that took
	deadline time.Time     // by which runs have to end; zero: they take as long as they do
	end      time.Time     // by which those that confirm causes have to, too
	grace    time.Duration // that a round may take longer, so that it is whole
}

// runAll executes the rounds of the plan, then those that are added, and writes what they measured.
func (b *bench) runAll(ctx context.Context) (err error) {
	if err := b.save(); err != nil {
		return err
	}
	defer func() { err = cmp.Or(b.save(), err) }()
	for round := 0; b.hasRound(round); round++ {
		b.results.Rounds = max(b.results.Rounds, round+1)
		if err := b.runRound(ctx, round); err != nil {
			return err
		}
	}
	if b.failure != nil {
		return b.failure
	}
	return nil
}

// hasRound reports whether there is another round. Groups for whose round there is no time end with the one
// before. Those that have had theirs and want more get one if it ends in time, after what else is left to do.
func (b *bench) hasRound(round int) bool {
	var due []Trial
	for _, group := range b.plan.groups() {
		own := slices.DeleteFunc(b.plan.round(round), func(t Trial) bool {
			return b.hasEnded(t) || !slices.Contains(group, t.Row)
		})
		if round > 0 && len(own) == len(group) && !b.hasTime(append(due, own...), 1) {
			b.setRounds(group, round)
			continue
		}
		due = append(due, own...)
	}
	left := b.left(round)
	for _, group := range b.groupsWanting(round) {
		more := slices.Clone(left)
		for _, row := range group {
			more = append(more, Trial{round, row})
		}
		if b.hasTime(more, reserve) { // so that it is whole, though runs take a little longer
			left = more
			b.setRounds(group, round+1)
		}
	}
	return len(b.plan.round(round)) > 0
}

// setRounds sets the rounds of some rows.
func (b *bench) setRounds(rows []int, rounds int) {
	for _, row := range rows {
		b.plan.Rows[row].Rounds, b.results.Rows[row].Rounds = rounds, rounds
	}
}

// groupsWanting returns the groups that have had all their rounds before a round, and want it: a budget has
// cut their rounds, or a question of them is not decided, or an interval is wider than the precision.
func (b *bench) groupsWanting(round int) (groups [][]int) {
	if round == 0 || round >= record.MaxRounds {
		return nil
	}
	var open []int // rows
	if b.plan.Precision > 0 && round < b.plan.Repeats+MaxAdded {
		open = compare.Compare(&b.results).Wide(b.plan.Precision)
	} else if b.plan.Asked > 0 && b.plan.Asked <= round && round < mostRounds {
		for _, a := range question.Answers(&b.results, compare.Compare(&b.results)) {
			if a.IsOpen() {
				open = append(open, b.plan.chosen(append(slices.Clone(a.Over), a.Of))...)
			}
		}
	}
	for _, group := range b.plan.groups() {
		isOpen := slices.ContainsFunc(group, func(row int) bool { return slices.Contains(open, row) })
		if b.plan.rounds(group[0]) == round && (isOpen || round < b.plan.Asked) {
			groups = append(groups, group)
		}
	}
	return groups
}

// runRound executes the runs of a round that have not ended, then those again that were disturbed, unless
// most of them are: that does not pass, so repeats would only take time.
func (b *bench) runRound(ctx context.Context, round int) error {
	trials := b.plan.round(round)
	for _, t := range trials {
		switch {
		case b.hasEnded(t):
		case !b.canEnd(t):
			b.leaveOut(t)
		default:
			if err := b.runAndSave(ctx, t); err != nil {
				return err
			}
		}
	}
	due, known := b.disturbed(trials)
	if 2*len(due) > known {
		b.tellBusy(round, len(due), known)
		return nil
	}
	for _, t := range due { // if there is time: a run of each row says more than two of one
		if b.hasTime(append(b.left(round+1), t), 1) {
			if err := b.runAndSave(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// disturbed returns the runs that were disturbed and not repeated in any sitting, and how many runs are long
// enough to tell. Failures do not count.
func (b *bench) disturbed(trials []Trial) (due []Trial, known int) {
	for _, t := range trials {
		run := b.runOf(t)
		if run == nil || run.Error != "" || run.Taken == nil {
			continue
		}
		known++
		isRepeat := func(r record.Run) bool { return r.Round == t.Round && r.Error == "" }
		if run.Taken.IsDisturbed() && !slices.ContainsFunc(b.results.Rows[t.Row].Replaced, isRepeat) {
			due = append(due, t)
		}
	}
	return due, known
}

// tellBusy says once that the machine is busy, and what can be done.
func (b *bench) tellBusy(round, disturbed, known int) {
	if b.isTold || b.options.Progress == nil {
		return
	}
	b.isTold = true
	b.options.Progress(Progress{Note: fmt.Sprintf("others took cores from %d of the %d runs of round %d "+
		"that are long enough to tell: rows that differ little will not be told apart. It goes on, and "+
		"repeats no runs of such a round", disturbed, known, round+1)})
}

// ResumeCommand returns the command line that goes on with the interrupted benchmark r in a folder.
func ResumeCommand(r *record.Results, folder string) string {
	words := slices.Concat([]string{"lockstep"}, record.Behind(r.Lab, r.Hosts), []string{"bench", "--resume",
		folder})
	return spelling.Line(words...)
}

// leaveOut notes a run that the budget has no time for. A row without any run is told as left out.
func (b *bench) leaveOut(t Trial) {
	b.results.CutShort = true
	skip := b.plan.Rows[t.Row].skipped(record.BudgetOver)
	if len(b.results.Rows[t.Row].Runs) == 0 && !slices.Contains(b.results.Skipped, skip) {
		b.results.Skipped = append(b.results.Skipped, skip)
	}
}

// runAndSave executes a run; once more if a worker was lost, which on a busy machine may have been slow. It
// writes the results when that takes a twentieth of the time: those of a hundred runs have 36 MB. A run that
// fails alone is no error.
func (b *bench) runAndSave(ctx context.Context, t Trial) error {
	err := b.runOne(ctx, t)
	if job.ExitCode(err) == job.ExitPeerLost && ctx.Err() == nil && b.canEnd(t) {
		err = b.runOne(ctx, t)
	}
	if time.Since(b.saved) >= 20*b.saving {
		if failed := b.save(); failed != nil {
			return failed
		}
	}
	if ctx.Err() != nil || err == nil {
		return ctx.Err()
	}
	name := b.plan.Rows[t.Row].Name()
	if code := job.ExitCode(err); code == job.ExitUsage || code == job.ExitData { // of every other run too
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
	begin := time.Now()
	defer func() { b.saved, b.saving = time.Now(), time.Since(begin) }()
	return report.Save(b.out, &b.results)
}

// isWhole reports whether every run of the plan has ended.
func (b *bench) isWhole() bool {
	return !slices.ContainsFunc(b.plan.Trials(), func(t Trial) bool { return b.runOf(t) == nil })
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

// hasEnded reports whether a row has had its run of a round: one without a failure, or in this sitting.
func (b *bench) hasEnded(t Trial) bool {
	run := b.runOf(t)
	return run != nil && (run.Error == "" || !run.Started.Before(b.started))
}

// runOne executes a run and adds what it measured, its failure included, to its row. A run that was cancelled
// leaves nothing in the results.
func (b *bench) runOne(ctx context.Context, t Trial) error {
	config := b.plan.Rows[t.Row]
	// What an interrupted or a disturbed run has left stays.
	config.Out = rundir.Unused(filepath.Join(b.out, "runs", config.directory(t)))
	config.Seed = b.plan.seed(t)
	config.Save = false // a benchmark keeps figures, not weights
	state := Progress{Run: b.ended + 1, Round: t.Round + 1, Again: b.hasEnded(t), Name: config.Name()}
	if b.failure != nil {
		state.Failed = b.failure.Failed
	}
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
		if err := checkData(row, config.Data, summary.DataSHA256); err != nil {
			return err
		}
		err = collect(&run, row, config.Config, summary)
	}
	if err != nil {
		run.Error = err.Error()
	}
	if run.Directory, _ = filepath.Rel(b.out, config.Out); run.Directory == "" {
		run.Directory = config.Out
	}
	addRun(row, run)
	b.ended++
	state.Done, state.Err, state.Disturbed = true, err, run.Taken.Sum()
	b.report(state, t, begin)
	return err
}

// addRun adds a run to its row. Of two runs of one round, the one that succeeded counts or, of two, the one
// that lost less of the cores to others; the other is kept as replaced. Times take no part in the choice,
// except that a run too short to tell counts as one that has lost nothing.
func addRun(row *record.Row, run record.Run) {
	i := slices.IndexFunc(row.Runs, func(r record.Run) bool { return r.Round == run.Round })
	if i < 0 {
		row.Runs = append(row.Runs, run)
		return
	}
	former := &row.Runs[i]
	if run.Error == "" && (former.Error != "" || run.Taken.Sum() < former.Taken.Sum()) {
		*former, run = run, *former
	}
	row.Replaced = append(row.Replaced, run)
}

// report passes the progress to the caller. The run that is going on, or has ended, began at begin.
func (b *bench) report(p Progress, t Trial, begin time.Time) {
	if b.options.Progress == nil {
		return
	}
	left := slices.DeleteFunc(b.left(t.Round), func(other Trial) bool { return other == t })
	p.Runs, p.Remaining = b.ended+len(left), b.expected(left)
	if !p.Done {
		p.Runs++
		p.Remaining += max(0, b.expected([]Trial{t})-time.Since(begin))
	}
	if !b.deadline.IsZero() {
		p.Remaining = max(0, min(p.Remaining, time.Until(b.deadline)))
	}
	b.options.Progress(p)
}

// left returns the runs of a round and of later ones that are still to come.
func (b *bench) left(round int) []Trial { return slices.DeleteFunc(b.plan.from(round), b.hasEnded) }

// hasTime reports whether some runs end in a part of the time before the deadline.
func (b *bench) hasTime(trials []Trial, part float64) bool {
	return b.deadline.IsZero() || float64(b.expected(trials)) < part*float64(time.Until(b.deadline))
}

// canEnd reports whether a run of a round that was begun ends before the deadline, or a little later.
func (b *bench) canEnd(t Trial) bool {
	return b.deadline.IsZero() || b.expected([]Trial{t}) < time.Until(b.deadline)+b.grace
}

// expected estimates how long some runs take: each as long as those of its row did before; a row without a
// run, as long as the mean of its model's rows, else of all rows. It is 0 while no run has finished.
func (b *bench) expected(trials []Trial) (all time.Duration) {
	each := map[int]float64{}
	for _, t := range trials {
		seconds, isKnown := each[t.Row]
		if !isKnown {
			model := b.plan.Rows[t.Row].Model
			seconds = cmp.Or(b.meanWall(func(row int) bool { return row == t.Row }),
				b.meanWall(func(row int) bool { return b.plan.Rows[row].Model == model }),
				b.meanWall(func(int) bool { return true }))
			each[t.Row] = seconds
		}
		all += time.Duration(seconds * float64(time.Second))
	}
	return all
}

// meanWall returns the mean seconds of the runs of some rows so far, processes included; 0: there are none.
func (b *bench) meanWall(has func(row int) bool) float64 {
	sum, n := 0.0, 0
	for i := range b.results.Rows {
		for _, run := range slices.Concat(b.results.Rows[i].Runs, b.results.Rows[i].Replaced) {
			if has(i) {
				sum += run.Wall
				n++
			}
		}
	}
	return sum / float64(max(n, 1))
}
