package worker

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"runtime/debug"
	"time"

	"lockstep/app/host"
	"lockstep/app/job"
	"lockstep/app/job/input"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/internal/spelling"
	"lockstep/shard"
	"lockstep/trace"
	"lockstep/train"
)

// Run trains to the end of the run. It owns w.Mesh.
func (w *Worker) Run(ctx context.Context) (result job.Result, err error) {
	defer func() {
		left := w.leave(err)
		err = errors.Join(w.served.because(err), left)
		w.keepSpans()
	}()
	w.Announce("note: data " + w.Task.About)
	for _, text := range w.Task.Said {
		w.Announce("note: " + text)
	}
	if w.Mesh == nil && w.Config.NumServers() > 0 {
		w.Mesh = comm.NewLocal(1)[0] // a worker alone with its servers
	}
	defer w.processor.close()
	if err := w.openProcessor(); err != nil {
		return result, err
	}
	if w.plan, err = shard.Cut(w.Config.StepShards(), w.Config.Workers); err != nil {
		return result, err
	}
	w.peers = w.newPeerState()
	w.saver = w.newSaver()
	w.recorder = job.NewRecorder(w.Config, w.Dir, w.Rank)
	defer job.WhenCancelled(ctx, func() { w.cancelled(ctx) })()
	loop, err := w.loop(w.recorder)
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
	return w.finish(loop, done)
}

// finish saves the trained weights, takes leave of the servers, and returns the figures for the launcher.
func (w *Worker) finish(l *train.Loop, done train.Result) (result job.Result, err error) {
	w.Beacon.Enter(job.PhaseSave)
	if w.Hears != nil {
		if err := w.Hears.Ended(l, done); err != nil {
			return result, err
		}
	}
	if err := w.save(l.Variables(), done.Shards); err != nil {
		return result, err
	}
	if err := w.served.leave(); err != nil {
		return result, err
	}
	w.keepSpans()
	w.Note("done: %d steps in %.3f s, parameters sha256 %s",
		done.Steps, done.Time.Seconds(), done.ParameterSHA256)
	w.tellBuckets(done)
	result = w.result(done)
	result.Summary.Gradients = w.ready.gradientStats(l)
	if done.FLOPs > 0 {
		result.PeakFLOPs = w.peakFLOPs()
	}
	return result, nil
}

// begin loads the initial state into the loop, and refuses a run that does not fit the machine's memory.
func (w *Worker) begin(l *train.Loop) error {
	var err error
	if w.Task.Start.Resumed != nil {
		err = w.resume(l)
	} else {
		err = w.start(l.Variables())
	}
	w.variables = l.Variables()
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
func (w *Worker) loop(r *trace.Recorder) (*train.Loop, error) {
	c := w.Config
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
		w.ready.after = make([]time.Duration, len(l.Parameters()))
		u, err := joinOf(strategy.Named(c.Strategy).Exchange)(w, l, r)
		if err == nil && w.between != nil {
			u = w.between(c, w.Rank, u)
		}
		return watched{Updater: u, worker: w}, err
	}
	var selection train.Selection
	if w.Task.Validation != nil {
		selection = c.Selection()
	}
	return train.New(train.Config{
		Network: w.Task.Network, Train: w.Task.Train, Validation: w.Task.Validation,
		Test: w.Task.Test, Augment: w.Task.Augment,
		Batch: c.StepBatch(), Plan: w.plan, Rank: w.Rank, Isolated: c.IsIsolated(),
		EvalOnly: c.EvalOnly, Steps: c.Steps, Epochs: c.Epochs, For: c.Duration(), Target: c.Until,
		EvalEvery: c.EvalEvery, Selection: selection, IsOver: w.IsOver,
		Predictions: c.Save || c.EvalOnly || selection.By != nil,
		Views:       c.Views(), Task: w.Task.Learns,
		Optimizer: c.UpdateRule(), Schedule: c.Schedule,
		Clip: c.Clip, EMA: c.EMA, Lookahead: c.Lookahead,
		StopsTogether: c.StopsTogether(), WholeBatches: c.IsAsync(),
		Seed: c.Seed, MemoryLimit: w.activations(), InTurn: c.NumServers() > 0, Alloc: w.memory(),
		Updater:      updater,
		IsLocal:      w.isLocal(),
		Checkpointer: checkpointer, CPU: w.cpu, Executor: w.executor(), Watch: w.begins,
		Pace: c.SlowLoader, ByBlock: c.ShufflesBlocks() && w.Task.Train.Texts == nil,
		Scored: w.Beacon.Scored, Trace: r,
	})
}

