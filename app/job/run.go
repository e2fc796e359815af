package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/data"
	"lockstep/trace"
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
	Origins Origins
	// Isolate runs even a single worker in a process of its own, so that its memory and its
	// runtime are not those of the caller.
	Isolate bool
	// Worker is the command of a worker process; nil: this binary with the argument "worker".
	Worker []string
}

// Progress is a moment of a run.
type Progress struct {
	Phase       string        // what rank 0 does: load data, forward, ...
	Step, Steps int           // finished steps, of all; Steps is 0 before training, or with a Length
	Length      time.Duration // of a run that is to take so long; 0: Steps is the length
	Epoch       int           // from 0
	Loss        float64       // mean over the last step's global batch
	Samples     int64         // finished, over all workers
	Elapsed     time.Duration // since training began
	Trained     time.Duration // of that, to the end of the last step and without evaluations
	Remaining   time.Duration // estimate; 0 while unknown
	Note        string        // a line for people; the rest is then the moment it was said at
	IsWarning   bool          // Note says what went wrong
	Evaluation  *Evaluation   // that has just ended; nil: none, else there is nothing but the phase
}

// computeExtra is how many threads beyond the computing ones may run Go code in a worker: the
// loader and the exchange must not wait for a kernel to end.
const computeExtra = 2

