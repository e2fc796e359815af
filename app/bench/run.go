package bench

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"lockstep/app/evidence/question"
	"lockstep/app/host"
	"lockstep/app/job/chooser"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
)

// Run executes the matrix of c and returns its results, which also lie in c.Out as results.json,
// written anew as runs end. With an error the results hold what was measured before it;
// they are nil only if nothing was run. See the package's comment for the errors.
func Run(ctx context.Context, c Config, o Options) (*record.Results, error) {
	plan, err := Expand(c)
	if err == nil {
		err = place(plan.Rows, environment(o.Job), c.Cores)
	}
	if err != nil {
		return nil, err
	}
	b, err := open(ctx, plan, c.Out, o)
	if err != nil {
		return nil, err
	}
	defer b.peers.close()
	if c.Budget > 0 {
		var fitted Fitted
		if b.plan, fitted, err = budgeted(ctx, plan, c.Budget, b.options); err != nil {
			return nil, err
		}
		if o.Fitted != nil {
			o.Fitted(fitted)
		}
	}
	return b.begin(ctx, cmp.Or(c.Limit, c.Budget))
}

// Replay runs the plan of the benchmark in a folder again, into the new folder out, as
// [setting.Config.Foreign] says. It fails with a *setting.UsageError if there is no plan, or results of other
// rows.
func Replay(ctx context.Context, folder, out string, k *setting.Catalog, o Options) (*record.Results, error) {
	plan, limit, _, err := readBench(folder, k)
	if err != nil {
		return nil, err
	}
	for i := range plan.Rows {
		plan.Rows[i].Config = plan.Rows[i].Foreign()
	}
	return RunPlan(ctx, plan, out, limit, o)
}

// RunPlan executes a plan into the new folder out. limit is the time that its runs may take; 0: as long as
// they do. See the package's comment for the errors.
func RunPlan(ctx context.Context, p Plan, out string, limit time.Duration, o Options) (*record.Results,
	error) {
	b, err := open(ctx, p, out, o)
	if err != nil {
		return nil, err
	}
	defer b.peers.close()
	return b.begin(ctx, limit)
}

// Resume goes on with the benchmark in a folder that was interrupted: it executes the runs that have not
// ended, and those that failed. The plan is that of the folder. more is time beside what is left of its
// budget. It fails with a *setting.UsageError if the folder holds no benchmark that can go on, or another
// process uses it.
func Resume(ctx context.Context, folder string, more time.Duration, k *setting.Catalog, o Options) (
	*record.Results, error) {
	plan, limit, former, err := readBench(folder, k)
	if err != nil {
		return nil, setting.Refuse("--resume: %v", err)
	}
	b, err := open(ctx, plan, folder, o)
	if err != nil {
		return nil, err
	}
	defer b.peers.close()
	unlock, err := rundir.Lock(folder)
	if err != nil {
		return nil, setting.Refuse("--resume: %v", err)
	}
	defer unlock()
	b.fill()
	if former != nil {
		b.follow(former)
	}
	if limit > 0 {
		left := limit + more - time.Duration(b.spent*float64(time.Second))
		if left <= 0 && !b.isWhole() {
			return nil, setting.Refuse("--resume: the budget of %s is used up; --budget 10m gives it more "+
				"time", folder)
		}
		b.setEnd(left)
	}
	return b.run(ctx)
}

// open finds out how the rows of a plan are executed, and whether they can be.
func open(ctx context.Context, p Plan, out string, o Options) (*bench, error) {
	b := &bench{plan: p, options: o, out: out, started: time.Now()}
	if o.Probe == nil {
		b.options.Probe = chooser.Probe
	}
	if o.Execute != nil {
		return b, nil
	}
	err := checkLab(ctx, p, o.Job.Environment)
	if err == nil {
		b.peers, err = openPeers(ctx, p, out, o.Job)
	}
	b.options.Execute = b.peers.execute
	return b, err
}

// begin runs the plan into a new folder. limit is the time that its runs may take; 0: as long as they do.
func (b *bench) begin(ctx context.Context, limit time.Duration) (*record.Results, error) {
	release, err := rundir.Reserve(b.out)
	if err != nil {
		return nil, setting.Refuse("%v", err)
	}
	defer release()
	if limit > 0 {
		b.setEnd(limit)
	}
	b.fill()
	if err := savePlan(b.out, b.plan, limit); err != nil {
		return nil, err
	}
	return b.run(ctx)
}

// fill fills the results with what is known before the first run.
func (b *bench) fill() {
	r, p := &b.results, b.plan
	*r = b.options.Label
	r.Go, r.Host, r.Load, r.Started = runtime.Version(), DescribeHost(), host.Load(), b.started
	if hosts, err := record.ParseHosts(b.options.Job.Environment[cluster.EnvPreflight]); err == nil {
		r.Hosts = hosts // each run warns of text that cannot be read
	}
	r.Rounds, r.Order, r.Precision, r.Inquiry = p.Repeats, p.Order, p.Precision, p.Inquiry
	r.Skipped, r.Rows = slices.Clone(p.Skipped), p.records()
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
		b.plan.Rows[i].Rounds = row.Rounds // with those that were added
		b.ended += len(row.Runs) + len(row.Replaced)
	}
	b.results.Sittings = append(slices.Clone(former.Sittings), record.Sitting{Started: now.Started,
		First: b.ended, Version: now.Version, Revision: now.Revision, Host: now.Host, Load: now.Load})
}

// run compares peers, then executes the rounds.
func (b *bench) run(ctx context.Context) (*record.Results, error) {
	if b.peers != nil {
		var err error
		if b.results.Peers, err = b.peers.check(ctx, b.plan.Rows, b.results.Peers); err != nil {
			return nil, err
		}
	}
	err := b.runAll(ctx)
	isAsked := b.options.Confirm != nil && b.results.Causes == nil && question.AsksWhy(b.plan.Inquiry)
	if failed := (*FailedError)(nil); !isAsked || err != nil && !errors.As(err, &failed) {
		return &b.results, err
	}
	return &b.results, cmp.Or(err, b.confirm(ctx))
}

// setEnd sets the time by which all runs have to end, from the start of this sitting, and those of the rounds
// before what is kept.
func (b *bench) setEnd(limit time.Duration) {
	b.end, b.grace = b.started.Add(limit), limit/20
	b.deadline = b.end.Add(-time.Duration(b.plan.Kept * float64(time.Second)))
}

// confirm makes the runs that confirm causes.
func (b *bench) confirm(ctx context.Context) (err error) {
	left := time.Duration(0)
	if !b.end.IsZero() {
		left = max(time.Until(b.end), 1) // 0 is no limit
	}
	o := b.options
	confirm := o.Confirm
	if show := o.Progress; show != nil {
		o.Progress = func(p Progress) {
			if p.Note == "" { // else it tells how to go on with a folder that is part of another
				show(p)
			}
		}
		show(Progress{Note: "what it asks why is confirmed by runs of rows again, beside variants of them"})
	}
	o.Fitted, o.Confirm, o.Label.Recipe, o.Label.Predictions = nil, nil, "", nil
	folder := rundir.Unused(filepath.Join(b.out, "causes"))
	if b.results.Causes, err = confirm(ctx, b.plan, &b.results, folder, left, o); err != nil {
		return err
	}
	return b.save()
}