// memory allocates exchanged gradients in memory of the links.
func (w *Worker) memory() func(n int) []float32 {
	if w.Mesh == nil || w.Config.IsIsolated() {
		return nil
	}
	return func(n int) []float32 { return comm.Alloc(w.Mesh, n) }
}

// noteWire logs which wire was chosen, and why.
func (w *Worker) noteWire(v *gradsync.Verdict) {
	w.wire = v
	w.spent.Add(v.Spent)
	w.Config.Wire = v.Chosen() // for a run resumed from a checkpoint
	w.Announce(v.String())
}

// leave ends the exchange and closes the links of a run that ended with cause, or well. Workers that stop
// together leave their servers in order.
func (w *Worker) leave(cause error) error {
	switch {
	case w.served != nil:
		var err error
		if cause == nil || job.IsInterrupt(cause) {
			err = w.served.leave()
		}
		return errors.Join(err, w.served.close())
	case w.exchange != nil:
		return errors.Join(w.exchange.Close(), w.links.Close())
	case w.links != nil:
		return w.links.Close()
	case w.Mesh != nil:
		w.Mesh.Shutdown()
		return w.Mesh.Close()
	}
	return nil
}

// train runs the loop while another goroutine reports its progress.
func (w *Worker) train(ctx context.Context, l *train.Loop) (done train.Result, err error) {
	steps, perEpoch := l.Steps()
	length := spelling.Count(steps, "step")
	if w.Config.For != "" {
		length = w.Config.For
	}
	w.Note("pid %d, device %s, kernels %s, math %s, threads %d, shards %d; %s, %d to the epoch",
		os.Getpid(), w.Config.Device, w.Config.ISA, w.Config.Math, w.Config.Threads,
		w.Config.StepShards(), length, perEpoch)
	w.Note("learning rate %v for a batch of %d", w.Config.UpdateRule().LR,
		min(w.Config.StepBatch(), w.Task.Train.Len()))
	w.Beacon.Begin(l.Snapshot().Step, steps, w.Config.Remaining(l.Snapshot().Trained))
	before, energy := host.CoresNow(), host.WatchEnergy()
	w.began = time.Now()
	if w.peers != nil {
		w.peers.IsBroken = func() bool { return ctx.Err() != nil && !job.FinishesStep(ctx, w.Config) }
	}
	w.slow()
	w.IsTraining.Store(true)
	done, err = l.Run(ctx, w)
	w.cores = host.CoresSince(before)
	w.cores.Joules = energy.Stop()
	if w.saver != nil {
		err = errors.Join(err, w.saver.Wait())
	}
	if failed := w.deviceErr(); failed != nil {
		return done, failed // and what else went wrong is due to it
	}
	return done, err
}

// Step notes a finished step; it is part of train.Sink.
func (w *Worker) Step(s train.Step) {
	now := time.Now()
	sent, received := w.traffic()
	u := w.meter.Step(now, sent, received)
	line := record.Step{Rank: w.Rank, Step: s.Number, Epoch: s.Epoch, Loss: record.Number(s.Loss),
		OwnLoss: record.Number(s.OwnLoss), Samples: s.Samples, Shards: s.Shards, Rate: record.Number(s.Rate),
		Seconds: record.Number(s.Time.Seconds()), Phases: job.PhasesOf(s.Phases), BytesSent: u.Sent,
		BytesReceived: u.Received, UsageSeconds: u.Wall.Seconds(), CPUSeconds: u.CPU.Seconds(),
		RSSBytes: u.RSS, GPUBytes: w.gpuMemory.look(w.gpu, now),
		Parts: w.parts(u, s.Phases[trace.SyncExposed])}
	w.steps.Add(line, u.Lost != nil)
	w.events.step(now, s, u, w.gpuMemory.now)
	w.Lose(rundir.StepsFile, w.steps.Err())
	w.Lose(rundir.EventsFolder, w.events.err)
	w.Beacon.Finish(now, s)
	w.tell(func(p Listener) { p.Step(s) })
	w.isDue = w.delay > 0
}

