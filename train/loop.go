package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/data"
	"lockstep/graph"
	"lockstep/internal/kernel/row"
	"lockstep/optim"
	"lockstep/trace"
)

// maxStepTimes bounds the memory taken in advance for the times of steps, 8 MiB; a longer run lets
// the list grow.
const maxStepTimes = 1 << 20

// Loop is one worker, ready to train.
type Loop struct {
	config    Config
	variables *graph.Variables
	programs  *programs
	updater   Updater
	work      Work // of the step in progress
	follow    followers
	moment    Moment // all but its Progress
	schedule  optim.Schedule
	stack     stack
	adder     *row.CPU
	gradients [][]float32 // flat, in the layout of Variables.Weights
	rows      Rows
	rowLen    int
	lane      *trace.Lane
	tallies   []int64         // of an evaluation, see Note: evaluation
	tested    data.Shard      // the batch of an evaluation
	logits    []float32       // of that batch, averaged over views; nil without views
	coverage  uint64          // of the whole training set
	onReady   func(param int) // l.ready, bound once so that a step allocates nothing
	onNeed    func(param int) // l.need, likewise

	// Of the run in progress.
	loader  *data.Loader // nil before the first step
	sink    Sink
	clock   *trace.Clock
	mark    time.Time // where the last recorded span ended
	shard   int       // number within the own run of the shard in progress
	step    int       // the one in progress; before the run, the first one
	isOver  bool      // the step in progress is the last, whatever the length in steps
	covered uint64    // hash of the samples of this epoch so far, of all workers
	torn    bool      // a step has changed some of the variables, but not yet all
	cutOff  bool      // an exchange has failed
	swapped bool      // the variables hold what is evaluated, and its memory the live values; see show
	done    Result    // before the run: of the parts before it

	// Training times, see Note: clocks.
	before   time.Duration // of the parts before
	begun    time.Duration // when the step in progress began
	lastTime time.Duration // that the step before took
}

// New validates c, compiles a program for every shard size that the run will meet, draws the
// initial parameters, lets the network prepare them and takes all memory. The caller may change the
// variables before Run, and closes the loop when it is done with it.
func New(c Config) (*Loop, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.EvalBatch == 0 {
		c.EvalBatch = defaultEvalBatch
	}
	schedule, err := c.Schedule.Build(c.Optimizer.LR, c.steps(), c.stepsPerEpoch())
	if err != nil {
		return nil, err
	}
	programs, err := compile(c)
	if err != nil {
		return nil, err
	}
	if err := checkRoles(programs.variables); err != nil {
		programs.arena.Close()
		return nil, err
	}
	l := &Loop{config: c, lane: c.Trace.Lane("train"), schedule: schedule, adder: row.On(c.CPU),
		programs: programs, variables: programs.variables, coverage: data.Coverage(c.Train.Len())}
	l.variables.Initialize(c.Seed)
	l.prepare()
	l.follow = l.newFollowers()
	lo, hi := c.Plan.Run(c.Rank)
	l.own(Work{Lo: lo, Hi: hi})
	if c.Updater == nil {
		c.Updater = NewLocal
	}
	if l.updater, err = c.Updater(l); err != nil {
		l.Close()
		return nil, err
	}
	l.moment = l.newMoment()
	if len(c.Views) > 0 {
		l.logits = make([]float32, c.EvalBatch*c.Network.Classes)
	}
	l.rowLen = rowHead + len(l.variables.State)
	l.rows = make(Rows, c.Plan.Shards()*l.rowLen)
	l.tallies = make([]int64, tallyLosses+c.numTestBatches())
	l.onReady, l.onNeed = l.ready, l.need
	return l, nil
}

func (l *Loop) newGradient() []float32 {
	if l.config.Memory != nil {
		return l.config.Memory(len(l.variables.Weights))
	}
	return l.variables.NewGradient()
}

// prepare lets the network set parameters by training samples, which is training time.
func (l *Loop) prepare() {
	n := l.config.Network
	if n.Prepare == nil || l.config.EvalOnly {
		return
	}
	began := time.Now()
	var images data.Shard
	l.config.Train.Take(&images, 0, min(n.PrepareSamples, l.config.Train.Len()))
	n.Prepare(l.variables, images.Images)
	l.before = time.Since(began)
}

