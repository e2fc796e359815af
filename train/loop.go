package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"lockstep/data"
	"lockstep/graph"
	"lockstep/internal/trace"
	"lockstep/optim"
)

// The head of a shard row; batch statistics follow.
const (
	rowLoss = iota
	rowCorrect
	rowSamples
	rowHead
)

// Loop is one worker, ready to train.
type Loop struct {
	config    Config
	variables *graph.Variables
	programs  *programs
	optimizer optim.Optimizer
	schedule  optim.Schedule
	stack     stack
	gradients [][]float32 // flat, in the layout of Variables.Weights
	rows      Rows
	rowLen    int
	lane      *trace.Lane
	counts    [2]int64
	onReady   func(param int) // l.ready, bound once so that a step allocates nothing

	// Of the run in progress.
	sync  GradSync
	sink  Sink
	clock *trace.Clock
	mark  time.Time // where the last recorded span ended
	shard int       // number within the own run of the shard in progress
	step  int
	done  Result
}

// New validates c, compiles a program for every shard size that the run will meet, draws the
// initial parameters and takes all memory. The caller closes the loop when it is done with it.
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
	l := &Loop{config: c, lane: c.Trace.Lane("train"), schedule: schedule,
		programs: programs, variables: programs.variables}
	l.variables.Initialize(c.Seed)
	l.optimizer, err = optim.New(c.Optimizer, c.CPU, l.variables.Weights)
	if err != nil {
		l.Close()
		return nil, err
	}
	lo, hi := c.Plan.Run(c.Rank)
	l.stack = newStack(lo, hi, c.Plan.Shards())
	if c.Isolated {
		l.stack.joinPieces()
	}
	for range l.stack.buffers {
		l.gradients = append(l.gradients, l.variables.NewGradient())
	}
	l.rowLen = rowHead + len(l.variables.State)
	l.rows = make(Rows, c.Plan.Shards()*l.rowLen)
	l.onReady = l.ready
	return l, nil
}

// Variables returns the parameters and running statistics, which Run changes.
func (l *Loop) Variables() *graph.Variables { return l.variables }

// Pieces returns the buffers that hold this worker's gradients when they are announced: one per
// maximal subtree of its run of shards, left to right, each as long as Variables.Weights. A
// GradSync leaves the global sum in the first. An isolated worker has one piece, its own sum.
func (l *Loop) Pieces() [][]float32 { return l.gradients[:l.stack.pieces] }

// Close gives the memory of the programs back. The variables stay.
func (l *Loop) Close() { l.programs.arena.Close() }

// Rows returns the shape of what GradSync.Share passes: V rows of rowLen numbers.
func (l *Loop) Rows() (shards, rowLen int) { return l.config.Plan.Shards(), l.rowLen }

// Steps returns the length of the run, and the number of steps of one epoch.
func (l *Loop) Steps() (steps, perEpoch int) { return l.config.steps(), l.config.stepsPerEpoch() }

// ArenaBytes returns the memory that the intermediate values of all programs share.
func (l *Loop) ArenaBytes() int64 { return l.programs.arena.Bytes() }

// Run trains to the end and returns what came of it. A nil sync means Local, a nil sink that
// nobody listens. With an error comes the result so far, without a hash.
func (l *Loop) Run(ctx context.Context, sync GradSync, sink Sink) (Result, error) {
	if l.clock != nil {
		panic("train: Run called twice on one loop")
	}
	if sync == nil {
		sync = Local{}
	}
	if sink == nil {
		sink = deaf{}
	}
	steps, _ := l.Steps()
	l.sync, l.sink = sync, sink
	l.done = Result{
		StepTimes:  make([]time.Duration, 0, steps),
		Parameters: l.variables.Count(),
		ArenaBytes: l.ArenaBytes(),
	}
	l.clock = trace.StartClock()
	l.lap(trace.Other, "")
	err := l.run(ctx, steps)
	l.clock.Lap(trace.Other)
	l.done.Phases = l.clock.Phases()
	l.done.Time = l.done.Phases.Total()
	if err == nil {
		l.done.ParameterSHA256 = l.variables.SHA256()
	}
	return l.done, err
}

// run makes all steps, with an evaluation after every EvalEvery epochs and at the end.
func (l *Loop) run(ctx context.Context, steps int) (err error) {
	c := l.config
	lo, hi := c.Plan.Run(c.Rank)
	loader, err := data.NewLoader(data.LoaderConfig{
		Set: c.Train, Batch: c.Batch, Shards: c.Plan.Shards(), Lo: lo, Hi: hi,
		Seed: c.Seed, Augment: c.Augment, FromStep: 0, ToStep: steps,
	})
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	defer func() { err = errors.Join(err, loader.Close()) }()
	perEpoch := l.config.stepsPerEpoch()
	for l.step = 0; l.step < steps; l.step++ {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("train: rank %d stopped before step %d: %w", l.config.Rank, l.step, err)
		}
		before := l.clock.Phases()
		event, err := l.oneStep(loader)
		if err != nil {
			return err
		}
		l.lap(trace.Other, "")
		event.Phases = l.clock.Phases().Minus(before)
		event.Time = event.Phases.Total()
		l.account(event)
		l.sink.Step(event)
		l.lap(trace.Other, "")

		epochEnds := (l.step+1)%perEpoch == 0
		if epochEnds {
			if err := l.checkCoverage(loader, event.Epoch); err != nil {
				return err
			}
		}
		isDue := epochEnds && l.config.EvalEvery > 0 && (event.Epoch+1)%l.config.EvalEvery == 0
		if isDue || l.step+1 == steps {
			if err := l.evaluate(); err != nil {
				return err
			}
		}
	}
	return nil
}