// parts says what a part of the time went into since the last call. waited is the step's sync_exposed: steps
// that did not look are delayed in it at the rate of the one that did.
func (w *Worker) parts(u host.Usage, waited time.Duration) record.Parts {
	p := record.Parts{CheckpointSeconds: w.kept.Seconds(), GradientCPUSeconds: u.Gradient.Seconds()}
	w.kept = 0
	w.waited += waited
	if u.Lost != nil {
		p.DelayedSeconds, p.PausedSeconds = u.Lost.Delayed.Seconds(), u.Lost.Paused.Seconds()
		p.ExchangeDelayedSeconds = min(p.DelayedSeconds,
			u.Lost.Exchange.Seconds()*w.waited.Seconds()/max(waited, 1).Seconds())
		w.waited = 0
	}
	if w.exchange != nil {
		all := w.exchange.Exposed()
		s := all.Less(w.exposed)
		w.exposed = all
		p.PeerSeconds, p.AddSeconds, p.CodeSeconds = s.Waited.Seconds(), s.Added.Seconds(), s.Coded.Seconds()
	}
	return p
}

// Evaluation notes an evaluation; it is part of train.Sink.
func (w *Worker) Evaluation(e train.Evaluation) {
	found := record.Evaluation{Part: e.Part(), Rank: w.Rank, Steps: e.Steps, Epochs: e.Epochs,
		Loss: record.Number(e.Loss), Accuracy: record.Number(e.Accuracy()), Samples: e.Samples, Rate: e.Rate,
		Views:   max(1, len(w.Config.Views())),
		Seconds: e.Time.Seconds(), TrainSeconds: e.Trained.Seconds()}
	found.WallSeconds = found.TrainSeconds + found.Seconds
	if !w.Task.Learns.HasCorrect() {
		found.Accuracy = record.Number(math.NaN())
	}
	for _, m := range e.Metrics {
		found.Metrics = append(found.Metrics, record.Metric{Name: m.Name, Value: record.Number(m.Value)})
	}
	for _, e := range w.evaluations {
		found.WallSeconds += e.Seconds
	}
	w.evaluations = append(w.evaluations, found)
	if w.speaks() {
		w.Tell(job.Notice{Evaluation: &found})
	}
	w.events.evaluation(time.Now(), e, found.Accuracy)
	if e.IsBest {
		w.Lose(rundir.BestFolder, w.keepBest(e))
	}
	name, _, text := found.Figure()
	w.Note("step %d, epoch %.4g: %s loss %.4f, %s %s of %d samples", e.Steps, e.Epochs, e.Part(), e.Loss,
		name, text, e.Samples)
	w.Beacon.Evaluated(e.Time)
	w.tell(func(p Listener) { p.Evaluation(e) })
	sent, received := w.traffic()
	w.meter.Skip(time.Now(), sent, received)
	w.waited = 0 // in steps whose delays are skipped, too
}

// tell lets the program hear of a step or an evaluation, which may take it some time.
func (w *Worker) tell(event func(Listener)) {
	if w.Hears == nil {
		return
	}
	before := w.Beacon.Phase()
	w.Beacon.Enter(job.PhaseProgram)
	event(w.Hears)
	w.Beacon.Enter(before)
}

// algorithm returns the all-reduce of a bucket of gradients, "none" if nothing was reduced.
func (w *Worker) algorithm() string {
	switch {
	case w.group == nil:
		return "none"
	case strategy.Named(w.Config.Strategy).Algorithm != "":
		return strategy.Named(w.Config.Strategy).Algorithm
	}
	return comm.Pick(w.Config.Algorithm, w.tuning, w.hosts, w.Config.GradientWire().Codec(), w.Config.Bucket)
}

