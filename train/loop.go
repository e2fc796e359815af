package train

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"lockstep/data"
	"lockstep/graph"
	"lockstep/internal/kernel/row"
	"lockstep/metric"
	"lockstep/optim"
	"lockstep/trace"
)

// maxStepTimes bounds the memory preallocated for the times of steps, 8 MiB; in a longer run the
// slice grows.
const maxStepTimes = 1 << 20

// Loop is the training loop of one worker.
type Loop struct {
	config    Config
	variables *graph.Variables
	programs  *programs
	updater   Updater
	work      Work // of the step in progress
	follow    followers
	snapshot  Snapshot // without its Progress
	schedule  optim.Schedule
	stack     stack
	adder     *row.CPU
	gradients [][]float32 // flat, in the layout of Variables.Weights; none if resident
	watch     watch
	resident  *residence // what lies in the executor's memory; nil: nothing
	rows      Rows
	rowLen    int
	rowTail   int // values of a row that belong to the updater
	// measure receives the gradient of each shard, by parameter; nil: it is not wanted.
	measure     func(shard int, gradient []float32)
	track       *trace.Track
	groups      *groups
	tallies     []int64            // of an evaluation, see Note: evaluation
	predictions metric.Predictions // of the last evaluation
	tested      data.Shard         // the batch of an evaluation
	logits      []float32          // of that batch, averaged over views; nil without views
	onReady     func(param int)    // l.ready, bound once so that a step does not allocate
	onNeed      func(param int)    // l.need, likewise

	// Of the current run.
	loader  *data.Loader // nil before the first step
	batch   *data.Step   // of the current step
	sink    Sink
	clock   *trace.Clock
	mark    time.Time // where the last recorded span ended
	shard   int       // index of the current shard in the worker's run of shards
	step    int       // the current step; before the run, the first one
	ctx     context.Context
	isOver  bool   // the current step is the last, whatever the length in steps
	isView  bool   // there was no step: what is due is evaluated, while other workers go on
	isAsked bool   // rank 0 was cancelled in the current step; see Config.StopsTogether
	covered uint64 // hash of the samples of this epoch so far, see Progress
	torn    bool   // a step has changed some of the variables, but not all
	cutOff  bool   // an exchange has failed, or samples cannot be read: what is done is kept
	side    side   // shards computed abreast
	swapped bool   // the variables hold what is evaluated, and the followers the live values; see show
	done    Result // before the run: that of the parts before it
	chosen  chosen // the best weights so far
	// isRestored says that the variables are the best weights, not those of the last step.
	isRestored bool

	// mayMove says that the updater moves shards between workers.
	mayMove bool
	// isSought says that the updater assigns other steps to this worker than those in order.
	isSought bool
	// isPartial says that the updater shows this worker the rows of its own shards only, though it
	// is not isolated. It is set when the updater is made.
	isPartial bool

	// Training times, see Note: clocks.
	before   time.Duration // of the earlier parts; of the first one, of its preparation
	begun    time.Duration // when the current step began
	lastTime time.Duration // of the step before
}

