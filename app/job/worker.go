package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"lockstep/app/host"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/compute"
	"lockstep/data"
	"lockstep/gradsync"
	"lockstep/internal/spelling"
	"lockstep/shard"
	"lockstep/trace"
	"lockstep/train"
)

// worker is one replica, wherever it runs.
type worker struct {
	config setting.Config // complete, with the kernel path decided
	dir    rundir.Directory
	rank   int
	// crowded says that the run has more compute threads than the machine has cores.
	crowded bool
	probes  bool // measure links although nothing is exchanged
	// workersHere is the number of workers on this machine.
	workersHere int
	task        task
	mesh        comm.Mesh // links to the peers; nil if there are no peers or nothing is exchanged
	hosts       comm.Topology
	host        string // its own
	// generation is how often the job was started before, which all frames carry.
	generation uint32
	encryption cluster.Encryption // of its links
	streams    int                // of its links by TCP; 0: it has none
	plan       shard.Plan
	tell       func(notice)
	log        io.Writer // for people
	between    Between   // of its program

	beacon             *beacon
	cpu                *compute.CPU           // of the training loop
	gpu                device                 // computes the passes of the training loop; nil: cpu does
	gpuMemory          gpuMemory              // in use on it
	slowness           float64                // of cpu; 0 or 1: full speed
	links              links                  // nil without mesh
	group              *comm.Group            // the links, if they are for collectives
	spent              comm.Count             // what measuring them exchanged, which is not the run's
	exchange           exchange               // nil without one
	served             *served                // nil without servers
	halt               atomic.Pointer[func()] // of an asynchronous worker: ends the run at the next stop
	isTraining         atomic.Bool            // it has begun its first step
	tuning             *comm.Tuning           // measurements behind "auto"; nil: the algorithm was given
	wire               *gradsync.Verdict      // nil: gradients travel as they are, or exactly
	trials             []gradsync.Trial       // bucket sizes that were tried
	steps              *rundir.StepLog
	events             *events
	meter              *host.Meter
	lost               losses
	cores              record.CoreTimes // during the training loop
	planned, optimizer int64            // bytes of memory, and the optimizer's part of them
	together           int64            // planned bytes of all processes, on rank 0
	gradient           int64            // bytes of the gradient
	tensors            int              // that it has
	evaluations        []record.Evaluation
	moves              []record.Move   // of shards, on rank 0
	growth             []record.Growth // of the batch, on rank 0
	before             kept            // state of the run before it was resumed; zero: a new run
	started            *record.Start   // weights that were loaded; nil: none
	batches            int64           // batches in the loaded running statistics
	saved              *record.Saved   // weights that were written; nil: none
	saver              *saver          // nil: this worker keeps no checkpoints
	peers              *peerState      // nil: the state between steps is the same on all ranks
	began              time.Time
}

// exchange is what a worker asks its exchange of gradients or weights at the end.
type exchange interface {
	Buckets() []gradsync.Bucket
	Close() error
}

// workerResult is a worker's last message to the launcher.
type workerResult struct {
	record.RankStat
	Summary      record.Summary `json:"summary"`       // of the run, with the fields that this worker knows
	TrainCorrect int64          `json:"train_correct"` // in the last epoch
	TrainSamples int64          `json:"train_samples"` // of the last epoch
}

// noteData tells what the run trains on and is scored on, and logs how many texts are too long.
func (w *worker) noteData() {
	w.say("data %s", w.task.about)
	sets := []*data.Set{w.task.train, w.task.validation, w.task.test}
	if w.config.EvalOnly {
		sets = []*data.Set{w.task.scored()}
	}
	for _, set := range sets {
		if set != nil && set.Texts != nil && len(set.Texts.Cut) > 0 {
			w.note("%s: %d texts have more than %d tokens and lose their end when they are read", set.Source,
				len(set.Texts.Cut), w.config.Sequence)
		}
	}
}

