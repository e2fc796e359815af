package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"lockstep/app/job/input"
	"lockstep/app/job/server"
	"lockstep/app/job/worker"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/data"
	"lockstep/internal/spelling"
)

// Options say how Run behaves towards its caller; none of them changes the result.
type Options struct {
	// Progress is called about ten times a second, and with every note and evaluation, from one
	// goroutine at a time; nil: not.
	Progress func(Progress)
	// Stderr takes notes for people; nil: they are discarded.
	Stderr io.Writer
	// Environment finds data sets and is passed to workers; nil: this process's.
	Environment cluster.Environment
	// Origins of the values, as Resolve returned them, for config.yaml; nil: not noted.
	Origins setting.Origins
	// Isolate runs even a single worker in a process of its own, so that its memory and its
	// runtime are not those of the caller.
	Isolate bool
	// Place is that of this process, with rank 0, among those that another launcher has started; zero: it
	// was started alone. The others join at Meeting. Asked is called when one of them is asked to stop.
	Place   cluster.Place
	Meeting *cluster.Meeting
	Asked   func()
	// Choose decides a strategy that is auto, and says why; nil: nobody can.
	Choose Choose
	// Probes lets workers measure their links although they exchange nothing.
	Probes bool
	// Task gives the network and the samples in place of the names in the configuration; nil: those are
	// loaded. Hears returns what hears of a rank, and what its loop asks whether the run is over; nil:
	// nothing does. Both are for workers of this process.
	Task  func(start input.Start) (input.Task, error)
	Hears func(rank int) (worker.Listener, func() bool)
	gpu   *record.GPU // that computes, as this process sees it; nil: none does

	// Worker is the command of a worker process, and Server that of a server process; nil: this binary with
	// the argument "worker" or "server".
	Worker, Server []string
}

// Choose returns c, whose device is decided, with its strategy in place of auto.
type Choose func(ctx context.Context, c setting.Config, o Options) (Choice, error)

// Choice is what was decided of a configuration by short runs before its run.
type Choice struct {
	Config   setting.Config
	Origins  setting.Origins        // of its values
	Strategy *record.StrategyChoice // nil: it was given
}