// Variables returns the parameters and running statistics, which Run changes.
func (l *Loop) Variables() *graph.Variables { return l.variables }

// Parameters tells what lies where in Variables.Weights, by number.
func (l *Loop) Parameters() []optim.Param { return parameters(l.variables) }

// Pieces returns the buffers that hold this worker's gradients when they are announced: one per
// maximal subtree of its run of shards, left to right, each as long as Variables.Weights. A
// GradSync leaves the global sum in the first. An isolated worker has one piece, its own sum. Where
// an Updater gives this worker other shards, the pieces change.
func (l *Loop) Pieces() [][]float32 { return l.gradients[:l.stack.pieces] }

// Close gives the memory of the programs back. The variables stay.
func (l *Loop) Close() { l.programs.arena.Close() }

// Steps returns the length of the run, or 0 if that is a time, and the number of steps of one epoch.
func (l *Loop) Steps() (steps, perEpoch int) {
	if l.config.For == 0 {
		steps = l.config.steps()
	}
	return steps, l.config.stepsPerEpoch()
}

// ArenaBytes returns the memory that the intermediate values of all programs share.
func (l *Loop) ArenaBytes() int64 { return l.programs.arena.Bytes() }

// Run trains to the end and returns what came of it. A nil sink means that nobody listens. With an
// error comes the result so far, without a hash.
func (l *Loop) Run(ctx context.Context, sink Sink) (Result, error) {
	if l.clock != nil {
		panic("train: Run called twice on one loop")
	}
	if sink == nil {
		sink = deaf{}
	}
	steps := l.config.steps()
	l.sink = sink
	l.done.StepTimes = make([]time.Duration, 0, min(steps-l.done.Steps, maxStepTimes))
	l.done.Parameters = l.variables.Count()
	l.done.ArenaBytes = l.ArenaBytes()
	l.clock = trace.StartClock()
	l.lap(trace.Other, "")
	err := l.run(ctx, steps)
	l.clock.Lap(trace.Other)
	l.done.Phases = l.clock.Phases()
	l.done.Time = l.done.Phases.Total()
	l.done.Trained = l.trained()
	if err == nil && l.done.Steps > 0 {
		err = l.checkFinite()
	}
	if err == nil {
		l.done.ParameterSHA256 = l.variables.SHA256()
	}
	return l.done, err
}

// run makes all steps that are left, or evaluates only.
func (l *Loop) run(ctx context.Context, steps int) (err error) {
	if l.config.EvalOnly {
		return l.evaluate()
	}
	defer func() { err = errors.Join(err, l.closeLoader()) }()
	err = l.makeSteps(ctx, steps)
	if failed := l.settle(); err == nil {
		err = failed
	}
	// Where all are asked to stop, a peer may do so before this worker hears of it.
	if (ctx.Err() != nil || l.cutOff) && !l.torn {
		if failed := l.keep(true); !errors.Is(err, failed) { // what is kept may need the others
			err = errors.Join(err, failed)
		}
	}
	return err
}

// makeSteps makes the steps that are left, with an evaluation after every EvalEvery epochs and at
// the end.
func (l *Loop) makeSteps(ctx context.Context, steps int) error {
	from := l.done.Steps
	if from == 0 {
		l.follow.restart()
	}
	if l.step = from; from > 0 { // the run may have ended before it was over
		l.step--
		l.isOver = from == steps || l.config.For > 0 && l.before >= l.config.For
		if err := l.afterStep(); err != nil {
			return err
		}
	}
	for l.step = from; l.step < steps && !l.isOver; l.step++ {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("train: rank %d stopped before step %d: %w", l.config.Rank, l.step, err)
		}
		before := l.clock.Phases()
		l.begun = l.trained()
		event, err := l.oneStep()
		if err != nil {
			return err
		}
		l.lap(trace.Other, "")
		event.Phases = l.clock.Phases().Minus(before)
		event.Time = event.Phases.Total()
		l.lastTime = event.Time
		l.account(event)
		l.sink.Step(event)
		l.lap(trace.Other, "")
		l.isOver = l.isOver || l.step+1 == steps
		if err := l.afterStep(); err != nil {
			return err
		}
		if err := l.keep(l.isOver); err != nil {
			return err
		}
	}
	return nil
}