// run trains to the end of the run. It owns w.mesh.
func (w *worker) run(ctx context.Context) (result workerResult, err error) {
	defer func() {
		left := w.leave(err)
		err = errors.Join(w.served.because(err), left)
	}()
	w.noteData()
	for _, text := range w.task.said {
		w.say("%s", text)
	}
	if w.mesh == nil && w.config.NumServers() > 0 {
		w.mesh = comm.NewLocal(1)[0] // a worker alone with its servers
	}
	if w.cpu, err = openCPU(w.config, w.config.Threads, w.crowded); err != nil {
		return result, err
	}
	defer w.cpu.Close()
	defer w.closeDevice()
	if err := w.openDevice(); err != nil {
		return result, err
	}
	if w.plan, err = shard.Cut(w.config.StepShards(), w.config.Workers); err != nil {
		return result, err
	}
	w.peers = w.newPeerState()
	w.saver = w.newSaver()
	recorder := newRecorder(w.config, w.rank)
	ended := make(chan struct{})
	defer whenCancelled(ctx, func() { w.cancelled(ctx, ended) })()
	defer close(ended)
	loop, err := w.loop(w.cpu, recorder)
	if err != nil {
		return result, errors.Join(context.Cause(ctx), err)
	}
	defer loop.Close()
	if err := w.begin(loop); err != nil {
		return result, err
	}
	if err := w.openLogs(); err != nil {
		return result, err
	}
	if err := w.gather(); err != nil {
		return result, errors.Join(context.Cause(ctx), err)
	}
	w.meter = host.NewMeter()
	done, err := w.train(ctx, loop)
	w.closeLogs()
	if err != nil {
		return result, errors.Join(context.Cause(ctx), err)
	}
	return w.finish(loop, done, recorder)
}

// openCPU opens a CPU for a part of the run c, in whatever process: all that decides the bits of its results
// comes from c. A CPU of one thread starts none and needs no Close.
func openCPU(c setting.Config, threads int, isCrowded bool) (*compute.CPU, error) {
	isa, err := c.KernelPath()
	if err != nil {
		return nil, err
	}
	math := compute.Fast // of what a GPU leaves to the CPU
	if !c.IsOnGPU() {
		if math, err = compute.ParseMath(c.Math); err != nil {
			return nil, err
		}
	}
	return compute.Open(compute.Config{ISA: isa, Math: math, Threads: threads, Crowded: isCrowded})
}

// finish saves the trained weights and the trace, takes leave of the servers, and returns the figures for the
// launcher.
func (w *worker) finish(l *train.Loop, done train.Result, r *trace.Recorder) (result workerResult,
	err error) {
	w.beacon.enter(phaseSave)
	if err := w.save(l.Variables(), done.Shards); err != nil {
		return result, err
	}
	if err := w.served.leave(); err != nil {
		return result, err
	}
	w.lose(rundir.TraceFile, keepRecording(w.dir, w.rank, r))
	w.note("done: %d steps in %.3f s, parameters sha256 %s",
		done.Steps, done.Time.Seconds(), done.ParameterSHA256)
	w.tellBuckets(done)
	result = w.result(done)
	if done.FLOPs > 0 {
		result.PeakFLOPs = w.peakFLOPs()
	}
	return result, nil
}

// begin loads the initial state into the loop, and refuses a run that does not fit the machine's memory.
func (w *worker) begin(l *train.Loop) error {
	var err error
	if w.task.start.Resumed != nil {
		err = w.resume(l)
	} else {
		err = w.start(l.Variables())
	}
	debug.FreeOSMemory() // drawing weights and reading them leaves memory behind
	if err == nil && w.saver != nil {
		err = w.checkSpace(l)
	}
	if err == nil {
		err = w.planMemory(l)
	}
	return err
}