// New validates c, compiles a program for every shard size of the run, initializes the parameters,
// lets the network prepare them and allocates all memory. The caller may change the variables
// before Run, and must close the loop.
func New(c Config) (*Loop, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Task = c.task()
	if c.EvalBatch == 0 {
		c.EvalBatch = c.defaultEvalBatch()
	}
	schedule, err := c.Schedule.Build(c.Optimizer.LR, c.steps(), c.stepsPerEpoch())
	if err != nil {
		return nil, err
	}
	programs, err := compile(c, c.canReside() != nil)
	if err != nil {
		return nil, err
	}
	if err := checkRoles(programs.variables); err != nil {
		programs.close()
		return nil, err
	}
	l := &Loop{config: c, watch: newWatch(c), track: c.Trace.Track(trace.TrainTrack), schedule: schedule,
		adder: row.On(c.CPU), programs: programs, variables: programs.variables}
	l.groups = newGroups(l.track, c.Executor)
	l.variables.Initialize(c.Seed)
	if err := l.prepare(); err != nil {
		programs.close()
		return nil, err
	}
	l.follow, l.chosen = l.newFollowers(), l.newChosen()
	if err := l.reside(); err != nil {
		l.Close()
		return nil, err
	}
	lo, hi := c.run()
	if err := l.own(Work{Lo: lo, Hi: hi}); err != nil {
		l.Close()
		return nil, err
	}
	if c.Updater == nil {
		c.Updater = NewLocal
	}
	if l.updater, err = c.Updater(l); err != nil {
		l.Close()
		return nil, err
	}
	l.snapshot = l.newSnapshot()
	if len(c.Views) > 0 {
		l.logits = make([]float32, c.EvalBatch*c.Network.Classes)
	}
	l.rowLen = RowLen(len(l.variables.State)) + l.rowTail
	l.rows = make(Rows, c.Plan.Shards()*l.rowLen)
	l.tallies = make([]int64, max(c.numTallies(c.Validation), c.numTallies(c.Test)))
	l.onReady, l.onNeed = l.ready, l.need
	l.side.programs = make([]*program, programs.abreast())
	return l, nil
}

func (l *Loop) newGradient() []float32 {
	if l.config.Alloc != nil {
		return l.config.Alloc(len(l.variables.Weights))
	}
	return l.variables.NewGradient()
}

// prepare lets the network initialize parameters from training samples, which counts as training
// time.
func (l *Loop) prepare() error {
	n := l.config.Network
	if n.Prepare == nil || l.config.EvalOnly {
		return nil
	}
	began := time.Now()
	var images data.Shard
	if err := l.config.Train.Take(&images, 0, min(n.PrepareSamples, l.config.Train.Len())); err != nil {
		return l.broken(err)
	}
	n.Prepare(l.variables, images.Images)
	l.before = time.Since(began)
	return nil
}

// Variables returns the parameters and running statistics, which Run changes.
func (l *Loop) Variables() *graph.Variables { return l.variables }

// Parameters describes the ranges of Variables.Weights, by parameter number.
func (l *Loop) Parameters() []optim.Param { return Parameters(l.variables) }

// Pieces returns the buffers of this worker's gradients: one per maximal subtree of its run of
// shards, left to right, each as long as Variables.Weights. They are final where Ready is called; a
// GradSync leaves the global sum in the first. An isolated worker has one piece, its own sum. If an
// Updater assigns other shards to this worker, the pieces change.
func (l *Loop) Pieces() [][]float32 { return l.gradients[:l.stack.pieces] }

// Close frees the memory of the programs. The variables stay valid.
func (l *Loop) Close() {
	l.programs.close()
	if l.resident != nil {
		l.resident.close()
	}
}

// Steps returns the length of the run, or 0 if the length is a time, and the number of steps per
// epoch.
func (l *Loop) Steps() (steps, perEpoch int) {
	if l.config.For == 0 {
		steps = l.config.steps()
	}
	return steps, l.config.stepsPerEpoch()
}

// ArenaBytes returns the size of the arenas of activations: the one that all programs share or, where shards
// are computed abreast, that of each.
func (l *Loop) ArenaBytes() int64 { return l.programs.arenaBytes() }