// oneStep makes the next step and returns its event, still without times.
func (l *Loop) oneStep(loader *data.Loader) (Step, error) {
	batch, err := loader.Next()
	if err != nil {
		return Step{}, l.failed("data", err)
	}
	l.lap(trace.Data, "data")
	l.sync.Begin(l.step)
	for i := range batch.Shards {
		l.shard = i
		l.oneShard(&batch.Shards[i])
	}
	if err := l.sync.Wait(); err != nil {
		return Step{}, l.failed("exchange of gradients", err)
	}
	l.lap(trace.SyncExposed, "wait")

	event := Step{Number: l.step, Epoch: batch.Epoch, Rate: l.schedule.Rate(l.step)}
	if err := l.combineRows(&event); err != nil {
		return Step{}, err
	}
	if !l.config.Isolated && event.Samples != batch.Samples {
		return Step{}, l.failed("exchange of rows", fmt.Errorf("%d samples, want %d",
			event.Samples, batch.Samples))
	}
	l.optimizer.Step(0, len(l.variables.Weights), l.gradients[0], event.Rate,
		1/float32(event.Samples))
	l.lap(trace.Optimizer, "optimizer")
	return event, nil
}

// oneShard computes the gradient of one own shard and folds it into the stack. The last one
// announces parameters as they become final.
func (l *Loop) oneShard(s *data.Shard) {
	gradient := l.gradients[l.stack.slots[l.shard]]
	row := l.rows[s.Number*l.rowLen:][:l.rowLen]
	if s.Samples == 0 {
		clear(row)
		clear(gradient)
		l.share()
		for _, param := range l.variables.Order {
			l.ready(param)
		}
		l.lap(trace.Backward, "backward")
		return
	}
	p := l.programs.training[s.Samples]
	p.SetGradients(gradient)
	p.SetInput(s.Images, s.Labels)
	p.Forward()
	row[rowLoss] = float32(p.Loss())
	row[rowCorrect] = float32(p.Correct())
	row[rowSamples] = float32(s.Samples)
	copy(row[rowHead:], p.BatchStats())
	l.lap(trace.Forward, "forward")
	l.share()
	p.Backward(l.onReady)
	l.lap(trace.Backward, "backward")
}

// isLastShard reports whether the shard in progress is the last of this worker's run.
func (l *Loop) isLastShard() bool { return l.shard == len(l.stack.slots)-1 }

// share hands the rows over once all own ones are filled.
func (l *Loop) share() {
	if l.isLastShard() {
		l.sync.Share(l.rows)
		l.clock.Lap(trace.SyncExposed)
	}
}

// ready folds one parameter's gradient, while it is still in the cache, and in the last shard
// announces it.
func (l *Loop) ready(param int) {
	seg := l.variables.Segments[param]
	lo, hi := seg.Offset, seg.Offset+seg.Len
	for _, f := range l.stack.folds[l.shard] {
		into, from := l.gradients[f.Into][lo:hi], l.gradients[f.From][lo:hi]
		l.config.CPU.Add(into, into, from)
	}
	if l.isLastShard() {
		l.clock.Lap(trace.Backward)
		l.sync.Ready(param)
		l.clock.Lap(trace.SyncExposed)
	}
}

// combineRows applies the batch statistics of all shards to the running ones, in shard order, and
// adds up losses and counts into event.
func (l *Loop) combineRows(event *Step) error {
	lo, hi := 0, l.config.Plan.Shards()
	if l.config.Isolated {
		lo, hi = l.config.Plan.Run(l.config.Rank)
	}
	loss := 0.0
	for v := lo; v < hi; v++ {
		row := l.rows[v*l.rowLen:][:l.rowLen]
		if row[rowSamples] == 0 {
			continue
		}
		loss += float64(row[rowLoss])
		event.Correct += int(row[rowCorrect])
		event.Samples += int(row[rowSamples])
		l.applyStatistics(row[rowHead:])
	}
	event.Loss = loss / float64(event.Samples)
	if math.IsNaN(event.Loss) || math.IsInf(event.Loss, 0) {
		return &DivergedError{Rank: l.config.Rank, Step: l.step, Loss: event.Loss}
	}
	return nil
}

// applyStatistics moves the running statistics towards one shard's: r = (1-m)*r + m*batch.
func (l *Loop) applyStatistics(batch []float32) {
	for i, s := range l.variables.States {
		m := float32(s.Momentum)
		seg := l.variables.StateSegments[i]
		running := l.variables.StateOf(i)
		for j, b := range batch[seg.Offset:][:seg.Len] {
			running[j] = float32((1-m)*running[j]) + float32(m*b)
		}
	}
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
	return fmt.Errorf("train: rank %d, step %d: %s: %w", l.config.Rank, l.step, what, err)
}

// deaf is the Sink of a run that nobody listens to.
type deaf struct{}

func (deaf) Step(Step)             {}
func (deaf) Evaluation(Evaluation) {}