// loop builds the training loop.
func (w *worker) loop(cpu *compute.CPU, r *trace.Recorder) (*train.Loop, error) {
	c := w.config
	var checkpointer train.Checkpointer
	switch {
	case w.saver != nil:
		checkpointer = w.saver
	case w.peers != nil && c.KeepsCheckpoints():
		checkpointer = w.peers
	}
	if checkpointer != nil {
		checkpointer = watchedCheckpointer{checkpointer, w}
	}
	updater := func(l *train.Loop) (train.Updater, error) {
		u, err := joinOf(strategy.Named(c.Strategy).Exchange)(w, l, r)
		if err == nil && c.IsAdaptive() {
			u, err = w.grow(l, u)
		}
		if err == nil && w.between != nil {
			u = w.between(c, w.rank, u)
		}
		return watched{Updater: u, worker: w}, err
	}
	return train.New(train.Config{
		Network: w.task.network, Train: w.task.train, Validation: w.task.validation,
		Test: w.task.test, Augment: w.task.augment,
		Batch: c.StepBatch(), Plan: w.plan, Rank: w.rank, Isolated: c.IsIsolated(),
		EvalOnly: c.EvalOnly, Steps: c.Steps, Epochs: c.Epochs, For: c.Duration(), Target: c.Until,
		EvalEvery: c.EvalEvery,
		Views:     c.Views(), Task: train.Classification(c.Smoothing),
		Optimizer: c.UpdateRule(), Schedule: c.Schedule,
		Growth: train.GrowthConfig{Most: c.MostBatch(), Rate: c.RateOf},
		Clip:   c.Clip, EMA: c.EMA, Lookahead: c.Lookahead,
		StopsTogether: c.StopsTogether(), WholeBatches: c.IsAsync(),
		Seed: c.Seed, MemoryLimit: c.MemoryLimit(), InTurn: c.NumServers() > 0, Alloc: w.memory(),
		Updater:      updater,
		IsLocal:      w.isLocal(),
		Checkpointer: checkpointer, CPU: cpu, Executor: w.executor(), Watch: w.beacon.move,
		Scored: w.beacon.scored, Trace: r,
	})
}

// memory allocates exchanged gradients in memory of the links.
func (w *worker) memory() func(n int) []float32 {
	if w.mesh == nil || w.config.IsIsolated() {
		return nil
	}
	return func(n int) []float32 { return comm.Alloc(w.mesh, n) }
}

// noteWire logs which wire was chosen, and why.
func (w *worker) noteWire(v *gradsync.Verdict) {
	w.wire = v
	w.spent.Add(v.Spent)
	w.config.Wire = v.Chosen() // for a run resumed from a checkpoint
	w.note("%v", v)
	if w.rank == 0 {
		w.beacon.notes <- v.String()
	}
}

// noteTrials logs which bucket size was chosen, and why.
func (w *worker) noteTrials(trials []gradsync.Trial) {
	w.trials = trials
	text := bucketText(trials)
	w.note("%s", text)
	if w.rank == 0 {
		w.beacon.notes <- text
	}
}

// leave ends the exchange and closes the links of a run that ended with cause, or well. Workers that stop
// together leave their servers in order.
func (w *worker) leave(cause error) error {
	switch {
	case w.served != nil:
		var err error
		if cause == nil || isInterrupt(cause) {
			err = w.served.leave()
		}
		return errors.Join(err, w.served.close())
	case w.exchange != nil:
		return errors.Join(w.exchange.Close(), w.links.Close())
	case w.links != nil:
		return w.links.Close()
	case w.mesh != nil:
		w.mesh.Shutdown()
		return w.mesh.Close()
	}
	return nil
}

// train runs the loop while another goroutine reports its progress.
func (w *worker) train(ctx context.Context, l *train.Loop) (done train.Result, err error) {
	steps, perEpoch := l.Steps()
	length := spelling.Count(steps, "step")
	if w.config.For != "" {
		length = w.config.For
	}
	w.note("pid %d, device %s, kernels %s, math %s, threads %d, shards %d; %s, %d to the epoch",
		os.Getpid(), w.config.Device, w.config.ISA, w.config.Math, w.config.Threads,
		w.config.StepShards(), length, perEpoch)
	w.note("learning rate %v for a batch of %d", w.config.UpdateRule().LR,
		min(w.config.StepBatch(), w.task.train.Len()))
	w.beacon.begin(l.Snapshot().Step, steps, w.config.Remaining(l.Snapshot().Trained))
	before := host.CoresNow()
	w.began = time.Now()
	if w.peers != nil {
		w.peers.isBroken = func() bool { return ctx.Err() != nil && !finishesStep(ctx, w.config) }
	}
	w.slow(l.Snapshot().Step)
	w.isTraining.Store(true)
	done, err = l.Run(ctx, w)
	w.cores = host.CoresSince(before)
	if w.saver != nil {
		err = errors.Join(err, w.saver.wait())
	}
	if failed := w.deviceErr(); failed != nil {
		return done, failed // and what else went wrong is due to it
	}
	return done, err
}