// result returns this worker's figures for the launcher.
func (w *Worker) result(done train.Result) job.Result {
	sent, received := w.traffic()
	hasCorrect := int64(0) // 1: there are accuracies
	if w.Task.Learns.HasCorrect() {
		hasCorrect = 1
	}
	r := job.Result{
		RankStat: record.RankStat{
			Rank: w.Rank, PID: os.Getpid(), Host: w.Host, Steps: done.Steps,
			Samples: done.OwnSamples, Seconds: done.Time.Seconds(),
			FirstStepMS: job.FirstStep(done.StepTimes),
			StepMS:      job.StepQuantiles(done.StepTimes),
			Loss:        record.Loss{First: done.FirstLoss, Last: done.LastLoss},
			Phases:      job.PhasesOf(done.Phases),
			FLOPs:       done.FLOPs, HardwareFLOPs: done.HardwareFLOPs,
			BytesSent: sent, BytesReceived: received, BytesVectors: w.vectors(),
			PeakRSSBytes: host.PeakMemory(), Cores: w.cores,
			PlannedBytes: w.planned, OptimizerBytes: w.optimizer,
			ISA: w.Config.ISA, ArenaBytes: done.ArenaBytes, ParameterSHA256: done.ParameterSHA256,
		},
		TrainCorrect: done.TrainCorrect, TrainSamples: done.TrainSamples * hasCorrect,
		Summary: record.Summary{
			Outcome: record.Outcome{Encryption: string(cmp.Or(w.encryption, cluster.EncryptNotNeeded)),
				Streams: w.streams},
			Epochs: done.Epochs, TrainSeconds: done.Trained.Seconds(), DataSHA256: w.Task.Hashes,
			Generated: w.Task.Train.Generated, Classes: len(w.Task.Train.Classes),
			GradientBytes: w.gradient, Tensors: w.tensors, PlannedBytes: w.together,
			Algorithm: w.algorithm(), AlgorithmChoice: w.tuning, WireChoice: w.wire,
			Weights: w.started, Saved: w.saved, Best: w.best(done),
			Texts: w.Task.TextStat(!w.Config.EvalOnly),
		},
	}
	if s := w.Skew(); s.IsKnown {
		r.Clock = &record.Clock{OffsetMS: 1e3 * s.Offset.Seconds(), ErrorMS: 1e3 * s.Error.Seconds()}
	}
	w.addGPU(&r, done.Watched)
	if e := done.Scored(); e.Samples > 0 {
		s := &r.Summary
		s.TestSamples, s.TestLoss = e.Samples, &e.Loss
		s.TestAccuracy = job.Ratio(e.Correct, e.Samples*hasCorrect)
		s.Scores = record.ScoresOf(e.Predictions, w.Task.Train.Classes, w.Task.Scored().Row)
	}
	if set := w.Task.Scored(); set != nil && set.HasLabels() {
		r.Summary.Guess = record.GuessOf(set.Counts())
	}
	if w.saver != nil {
		r.Summary.Checkpoints = &w.saver.Stat
	}
	return r
}

// best says which evaluation was best; nil if nothing chose.
func (w *Worker) best(done train.Result) *record.Best {
	c, b := w.Config, done.Best
	if b.Evaluation.Samples == 0 {
		return nil
	}
	return &record.Best{By: c.BestBy, Value: b.Value, Steps: b.Evaluation.Steps, Epochs: b.Evaluation.Epochs,
		IsRestored: c.RestoreBest, IsEnough: c.Patience > 0 && b.Since >= c.Patience}
}

// cancelled ends what is in progress between workers when ctx is cancelled: a worker that waits for a peer
// fails. Workers that finish their step go on, and before the first step there is nothing to save.
func (w *Worker) cancelled(ctx context.Context) {
	halt := w.halt.Load()
	switch {
	case w.Mesh == nil:
	case !w.IsTraining.Load() || !job.FinishesStep(ctx, w.Config):
		w.Mesh.Shutdown()
	case halt != nil:
		(*halt)()
	}
}

// Bare calls use with the training loop of a replica that has neither launcher nor run directory, with the
// weights that it begins with. It is joined to its peers by mesh, which it owns and which is nil for one
// that exchanges nothing. Of c it reads what decides the bits of a run, and the number of threads. isOver is
// that of train.Config.
func Bare(c setting.Config, t input.Task, rank int, mesh comm.Mesh, isOver func() bool,
	use func(*train.Loop) error) (err error) {
	w := &Worker{Task: t, IsOver: isOver, Crowded: c.NumThreads() > host.Cores(), Seat: job.Seat{Config: c,
		Rank: rank, Mesh: mesh, Log: io.Discard,
		Beacon: job.NewBeacon(), Tell: func(job.Notice) {}}}
	defer func() { err = errors.Join(err, w.leave(err)) }()
	if w.Mesh == nil && c.NumServers() > 0 {
		w.Mesh = comm.NewLocal(1)[0] // a worker alone with its servers
	}
	if w.plan, err = shard.Cut(c.StepShards(), c.Workers); err != nil {
		return err
	}
	w.peers = w.newPeerState()
	defer w.processor.close()
	if err := w.openProcessor(); err != nil {
		return err
	}
	l, err := w.loop(nil)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := w.start(l.Variables()); err != nil {
		return err
	}
	return use(l)
}