// Run executes the run c describes: it makes sure that the data is there, creates the run
// directory, starts the workers, waits for all of them, then writes and returns the summary. Open
// fields of c are completed first. A cancelled context stops every worker; the error is then
// context.Canceled. A run that ends early returns an *EndedError. If it was resumed and finished no step,
// the error is its cause and only the logs in its directory have changed. Run returns the summary together
// with a *MissedError and with an error of writing the summary. A resumed run that has nothing to do changes
// no file and returns its former summary.
func Run(ctx context.Context, c setting.Config, o Options) (*record.Summary, error) {
	o.setDefaults()
	if isa := o.Environment[cluster.EnvISA]; c.ISA == "" && isa != "" {
		c.ISA = isa
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c, device, err := o.placed(c)
	if err != nil {
		return nil, err
	}
	chosen, err := o.choose(ctx, c)
	if err != nil {
		return nil, err
	}
	c, o.Origins, o.gpu = chosen.Config, chosen.Origins, device
	if c.Resume != "" {
		c.Out = c.Resume
	}
	if o.Meeting != nil && c.NumApart() > 0 {
		return nil, setting.Refuse("--server-place: apart wants more processes than %s has started; want "+
			"workers", o.Place.Launcher)
	}
	if o.Isolate && c.World() == 1 {
		c = c.InProcesses()
	}
	if err := server.CheckReplay(c); err != nil {
		return nil, err
	}
	start, err := input.Open(c, func(text string) { fmt.Fprintln(o.Stderr, text) })
	if err != nil {
		return nil, err
	}
	if start.Resumed != nil {
		if err := recovered(rundir.Directory(c.Out), start.Resumed); err != nil {
			return nil, err
		}
		if s := finished(c, start.Resumed.Kept); s != nil {
			fmt.Fprintln(o.Stderr, nothingToDo(s))
			return s, missed(s)
		}
		fmt.Fprintf(o.Stderr, "resuming %s after step %d\n", spelling.Word(c.Resume),
			start.Resumed.Kept.Progress.Step)
		if text := rundir.Directory(c.Resume).Cause(); text != "" {
			fmt.Fprintln(o.Stderr, "note: "+text)
		}
		for _, text := range changes(c, start.Resumed.Kept) {
			fmt.Fprintln(o.Stderr, "warning: "+text)
			start.Resumed.Kept.Changes = append(start.Resumed.Kept.Changes, text)
		}
	}
	return carryOut(ctx, c, start, o, chosen)
}

// choose returns given, complete, with what it leaves to auto decided.
func (o Options) choose(ctx context.Context, given setting.Config) (Choice, error) {
	c := given.On(o.Environment).Complete()
	if c.Strategy != setting.Auto {
		return Choice{Config: c, Origins: o.Origins}, nil
	}
	if o.Choose == nil || o.Meeting != nil {
		return Choice{},
			setting.Refuse("--strategy auto makes short runs first, which another launcher's workers " +
				"cannot join; name a strategy")
	}
	return o.Choose(ctx, given, o)
}

// carryOut executes a run that has not ended yet.
func carryOut(ctx context.Context, c setting.Config, start input.Start, o Options,
	why Choice) (*record.Summary,
	error) {
	o.noteContention(c)
	o.noteSettings(c)
	if err := o.fetchData(ctx, c); err != nil {
		return nil, err
	}
	dir, err := prepare(c, o, start.Resumed)
	if err != nil {
		return nil, err
	}
	defer dir.Unlock()
	told := newHeard(c, start.Resumed, o)
	told.dir = dir.Directory
	results, isa, err := runWorkers(ctx, c, dir.Directory, start, told, o)
	if err != nil {
		return nil, endedEarly(ctx, c, dir, o.Origins, err)
	}
	c.ISA = isa
	if c.Trace {
		writeTrace(dir.Directory, c.World(), told)
	}
	summary, err := summarize(c, dir.Directory, start.Resumed, results, told)
	if err != nil {
		return nil, err
	}
	summary.StrategyChoice = why.Strategy
	if summary.Restarts, err = record.ParseRestarts(o.Environment[cluster.EnvRestarts]); err != nil {
		return nil, err
	}
	if text := restarted(summary.Restarts); text != "" {
		summary.Cautions = append(summary.Cautions, text)
	}
	if summary.StepsSHA256, err = dir.StepsSHA256(); err != nil && !told.hasLost(rundir.StepsFile) {
		o.warn(fmt.Sprintf("warning: %s will not be checked by reports: %v", rundir.StepsFile, err))
	}
	return summary, errors.Join(dir.WriteSummary(summary), dir.Finish(), missed(summary))
}

// fetchData downloads the data set if it is not there.
func (o Options) fetchData(ctx context.Context, c setting.Config) error {
	fetch := c.DataOptions(o.Environment)
	if o.Progress != nil {
		fetch.Progress = func(p data.Progress) { o.Progress(DownloadProgress(p)) }
	}
	_, err := c.Datasets().Fetch(ctx, c.Data, fetch)
	return err
}

// setDefaults fills in Stderr and Environment, and makes Progress safe for concurrent calls.
func (o *Options) setDefaults() {
	if o.Environment == nil {
		o.Environment = cluster.ProcessEnvironment()
	}
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	if show := o.Progress; show != nil {
		var mu sync.Mutex
		o.Progress = func(p Progress) {
			mu.Lock()
			defer mu.Unlock()
			show(p)
		}
	}
}

// stopGrace is how long the workers of this run may take to end when they are asked to. Runs with
// checkpoints need time to write one, and more if a step is long: see cluster.LaunchConfig.SavesAtStop.
func stopGrace(c setting.Config) time.Duration {
	if c.KeepsCheckpoints() {
		return 30 * time.Second
	}
	return 0 // the usual one
}