// Step notes a finished step; it is part of train.Sink.
func (w *worker) Step(s train.Step) {
	now := time.Now()
	sent, received := w.traffic()
	u := w.meter.Step(now, sent, received)
	w.steps.Add(record.Step{Rank: w.rank, Step: s.Number, Epoch: s.Epoch, Loss: record.Number(s.Loss),
		OwnLoss: record.Number(s.OwnLoss), Samples: s.Samples, Shards: s.Shards, Rate: record.Number(s.Rate),
		Seconds: record.Number(s.Time.Seconds()), Phases: phasesOf(s.Phases), BytesSent: u.Sent,
		BytesReceived: u.Received, UsageSeconds: u.Wall.Seconds(), CPUSeconds: u.CPU.Seconds(),
		RSSBytes: u.RSS, GPUBytes: w.gpuMemory.look(w.gpu, now)})
	w.events.step(now, s, u, w.gpuMemory.now)
	w.lose(rundir.StepsFile, w.steps.Err())
	w.lose(eventsFolder, w.events.err)
	w.beacon.finish(now, s)
	w.slow(s.Number + 1)
}

// Evaluation notes an evaluation; it is part of train.Sink.
func (w *worker) Evaluation(e train.Evaluation) {
	found := record.Evaluation{Part: e.Part(), Rank: w.rank, Steps: e.Steps, Epochs: e.Epochs,
		Loss:     record.Number(e.Loss),
		Accuracy: e.Accuracy(), Samples: e.Samples, Rate: e.Rate, Views: max(1, len(w.config.Views())),
		Seconds: e.Time.Seconds(), TrainSeconds: e.Trained.Seconds()}
	found.WallSeconds = found.TrainSeconds + found.Seconds
	for _, e := range w.evaluations {
		found.WallSeconds += e.Seconds
	}
	w.evaluations = append(w.evaluations, found)
	if w.speaks() {
		w.tell(notice{Evaluation: &found})
	}
	w.events.evaluation(time.Now(), e)
	w.note("step %d, epoch %.4g: %s loss %.4f, %d of %d samples correct, %.2f %%",
		e.Steps, e.Epochs, e.Part(), e.Loss, e.Correct, e.Samples, 100*e.Accuracy())
	w.beacon.evaluated(e.Time)
	sent, received := w.traffic()
	w.meter.Step(time.Now(), sent, received)
}

// speaks reports whether this worker reports the figures that are the same on all ranks: rank 0 does, and
// every rank if they never exchange.
func (w *worker) speaks() bool { return w.rank == 0 || w.config.IsIsolated() }

// note writes a line to the worker's log. It ignores errors, because a full disk is reported elsewhere.
func (w *worker) note(format string, args ...any) {
	fmt.Fprintf(w.log, "rank %d: "+format+"\n", append([]any{w.rank}, args...)...)
}

// say writes a line to the worker's log and, on rank 0, tells it to people.
func (w *worker) say(format string, args ...any) {
	w.note(format, args...)
	if w.rank == 0 {
		w.tell(notice{Note: fmt.Sprintf("note: "+format, args...)})
	}
}

// traffic returns the bytes exchanged so far, without those that measured the links.
func (w *worker) traffic() (sent, received int64) {
	if w.links == nil {
		return 0, 0
	}
	total := w.links.Counters().Total().Less(w.spent)
	return total.Sent, total.Received
}

// vectors returns the bytes sent so far, counted without compression.
func (w *worker) vectors() int64 {
	if w.links == nil {
		return 0
	}
	n := w.links.Counters().Total().Less(w.spent).Vector
	if w.exchange != nil {
		for _, b := range w.exchange.Buckets() {
			n += b.Spared
		}
	}
	return n
}

