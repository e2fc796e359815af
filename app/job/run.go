package job

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"lockstep/app/host"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/checkpoint"
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
	choice  *record.StrategyChoice // of the strategy; nil: it was given
	math    *record.MathChoice     // of the math; nil: it was given
	gpu     *record.GPU            // that computes, as this process sees it; nil: none does
	probes  bool                   // workers measure their links although they exchange nothing

	// Worker is the command of a worker process, and Server that of a server process; nil: this binary with
	// the argument "worker" or "server".
	Worker, Server []string
}

// Progress says how far a run is.
type Progress struct {
	Phase       string             // phase of rank 0: load data, forward, ...
	Step, Steps int                // finished steps, of all; Steps is 0 before training, or with a Length
	Length      time.Duration      // length of the run in training time; 0: Steps is the length
	Epoch       int                // from 0
	Loss        float64            // mean over the last step's global batch
	Samples     int64              // finished, over all workers
	Elapsed     time.Duration      // since training began
	Trained     time.Duration      // training time up to the last step, evaluations not counted
	Remaining   time.Duration      // estimate; 0 while unknown
	Scored      float64            // part of the evaluation in progress; then Remaining is its own
	Note        string             // a line for people; the other fields say when it was written
	IsWarning   bool               // Note is a warning, or what a run that is to stop waits for
	Evaluation  *record.Evaluation // evaluation that has just ended; then only Phase is set besides it
}

// computeExtra is the number of threads that may run Go code in a worker besides the compute threads, so
// that the loader and the exchange do not wait for a kernel to end.
const computeExtra = 2

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
	if c, err = chooseAll(ctx, c, &o); err != nil {
		return nil, err
	}
	o.gpu = device
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
	if err := checkReplay(c); err != nil {
		return nil, err
	}
	start, err := openStart(c, func(text string) { fmt.Fprintln(o.Stderr, text) })
	if err != nil {
		return nil, err
	}
	if start.Resumed != nil {
		if err := checkEdited(rundir.Directory(c.Out), start.Resumed); err != nil {
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
		for _, text := range changes(c, start.Resumed.Kept, device) {
			fmt.Fprintln(o.Stderr, "warning: "+text)
			start.Resumed.Kept.Changes = append(start.Resumed.Kept.Changes, text)
		}
	}
	return carryOut(ctx, c, start, o)
}

// carryOut executes a run that has not ended yet.
func carryOut(ctx context.Context, c setting.Config, start beginning, o Options) (*record.Summary, error) {
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
	asked := c // which is completed below
	defer whenCancelled(ctx, func() { o.sayWaits(ctx, asked, dir.Directory) })()
	results, isa, err := runWorkers(ctx, c, dir.Directory, start, told, o)
	if err != nil {
		return nil, endedEarly(ctx, c, dir, o.Origins, err)
	}
	c.ISA = isa
	if c.Trace {
		mergeTraces(dir.Directory, c.World(), told)
	}
	summary, err := summarize(c, dir.Directory, start.Resumed, results, told)
	if err != nil {
		return nil, err
	}
	summary.StrategyChoice, summary.MathChoice = o.choice, o.math
	if summary.Restarts, err = record.ParseRestarts(o.Environment[cluster.EnvRestarts]); err != nil {
		return nil, err
	}
	if text := restarted(summary.Restarts); text != "" {
		summary.Cautions = append(summary.Cautions, text)
	}
	if summary.StepsSHA256, err = dir.StepsSHA256(); err != nil && !told.hasLost(rundir.StepsFile) {
		o.warn(fmt.Sprintf("warning: %s will not be checked by reports: %v", rundir.StepsFile, err))
	}
	summary.TakeSeal()
	return summary, errors.Join(dir.WriteJSON(rundir.SummaryFile, summary), dir.Finish(), missed(summary))
}

// noteContention says that the run's threads are more than the cores that they share, if so.
func (o Options) noteContention(c setting.Config) {
	threads, cores := o.crowd(c)
	if threads <= cores {
		return
	}
	with := ""
	if n := c.NumApart(); n > 0 {
		with = " and " + spelling.Count(n, "server")
	}
	workers := (threads - c.NumApart()) / c.Threads
	fmt.Fprintf(o.Stderr, "note: %s x %s%s share %s: the times show contention, not scaling\n",
		spelling.Count(workers, "worker"), spelling.Count(c.Threads, "thread"), with,
		spelling.Count(cores, "core"))
}