// Run executes the run c describes: it makes sure that the data is there, creates the run
// directory, starts the workers, waits for all of them, then writes and returns the summary. Open
// fields of c are completed first. A cancelled context stops every worker; the error is then
// context.Canceled. A run that ends early has an *EndedError, unless it was resumed and has done no step:
// then its directory is as it was, but for the logs. The summary comes with a *MissedError too, and with
// the error that it cannot be written. A run that is resumed and has nothing to do changes no file and
// returns its former summary.
func Run(ctx context.Context, c Config, o Options) (*Summary, error) {
	o.settle()
	if isa := o.Environment[cluster.EnvISA]; c.ISA == "" && isa != "" {
		c.ISA = isa
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.on(o.Environment).Complete()
	if c.Resume != "" {
		c.Out = c.Resume
	}
	if o.Isolate && c.Workers == 1 {
		c.Link = betweenProcesses()
	}
	start, err := c.open(func(text string) { fmt.Fprintln(o.Stderr, text) })
	if err != nil {
		return nil, err
	}
	if start.Resumed != nil {
		if s := c.finished(start.Resumed.Kept); s != nil {
			fmt.Fprintln(o.Stderr, nothingToDo(s))
			return s, s.missed()
		}
		for _, text := range c.changes(start.Resumed.Kept) {
			fmt.Fprintln(o.Stderr, "warning: "+text)
		}
	}
	return c.run(ctx, start, o)
}

// run executes a run that has something to do.
func (c Config) run(ctx context.Context, start beginning, o Options) (*Summary, error) {
	if c.isCrowded() {
		fmt.Fprintf(o.Stderr, "note: %s x %s share %s: the times show contention, not scaling\n",
			count(c.Workers, "worker"), count(c.Threads, "thread"), count(cores(), "core"))
	}
	fetch := c.dataOptions(o.Environment)
	if o.Progress != nil {
		fetch.Progress = func(p data.Progress) { o.Progress(DownloadProgress(p)) }
	}
	if _, err := c.Catalog.data().Fetch(ctx, c.Data, fetch); err != nil {
		return nil, err
	}
	dir, err := prepare(c, o, start.Resumed)
	if err != nil {
		return nil, err
	}
	defer dir.unlock()
	told := newRecord(start.Resumed, o)
	results, isa, err := c.execute(ctx, dir.directory, start, told, o)
	if err != nil {
		dir.removeRecordings(c.Workers)
		err = errors.Join(c.stopped(ctx, dir.directory, err), dir.abandon(err))
		if dir.isResumed && !dir.hasProgressed() {
			return nil, err // the run is as it was, and so is its report
		}
		return nil, &EndedError{string(dir.directory), err}
	}
	c.ISA = isa
	if c.Trace {
		dir.mergeTraces(c.Workers, told)
	}
	summary, err := summarize(c, dir.directory, start.Resumed, results, told)
	if err != nil {
		return nil, err
	}
	return summary, errors.Join(dir.writeJSON(summaryFile, summary), dir.dropAside(), summary.missed())
}

// settle makes Progress, Stderr and Environment usable from every goroutine of a run.
func (o *Options) settle() {
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

// warn tells people what went wrong while a run goes on.
func (o Options) warn(text string) {
	if o.Progress != nil {
		o.Progress(Progress{Note: text, IsWarning: true})
		return
	}
	fmt.Fprintln(o.Stderr, text)
}

// show passes an evaluation on.
func (o Options) show(e Evaluation) {
	if o.Progress != nil {
		o.Progress(Progress{Phase: "evaluation", Evaluation: &e})
	}
}

// stopGrace is how long the workers of this run may take to end when they are asked to: those that
// keep checkpoints write one.
func (c Config) stopGrace() time.Duration {
	if c.keeps() {
		return 30 * time.Second
	}
	return 0 // the usual one
}

// isCrowded reports whether the run has more compute threads than this machine has cores.
func (c Config) isCrowded() bool { return c.Workers*c.Threads > cores() }

// count words a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// prepare creates the run directory, or makes that of the run that is resumed ready to go on, with
// the files that describe the run.
func prepare(c Config, o Options, from *resumption) (dir claimed, err error) {
	if from != nil {
		dir, err = reclaim(c.Out, from.Kept.Progress.Step)
	} else {
		dir, err = makeDirectory(c, time.Now())
	}
	if err != nil {
		return claimed{}, err
	}
	err = dir.write(configFile, c.rooted().YAML(o.Origins))
	if err == nil {
		host := DescribeHost()
		host.Lab = o.Environment[cluster.EnvLabFlags]
		err = dir.writeJSON(hostFile, host)
	}
	if err != nil {
		dir.unlock()
		return claimed{}, errors.Join(err, dir.abandon(err))
	}
	return dir, nil
}

// ErrTerminated is the cause of a cancelled context when the process was asked to end by SIGTERM,
// as schedulers do before they take the machine away.
var ErrTerminated = fmt.Errorf("terminated: %w", context.Canceled)

// stopped returns what to report when a run that was asked to stop has ended with err: if it left a
// checkpoint, how to go on, and if the last steps were not saved, why.
func (c Config) stopped(ctx context.Context, dir directory, err error) error {
	if ctx.Err() == nil || !c.keeps() || !isInterrupt(err) {
		return err
	}
	stopped := &StoppedError{Directory: string(dir),
		IsPreempted: errors.Is(context.Cause(ctx), ErrTerminated)}
	newest, _, failed := dir.store().Newest()
	if failed == nil {
		stopped.Step = newest.Step
	}
	if asked := (*cluster.StopError)(nil); errors.As(err, &asked) && asked.Killed != nil &&
		(failed != nil || newest.Step < asked.Step) {
		stopped.Unsaved = asked.Killed
	} else if failed != nil {
		return err
	}
	return stopped
}

// execute runs the workers, here or in processes of their own, and returns their results and the
// kernel path they used.
func (c Config) execute(ctx context.Context, dir directory, start beginning, told *record, o Options) (
	results []workerResult, isa string, err error) {
	if c.Link == linkLocal {
		path, err := c.isa()
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
func launch(ctx context.Context, c Config, dir directory, start beginning, told *record, o Options) (
	results []workerResult, isa string, err error) {
	command := o.Worker
	if command == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, "", fmt.Errorf("job: find this program to start workers: %w", err)
		}
		command = []string{self, "worker"}
	}
	texts, err := cluster.Launch(ctx, cluster.LaunchConfig{
		World: c.Workers, Threads: c.Threads, Command: command, Host: c.MasterAddr, Port: c.MasterPort,
		Environment: o.Environment.With(cluster.Environment{
			cluster.EnvMaxProcs: strconv.Itoa(c.Threads + computeExtra)}),
		Log: dir.log, ISA: c.ISA, SharedMemory: c.Link == linkSHM,
		Job:       assignment{Config: c, Directory: dir, Crowded: c.isCrowded(), Start: start},
		StopGrace: c.stopGrace(),
		Event:     told.decode,
		Progress: func(rank int, p cluster.Progress) {
			if rank == 0 && o.Progress != nil {
				o.Progress(progressOf(p))
			}
		},
	})
	if err != nil {
		return nil, "", err
	}
	results = make([]workerResult, len(texts))
	for rank, text := range texts {
		if err := json.Unmarshal(text, &results[rank]); err != nil {
			return nil, "", fmt.Errorf("job: decode the result of rank %d: %w", rank, err)
		}
	}
	return results, results[0].ISA, nil
}

// runHere runs all workers as goroutines of this process, linked in memory. They share the data.
func runHere(ctx context.Context, c Config, dir directory, start beginning, told *record, o Options) (
	[]workerResult, error) {
	before := runtime.GOMAXPROCS(c.Workers * (c.Threads + computeExtra))
	defer runtime.GOMAXPROCS(before)
	resetPeakRSS()
	report := func(p cluster.Progress) {
		if o.Progress != nil {
			o.Progress(progressOf(p))
		}
	}
	report(cluster.Progress{Phase: phaseLoad})
	task, err := c.load(ctx, c.dataOptions(o.Environment), start)
	if err != nil {
		return nil, err
	}
	meshes := make([]comm.Mesh, 1)
	if c.Workers > 1 {
		meshes = comm.NewLocal(c.Workers)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]workerResult, c.Workers)
	var running sync.WaitGroup
	for rank := range results {
		w := &worker{config: c, dir: dir, crowded: c.isCrowded(), rank: rank, task: task,
			mesh: meshes[rank], host: o.Environment.HostName(), report: func(cluster.Progress) {},
			beacon: newBeacon(),
			tell:   func(n notice) { told.take(rank, n) }}
		if rank == 0 {
			w.report = report
		}
		running.Go(func() {
			if err := w.runLogged(ctx, &results[rank]); err != nil {
				cancel(err) // the first stops the others and is the cause
			}
		})
	}
	running.Wait()
	return results, context.Cause(ctx)
}

// runLogged runs a worker of this process with a log file of its own.
func (w *worker) runLogged(ctx context.Context, result *workerResult) error {
	log, err := os.OpenFile(w.dir.log(w.rank), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("job: log: %w", err)
	}
	w.log = log
	w.beacon.enter(phaseSetUp)
	defer w.beacon.follow(w.report)()
	if *result, err = w.run(ctx); err != nil {
		w.note("%v", err)
	}
	_ = log.Close() // like note, a courtesy
	return err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func progressOf(p cluster.Progress) Progress {
	q := Progress{Phase: p.Phase, Step: p.Step, Steps: p.Steps, Epoch: p.Epoch, Loss: p.Loss,
		Samples: p.Samples, Note: p.Note, Elapsed: seconds(p.Seconds),
		Trained: seconds(p.Trained), Length: seconds(p.Length)}
	if done := p.Step - p.From; q.Length > 0 {
		q.Remaining = max(0, q.Length-q.Trained)
	} else if done > 0 {
		q.Remaining = q.Elapsed / time.Duration(done) * time.Duration(p.Steps-p.Step)
	}
	return q
}

// DownloadProgress words the state of a download as a moment before a run.
func DownloadProgress(p data.Progress) Progress {
	text := fmt.Sprintf("download %s: %d MiB", p.File, p.Done>>20)
	if p.Total > 0 {
		text += fmt.Sprintf(" of %d", p.Total>>20)
	}
	return Progress{Phase: text}
}

// mergeTraces joins what the workers recorded into one file, if all is there.
func (d directory) mergeTraces(workers int, told *record) {
	if !told.hasLost(traceFile) {
		if err := d.merge(workers); err != nil {
			told.take(0, notice{Lost: &Lost{File: traceFile, Reason: err.Error()}})
		}
	}
	d.removeRecordings(workers)
}

// merge writes the trace.
func (d directory) merge(workers int) error {
	recordings := make([]trace.Recording, workers)
	for rank := range recordings {
		text, err := os.ReadFile(d.recording(rank))
		if err == nil {
			err = json.Unmarshal(text, &recordings[rank])
		}
		if err != nil {
			return fmt.Errorf("job: trace of rank %d: %w", rank, err)
		}
	}
	f, err := os.OpenFile(d.path(traceFile), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("job: trace: %w", err)
	}
	if err := errors.Join(trace.Write(f, recordings...), f.Close()); err != nil {
		return fmt.Errorf("job: trace: %w", err)
	}
	return nil
}