// algorithm returns the all-reduce of a bucket of gradients, "none" if nothing was reduced.
func (w *worker) algorithm() string {
	switch {
	case w.group == nil:
		return "none"
	case strategy.Named(w.config.Strategy).Algorithm != "":
		return strategy.Named(w.config.Strategy).Algorithm
	}
	bucket := w.config.Bucket
	for _, t := range w.trials {
		if t.IsChosen {
			bucket = t.BucketBytes
		}
	}
	return comm.Pick(w.config.Algorithm, w.tuning, w.hosts, w.config.GradientWire().Codec(), bucket)
}

// result returns this worker's figures for the launcher.
func (w *worker) result(done train.Result) workerResult {
	sent, received := w.traffic()
	r := workerResult{
		RankStat: record.RankStat{
			Rank: w.rank, PID: os.Getpid(), Host: w.host, Steps: done.Steps,
			Samples: done.OwnSamples, Seconds: done.Time.Seconds(),
			FirstStepMS: firstStep(done.StepTimes),
			StepMS:      stepQuantiles(done.StepTimes),
			Loss:        record.Loss{First: done.FirstLoss, Last: done.LastLoss},
			Phases:      phasesOf(done.Phases),
			FLOPs:       done.FLOPs, HardwareFLOPs: done.HardwareFLOPs,
			BytesSent: sent, BytesReceived: received, BytesVectors: w.vectors(),
			PeakRSSBytes: host.PeakMemory(), Cores: w.cores,
			PlannedBytes: w.planned, OptimizerBytes: w.optimizer,
			ISA: w.config.ISA, ArenaBytes: done.ArenaBytes, ParameterSHA256: done.ParameterSHA256,
		},
		TrainCorrect: done.TrainCorrect, TrainSamples: done.TrainSamples,
		Summary: record.Summary{
			Outcome: record.Outcome{Encryption: string(cmp.Or(w.encryption, cluster.EncryptNotNeeded)),
				Streams: w.streams},
			Epochs: done.Epochs, TrainSeconds: done.Trained.Seconds(), DataSHA256: w.task.hashes,
			Generated: w.task.train.Generated, Classes: len(w.task.train.Classes),
			GradientBytes: w.gradient, Tensors: w.tensors, PlannedBytes: w.together,
			Algorithm: w.algorithm(), AlgorithmChoice: w.tuning, WireChoice: w.wire, BucketTrials: w.trials,
			Weights: w.started, Saved: w.saved, Texts: w.task.textStat(!w.config.EvalOnly),
		},
	}
	w.addGPU(&r, done.Watched)
	if e := done.Scored(); e.Samples > 0 {
		s := &r.Summary
		s.TestSamples, s.TestAccuracy, s.TestLoss = e.Samples, ratio(e.Correct, e.Samples), &e.Loss
	}
	if set := w.task.scored(); set != nil && set.HasLabels() {
		r.Summary.Guess = record.GuessOf(set.Counts())
	}
	if w.saver != nil {
		r.Summary.Checkpoints = &w.saver.stat
	}
	return r
}

// textStat returns the size of the vocabulary and how many texts are too long; nil for images. Training texts
// count if the run trains.
func (t task) textStat(trains bool) *record.TextStat {
	texts := t.train.Texts
	if texts == nil {
		return nil
	}
	s := &record.TextStat{Vocabulary: texts.Vocabulary}
	if trains {
		s.TrainCut = len(texts.Cut)
	}
	if set := t.scored(); set != nil {
		s.TestCut = len(set.Texts.Cut)
	}
	return s
}

// traceCapacity is the number of spans kept per track: 32 MiB.
const traceCapacity = 1 << 20 / 2

// newRecorder returns the recorder of a rank; nil if the run keeps no trace.
func newRecorder(c setting.Config, rank int) *trace.Recorder {
	if !c.Trace {
		return nil
	}
	return trace.NewRecorder(rank, traceCapacity)
}

// keepRecording writes a recording to the file that the launcher merges.
func keepRecording(d rundir.Directory, rank int, r *trace.Recorder) error {
	if r == nil {
		return nil
	}
	return d.KeepRecording(rank, r.Recording())
}