// Run trains to the end and returns the result. sink may be nil. If Run returns an error, the
// result is that so far, without a hash.
func (l *Loop) Run(ctx context.Context, sink Sink) (Result, error) {
	if l.clock != nil {
		panic("train: Run called twice on one loop")
	}
	if sink == nil {
		sink = deaf{}
	}
	from, steps := l.done.Steps, l.config.steps()
	l.sink, l.ctx = sink, ctx
	if l.config.dropsSteps() {
		l.programs.halt.ctx = ctx
	}
	l.done.StepTimes = make([]time.Duration, 0, min(steps-from, maxStepTimes))
	l.done.Parameters, l.done.ArenaBytes = l.variables.Count(), l.ArenaBytes()
	l.clock = trace.StartClock()
	l.lap(trace.Other, "")
	err := l.run(ctx)
	l.clock.Lap(trace.Other)
	l.done.Watched, l.done.Phases = l.watch.result(), l.clock.Phases()
	if from == 0 { // its preparation is a part of it
		l.done.Phases[trace.Other] += l.before
	}
	l.done.Time, l.done.Trained = l.done.Phases.Total(), l.trained()
	if err == nil && l.done.Steps > 0 {
		err = l.checkFinite()
	}
	if err == nil {
		l.done.ParameterSHA256 = l.variables.SHA256()
	}
	return l.done, err
}

// run makes all remaining steps, or only evaluates.
func (l *Loop) run(ctx context.Context) (err error) {
	if l.config.EvalOnly {
		return l.evaluate(l.config.scored(), trace.Evaluation)
	}
	defer func() { err = errors.Join(err, l.closeLoader()) }()
	err = l.makeSteps(ctx)
	if failed := l.settle(); err == nil {
		err = failed
	}
	if err == nil {
		_, l.done.TrainCorrect, l.done.TrainSamples, err = l.epochTotals()
	}
	if err == nil {
		err = l.restore()
	}
	isStopped := l.isAsked || ctx.Err() != nil && !l.config.StopsTogether
	// When all workers are asked to stop, a peer may stop before this worker is notified.
	if (isStopped || l.cutOff) && !l.torn && l.updater.IsQuiet() {
		if failed := l.keep(true); !errors.Is(err, failed) { // saving may need the other workers
			err = errors.Join(err, failed)
		}
	}
	return err
}

// makeSteps makes the remaining steps, with an evaluation after every EvalEvery epochs and at the
// end.
func (l *Loop) makeSteps(ctx context.Context) error {
	from := l.done.Steps
	if from == 0 {
		l.follow.restart()
	} else { // the earlier run may have ended before its length
		l.step = from - 1
		l.isOver = from == l.config.steps() || l.config.For > 0 && l.before >= l.config.For
		if err := l.afterStep(); err != nil {
			return err
		}
	}
	for l.done.Steps < l.config.steps() && !l.isOver {
		l.step = l.done.Steps
		if err := l.stopped(); err != nil && l.updater.IsQuiet() {
			return fmt.Errorf("train: rank %d stopped before step %d: %w", l.config.Rank, l.step+1, err)
		}
		if err := l.oneStep(); err != nil {
			return err
		}
		if !l.updater.IsQuiet() {
			if err := l.view(); err != nil {
				return err
			}
			continue
		}
		l.isOver = l.isOver || l.done.Steps == l.config.steps() || l.isEnded()
		if l.isAsked && !l.isOver {
			continue // and stop, without an evaluation
		}
		if err := l.afterStep(); err != nil {
			return err
		}
		if err := l.keep(l.isOver); err != nil {
			return err
		}
	}
	return nil
}

// stopped returns the error of a run that was cancelled and is to stop before the next step.
func (l *Loop) stopped() error {
	switch {
	case l.isAsked:
		return context.Canceled
	case l.config.StopsTogether:
		return nil
	}
	return l.ctx.Err()
}

// loaderConfig returns the configuration of a loader that starts with w.
func (l *Loop) loaderConfig(w Work) data.LoaderConfig {
	c, threads := l.config, 1
	// If little else needs the processor, or images are decoded.
	if c.isApart() || c.Train.Samples != nil && c.Train.Samples.IsSlow() {
		threads = runtime.GOMAXPROCS(0)
	}
	return data.LoaderConfig{
		Set: c.Train, Batch: c.Batch, Shards: c.Plan.Shards(), Lo: w.Lo, Hi: w.Hi,
		Seed: c.Seed, Augment: c.Augment,
		FromStep: w.Step, ToStep: c.steps(), IsSought: l.isSought, Threads: threads,
		Pace: c.Pace, ByBlock: c.ByBlock,
	}
}