// noteSettings says what settings do that may not be wanted.
func (o Options) noteSettings(c setting.Config) {
	if n, isOwn := o.Origins.OwnShards(c); isOwn {
		fmt.Fprintf(o.Stderr, "note: same bits with any number of workers up to %d: add --shards %d to "+
			"those runs\n", n, n)
	}
	if text := slowed(c.SlowWorkers); text != "" {
		fmt.Fprintln(o.Stderr, "note: "+text)
	}
	if c.Insecure && !c.IsOneProcess() {
		fmt.Fprintln(o.Stderr, "warning: --insecure: links between hosts, if there are several, are not "+
			"encrypted; whoever reads them can rebuild training data from gradients")
	}
	if c.Streams > 1 && c.SharesMemory() && o.Meeting == nil && o.Environment.NumHosts() < 2 {
		fmt.Fprintln(o.Stderr, "note: --streams has no effect: workers of one host share memory; want "+
			"--link tcp")
	}
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

// warn reports a problem that does not end the run, and say tells people a line.
func (o Options) warn(text string) { o.tell(Progress{Note: text, IsWarning: true}) }
func (o Options) say(text string)  { o.tell(Progress{Note: text}) }

func (o Options) tell(p Progress) {
	if o.Progress == nil {
		fmt.Fprintln(o.Stderr, p.Note)
		return
	}
	o.Progress(p)
}

// show passes an evaluation on.
func (o Options) show(e record.Evaluation) {
	if o.Progress != nil {
		o.Progress(Progress{Phase: "evaluation", Evaluation: &e})
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

// crowd returns how many compute threads share the cores of this machine, and how many cores those are: all
// of them if another launcher has started the workers, because it may have bound each to its own. On several
// hosts it is about that with the fewest cores for each thread.
func (o Options) crowd(c setting.Config) (threads, cores int) {
	if o.Meeting != nil {
		return max(1, o.Place.LocalWorld) * c.Threads, host.AllCores()
	}
	threads, cores = c.NumThreads(), host.Cores()
	for i, l := range o.Environment.Loads(c.Workers, c.NumApart()) {
		its := l.Workers*c.Threads + l.Servers
		of := cmp.Or(l.Cores, host.Cores())
		if i == 0 || its*cores > threads*of {
			threads, cores = its, of
		}
	}
	return threads, cores
}

// isCrowded reports whether the run has more compute threads than this machine has cores.
func (o Options) isCrowded(c setting.Config) bool {
	threads, cores := o.crowd(c)
	return threads > cores
}

// coreShare returns what a compute thread of the run has of a core of this machine, at most 1.
func (o Options) coreShare(c setting.Config) float64 {
	threads, cores := o.crowd(c)
	return min(1, float64(cores)/float64(threads))
}

// OwnThreads returns the number of compute threads of a guest: what the launcher gives each process, or a
// share of the cores of this machine.
func OwnThreads(p cluster.Place) int {
	workers := max(1, p.LocalWorld)
	switch {
	case p.Cores > 0:
		return p.Cores
	case host.Cores()*workers <= host.AllCores():
		return host.Cores() // it is bound to cores of its own
	}
	return max(1, host.Cores()/workers)
}

// prepare creates the run directory, or prepares that of a resumed run, and writes the files that describe
// the run.
func prepare(c setting.Config, o Options, from *resumption) (dir rundir.Claimed, err error) {
	switch {
	case from != nil:
		dir, err = rundir.Reclaim(c.Out, from.Kept.Progress.Step)
	case isLeft(c.Out, o.Environment):
		dir, err = rundir.Reclaim(c.Out, 0)
	default:
		dir, err = newDirectory(c)
	}
	if err != nil {
		return rundir.Claimed{}, err
	}
	if dir.Uncut != nil {
		o.warn(fmt.Sprintf("warning: %s keeps lines of steps that are done again: %v", rundir.StepsFile,
			dir.Uncut))
	}
	o.cutEvaluations(dir.Directory, from)
	text := c.Rooted().YAML(o.Origins)
	err = dir.Write(rundir.ConfigFile, text)
	if err == nil {
		machine := host.Describe()
		machine.Lab = o.Environment[cluster.EnvLabFlags]
		described := record.RunHost{Host: machine, GPU: o.gpu,
			Started:      time.Now().UTC().Truncate(time.Second),
			ConfigSHA256: fmt.Sprintf("%x", sha256.Sum256(text))}
		if from != nil {
			described.ResumedStep = from.Kept.Progress.Step
		}
		if described.Preflight, err = record.ParseHosts(o.Environment[cluster.EnvPreflight]); err != nil {
			o.warn("warning: " + err.Error())
		}
		err = dir.WriteJSON(rundir.HostFile, described)
	}
	if err != nil {
		dir.Unlock()
		return rundir.Claimed{}, errors.Join(err, abandon(dir, err))
	}
	return dir, nil
}

// cutEvaluations removes from the directory of a run the lines of evaluations that it makes again.
func (o Options) cutEvaluations(dir rundir.Directory, from *resumption) {
	var kept []record.Evaluation
	if from != nil {
		kept = from.Kept.Evaluations
	}
	if err := dir.CutEvaluations(kept); err != nil {
		o.warn(fmt.Sprintf("warning: %s keeps lines of evaluations that are made again: %v",
			rundir.EvaluationsFile, err))
	}
}

// isLeft reports whether an attempt at this run that was lost before its first checkpoint has left folder.
func isLeft(folder string, e cluster.Environment) bool {
	if folder == "" || e[cluster.EnvRestarts] == "" {
		return false
	}
	_, err := os.Stat(rundir.Directory(folder).Path(rundir.ConfigFile))
	return err == nil
}

// newDirectory claims the folder that c names, or creates one in runs/.
func newDirectory(c setting.Config) (rundir.Claimed, error) {
	if c.Out != "" {
		return rundir.Claim(c.Out)
	}
	return rundir.New(fmt.Sprintf("%s-%s-w%d", c.Model, c.Strategy, c.Workers), time.Now())
}

// abandon removes the directory of a run that failed with cause, unless it finished a step. The logs stay if
// cause points at one.
func abandon(dir rundir.Claimed, cause error) error {
	worker := (*cluster.WorkerError)(nil)
	return dir.Abandon(errors.As(cause, &worker) && worker.Log != "")
}

// endedEarly tidies the directory of a run whose workers ended with cause, and returns the error to report.
func endedEarly(ctx context.Context, c setting.Config, dir rundir.Claimed, origins setting.Origins,
	cause error) error {
	dir.RemoveRecordings(c.World())
	var flags []string // that the directory does not tell
	if dir.IsAsItWas() {
		flags = origins.FromFlags(c)
	}
	resume := resumeCommand(dir.Directory, flags...)
	err := errors.Join(stopped(ctx, c, dir.Directory, resume, cause), abandon(dir, cause))
	if dir.IsAsItWas() {
		return err // and so is its report
	}
	dir.KeepCause(err)
	return &EndedError{string(dir.Directory), err}
}

// ErrTerminated is the cause of a context cancelled by SIGTERM or SIGUSR1, which schedulers send before they
// preempt a job.
var ErrTerminated = fmt.Errorf("terminated: %w", context.Canceled)

// stopped returns the error to report for a run that was asked to stop and ended with err. It says how to
// resume, by that command line, from the newest checkpoint, and why the last steps were not saved, if so.
func stopped(ctx context.Context, c setting.Config, dir rundir.Directory, resume string, err error) error {
	if ctx.Err() == nil || !c.KeepsCheckpoints() || !isInterrupt(err) {
		return err
	}
	stopped := &StoppedError{Directory: string(dir), Resume: resume,
		IsPreempted: errors.Is(context.Cause(ctx), ErrTerminated)}
	newest, _, failed := dir.Store().Newest()
	if failed == nil {
		stopped.Step = newest.Step
	}
	if asked := (*cluster.StopError)(nil); errors.As(err, &asked) && asked.Killed != nil &&
		(failed != nil || newest.Step < asked.Step) {
		stopped.Unsaved = asked.Killed
	} else if none := (*checkpoint.NoneError)(nil); failed != nil &&
		(!errors.As(failed, &none) || len(none.Tried) > 0) {
		return err
	}
	return stopped
}

// runWorkers runs the workers, here or in processes of their own, and returns their results and the
// kernel path they used.
func runWorkers(ctx context.Context, c setting.Config, dir rundir.Directory, start beginning,
	told *heard, o Options) (results []workerResult, isa string, err error) {
	if c.IsOneProcess() {
		path, err := c.KernelPath()
		if err != nil {
			return nil, "", err
		}
		c.ISA = path.String()
		results, err := runHere(ctx, c, dir, start, told, o)
		return results, c.ISA, err
	}
	return launch(ctx, c, dir, start, told, o)
}

// launch runs each worker as a process.
func launch(ctx context.Context, c setting.Config, dir rundir.Directory, start beginning, told *heard,
	o Options) (results []workerResult, isa string, err error) {
	if err := o.setCommands(); err != nil {
		return nil, "", err
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, "", fmt.Errorf("job: find the current folder: %w", err)
	}
	hosts, err := o.Environment.HostNumbers(c.Workers, c.NumApart())
	if err != nil {
		return nil, "", err
	}
	sent, files := c, filesOf(c, start)
	if hosts != nil {
		sent, start = relative(c, start, folder)
	}
	bound := c.Threads
	if o.Meeting != nil {
		bound = 0 // that is the launcher's affair
	}
	texts, err := cluster.Launch(ctx, cluster.LaunchConfig{
		World: c.World(), Servers: c.NumApart(), Threads: bound,
		Command: o.Worker, ServerCommand: o.Server, Host: c.MasterAddr, Port: c.MasterPort,
		Environment: o.Environment.With(cluster.Environment{
			cluster.EnvMaxProcs: strconv.Itoa(c.Threads + computeExtra)}),
		Log: func(rank int) string { return logOf(c, dir, rank) }, ISA: c.ISA, SharedMemory: c.SharesMemory(),
		Job: assignment{Config: sent, Directory: dir, Crowded: o.isCrowded(c), Start: start,
			Folder: folder, Probes: o.probes, Hosts: hosts},
		Files: files, Encryption: encryption(c), Streams: c.Streams, Meeting: o.Meeting, Asked: o.Asked,
		Refused:   func(err error) { fmt.Fprintf(o.Stderr, "warning: %v\n", err) },
		Waits:     func(err error) { fmt.Fprintf(o.Stderr, "note: %v\n", err) },
		Starving:  host.Starving,
		StopGrace: stopGrace(c), SavesAtStop: c.KeepsCheckpoints(),
		Event:   told.decode,
		MayLose: mayLose(c),
		Lost: func(e *cluster.WorkerError) {
			told.take(e.Rank, notice{LostWorker: &record.LostWorker{Rank: e.Rank, Cause: e.Error()}})
		},
		Progress: func(rank int, p cluster.Progress) {
			if rank == 0 && o.Progress != nil {
				o.Progress(progressOf(p))
			}
		},
	})
	if err != nil {
		return nil, "", err
	}
	if results, err = decodeResults(texts[:c.Workers]); err != nil {
		return nil, "", err
	}
	return results, results[0].ISA, nil
}

// decodeResults decodes the last messages of the workers, by rank. The run went on without those that sent
// none.
func decodeResults(texts []json.RawMessage) (results []workerResult, err error) {
	for rank, text := range texts {
		if text == nil {
			continue
		}
		var r workerResult
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("job: decode the result of rank %d: %w", rank, err)
		}
		results = append(results, r)
	}
	return results, nil
}

// setCommands fills in the commands of processes.
func (o *Options) setCommands() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("job: find this program to start workers: %w", err)
	}
	if o.Worker == nil {
		o.Worker = []string{self, "worker"}
	}
	if o.Server == nil {
		o.Server = []string{self, "server"}
	}
	return nil
}