// loaderConfig says what this worker reads from w on.
func (l *Loop) loaderConfig(w Work) data.LoaderConfig {
	c := l.config
	return data.LoaderConfig{
		Set: c.Train, Batch: c.Batch, Shards: c.Plan.Shards(), Lo: w.Lo, Hi: w.Hi,
		Seed: c.Seed, Augment: c.Augment,
		FromStep: w.Step, ToStep: c.steps(),
	}
}

// own makes the shards of w this worker's: it plans how their gradients fold and takes the buffers
// that are missing for it.
func (l *Loop) own(w Work) {
	l.work = w
	l.stack = newStack(w.Lo, w.Hi, l.config.Plan.Shards())
	if l.config.Isolated {
		l.stack.joinPieces()
	}
	for len(l.gradients) < l.stack.buffers {
		l.gradients = append(l.gradients, l.newGradient())
	}
}

// load returns the batch of the work that the updater has given this worker.
func (l *Loop) load(w Work) (*data.Step, error) {
	isOther := w.Lo != l.work.Lo || w.Hi != l.work.Hi
	if isOther {
		if err := l.programs.addRun(l.config, w); err != nil {
			return nil, err
		}
		l.own(w)
	}
	if isOther || l.loader == nil || w.Step != l.work.Step+1 {
		err := l.closeLoader()
		if err == nil {
			l.loader, err = data.NewLoader(l.loaderConfig(w))
		}
		if err != nil {
			return nil, err
		}
	}
	l.work = w
	return l.loader.Next()
}

func (l *Loop) closeLoader() error {
	if l.loader == nil {
		return nil
	}
	return l.loader.Close()
}

// afterStep does what is due between two steps, or after the last one, unless it is done. The run is
// over if it has reached its target.
func (l *Loop) afterStep() error {
	perEpoch := l.config.stepsPerEpoch()
	isDue, done := l.isOver, l.step+1
	if done%perEpoch == 0 {
		if err := l.checkCoverage(); err != nil {
			return err
		}
		every := l.config.EvalEvery
		isDue = isDue || every > 0 && done/perEpoch%every == 0
	}
	if isDue && l.done.Test.Steps != done {
		l.show(true)
		if err := l.evaluate(); err != nil {
			return err
		}
	}
	l.isOver = l.isOver || l.done.Test.Steps == done && l.hasReached()
	l.show(l.isOver)
	return nil
}

// checkCoverage proves that the workers together trained on every sample once in this epoch.
func (l *Loop) checkCoverage() error {
	if l.config.Isolated || l.covered == l.coverage {
		return nil
	}
	return l.failed("coverage", fmt.Errorf("the epoch's samples hash to %#x, those of %s to %#x",
		l.covered, l.config.Train.Name, l.coverage))
}

// checkFinite fails with a *DivergedError if a parameter or running statistic is not finite, as the
// last update may leave them where no evaluation follows.
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

// account adds a finished step to the result.
func (l *Loop) account(s Step) {
	d := &l.done
	if s.Number == 0 {
		d.FirstLoss = s.Loss
	}
	if s.Number%l.config.stepsPerEpoch() == 0 {
		d.TrainCorrect, d.TrainSamples = 0, 0
	}
	d.LastLoss = s.Loss
	d.TrainCorrect += int64(s.Correct)
	d.TrainSamples += int64(s.Samples)
	d.Samples += int64(s.Samples)
	d.StepTimes = append(d.StepTimes, s.Time)
	d.Steps++
	d.Epochs = float64(d.Steps) / float64(l.config.stepsPerEpoch())
}

// lap ends a lap of the clock and, if it has a name, records a span from the last mark to now. It
// then moves the mark; laps within a span go to the clock directly.
func (l *Loop) lap(p trace.Phase, name string) {
	_, end := l.clock.Lap(p)
	if name != "" {
		l.lane.Span(name, l.step, l.mark, end)
	}
	l.mark = end
}

func (l *Loop) failed(what string, err error) error {
	return l.broken(fmt.Errorf("%s: %w", what, err))
}

// broken says where an error occurred that says itself what was being done.
func (l *Loop) broken(err error) error {
	return fmt.Errorf("train: rank %d, step %d: %w", l.config.Rank, l.step, err)
}

// deaf is the Sink of a run that nobody listens to.
type deaf struct{}

func (deaf) Step(Step)             {}
func (deaf) Evaluation(Evaluation) {}