// own makes the shards of w this worker's: it plans how their gradients merge and allocates missing
// buffers.
func (l *Loop) own(w Work) error {
	l.work = w
	l.stack = newStack(w.Lo, w.Hi, l.config.Plan.Shards(), l.programs.abreast())
	if l.config.Isolated {
		l.stack.joinPieces()
	}
	if l.resident != nil {
		return l.resident.grow(l.stack.buffers)
	}
	for len(l.gradients) < l.stack.buffers {
		l.gradients = append(l.gradients, l.newGradient())
	}
	return nil
}

// load returns the batch of the work that the updater assigned to this worker.
func (l *Loop) load(w Work) (*data.Step, error) {
	isOther := w.Lo != l.work.Lo || w.Hi != l.work.Hi
	if isOther {
		if err := l.programs.addRun(l.config, w); err != nil {
			return nil, err
		}
		if err := l.own(w); err != nil {
			return nil, err
		}
	}
	if isOther || l.loader == nil {
		err := l.closeLoader()
		if err == nil {
			l.loader, err = data.NewLoader(l.loaderConfig(w))
		}
		if err != nil {
			return nil, err
		}
	}
	l.work = w
	l.seek(w.Step)
	return l.loader.Next()
}

// seek lets the loader prepare a step.
func (l *Loop) seek(step int) { l.loader.Seek(step) }

func (l *Loop) closeLoader() error {
	if l.loader == nil {
		return nil
	}
	return l.loader.Close()
}

// afterStep evaluates and saves what is due after a step, unless that is done already. It ends the
// run if the target is reached.
func (l *Loop) afterStep() error {
	isDue, done := l.isOver, l.done.Steps
	if l.config.inEpoch(done) == 0 {
		if err := l.checkCoverage(l.config.epochs(done) - 1); err != nil {
			return err
		}
		every := l.config.EvalEvery
		isDue = isDue || every > 0 && l.config.epochs(done)%every == 0
	}
	if isDue && l.last().Steps != done {
		if err := l.showTo(l.config.followed()); err != nil {
			return err
		}
	}
	l.isOver = l.isOver || l.last().Steps == done && (l.hasReached() || l.isExhausted() || l.isEnded())
	test, isLater := l.config.scored(), l.config.Selection.Restore // with other weights
	if l.isOver && !isLater && test != l.config.followed() && l.done.Test.Steps != done {
		if err := l.showTo(test); err != nil {
			return err
		}
	}
	return l.show(l.isOver)
}

// isEnded reports whether the program wants the run to end.
func (l *Loop) isEnded() bool { return l.config.IsOver != nil && l.config.IsOver() }

// showTo evaluates the weights that are to be evaluated on a set.
func (l *Loop) showTo(set *data.Set) error {
	if err := l.show(true); err != nil {
		return err
	}
	return l.evaluate(set, trace.Evaluation)
}

// last returns the last evaluation of what is evaluated during training.
func (l *Loop) last() *Evaluation {
	if l.config.Validation != nil {
		return &l.done.Validation
	}
	return &l.done.Test
}

// view evaluates after the end of an epoch while other workers go on, which counts as training.
func (l *Loop) view() error {
	every := l.config.EvalEvery
	if !l.isView || every == 0 ||
		l.config.epochs(l.done.Steps)/every == l.config.epochs(l.last().Steps)/every {
		return nil
	}
	return l.evaluate(l.config.followed(), trace.Other)
}

// checkCoverage checks that the workers together trained on the samples of an epoch, which has ended.
func (l *Loop) checkCoverage(epoch int) error {
	if l.config.Isolated {
		return nil
	}
	covered, _, _, err := l.epochTotals()
	if err != nil {
		return err
	}
	return l.checkCovered(epoch, covered)
}