// encryption returns what c asks for.
func encryption(c setting.Config) cluster.Encryption {
	if c.Insecure {
		return cluster.EncryptNone
	}
	return ""
}

// logOf returns the path of the log of a rank.
func logOf(c setting.Config, dir rundir.Directory, rank int) string {
	if rank < c.Workers {
		return dir.Log(rank)
	}
	return dir.ServerLog(rank - c.Workers)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func progressOf(p cluster.Progress) Progress {
	q := Progress{Phase: p.Phase, Step: p.Step, Steps: p.Steps, Epoch: p.Epoch, Loss: p.Loss,
		Samples: p.Samples, Note: p.Note, Elapsed: seconds(p.Seconds),
		Trained: seconds(p.Trained), Length: seconds(p.Length)}
	if done := p.Step - p.From; p.Scored > 0 {
		q.Scored, q.Remaining = p.Scored, seconds(p.Scoring*(1-p.Scored)/p.Scored)
	} else if q.Length > 0 {
		q.Remaining = max(0, q.Length-q.Trained)
	} else if done > 0 {
		q.Remaining = q.Elapsed / time.Duration(done) * time.Duration(p.Steps-p.Step)
	}
	return q
}

// DownloadProgress turns the state of a download into the progress of a run that has not begun.
func DownloadProgress(p data.Progress) Progress {
	text := fmt.Sprintf("download %s: %d MiB", p.File, p.Done>>20)
	if p.Total > 0 {
		text += fmt.Sprintf(" of %d", p.Total>>20)
	}
	return Progress{Phase: text}
}

// mergeTraces merges the traces of all ranks into one file, if all are complete.
func mergeTraces(d rundir.Directory, ranks int, told *heard) {
	if !told.hasLost(rundir.TraceFile) {
		if err := d.MergeTraces(ranks); err != nil {
			told.take(0, notice{Lost: &record.Lost{File: rundir.TraceFile, Reason: err.Error()}})
		}
	}
	d.RemoveRecordings(ranks)
}