// checkCovered checks the hash of an epoch's samples.
func (l *Loop) checkCovered(epoch int, covered uint64) error {
	want := l.config.Train.Coverage(l.config.Seed, epoch)
	if covered == want {
		return nil
	}
	return l.failed("coverage", fmt.Errorf("the epoch's samples hash to %#x, those of %s to %#x",
		covered, l.config.Train.Name, want))
}

// epochTotals returns the hash of the samples of this epoch so far, how many were classified correctly,
// and their number, over all workers. It blocks if each worker has seen the rows of its own shards only.
func (l *Loop) epochTotals() (covered uint64, correct, samples int64, err error) {
	d := &l.done
	if !l.isPartial {
		return l.covered, d.TrainCorrect, d.TrainSamples, nil
	}
	counts := []int64{int64(l.covered), d.TrainCorrect, d.TrainSamples}
	l.lap(trace.Other, "")
	if err := l.updater.Sum(counts); err != nil {
		l.cutOff = true
		return 0, 0, 0, l.failed("sum of counts", err)
	}
	l.lap(trace.SyncExposed, "counts")
	return uint64(counts[0]), counts[1], counts[2], nil
}

// checkFinite returns a *DivergedError if a parameter or running statistic is not finite. The last
// update may cause that when no evaluation follows.
func (l *Loop) checkFinite() error {
	v := l.variables
	for i, p := range v.Params {
		if err := l.checkValues(p.Name, v.Weights[v.Segments[i].Offset:][:v.Segments[i].Len]); err != nil {
			return err
		}
	}
	for i, s := range v.States {
		if err := l.checkValues(s.Name, v.StateOf(i)); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loop) checkValues(name string, values []float32) error {
	for _, x := range values {
		if !isFinite(float64(x)) {
			return &DivergedError{Rank: l.config.Rank, Step: l.done.Steps - 1, What: name, Value: float64(x)}
		}
	}
	return nil
}

// account adds an update by the batch of s to the result.
func (l *Loop) account(s Step) {
	c, d := l.config, &l.done
	if d.Steps == 0 {
		d.FirstLoss = s.Loss
	}
	d.LastLoss = LossAfter(d.LastLoss, s.Loss, c.numSamples(s.Number+1)-c.numSamples(s.Number),
		min(c.Batch, c.Train.Len()))
	d.TrainCorrect += int64(s.Correct)
	d.TrainSamples += int64(s.Samples)
	if l.isPartial {
		d.Samples += int64(l.config.samplesOf(s.Number))
	} else {
		d.Samples += int64(s.Samples)
	}
	d.Steps++
	d.Epochs = l.config.epochsAt(d.Steps)
	d.Shards = l.config.numShards(d.Steps)
}

// lap ends a lap of the clock and, if name is not empty, records a span from the last mark to now
// and moves the mark. Laps within a span go to the clock directly.
func (l *Loop) lap(p trace.Phase, name string) {
	_, end := l.clock.Lap(p)
	if name != "" {
		l.track.Span(name, l.step, l.mark, end)
	}
	l.mark = end
}

func (l *Loop) failed(what string, err error) error {
	return l.broken(fmt.Errorf("%s: %w", what, err))
}

// unread is broken for samples that cannot be read: the weights are what the last step has left, and are
// kept.
func (l *Loop) unread(err error) error {
	l.cutOff = true
	return l.broken(err)
}

// broken adds rank and step to an error that already says which operation failed. Messages count steps from
// 1. An evaluation alone has no step.
func (l *Loop) broken(err error) error {
	if l.config.EvalOnly {
		return fmt.Errorf("train: rank %d: %w", l.config.Rank, err)
	}
	return fmt.Errorf("train: rank %d, step %d: %w", l.config.Rank, l.step+1, err)
}

// deaf is the Sink of a run without a listener.
type deaf struct{}

func (deaf) Step(Step)             {}
func (deaf) Evaluation(Evaluation) {}
