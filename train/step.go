package train

import (
	"fmt"

	"lockstep/data"
	"lockstep/graph"
	"lockstep/trace"
)

// Layout of the head of a shard row; batch statistics follow.
const (
	rowLoss = iota
	rowCorrect
	rowSamples
	rowCoverage
	rowIsLast = rowCoverage + coverageParts // in the first shard: goesOn, isLast or isStop
	rowHead   = rowIsLast + 1
)

// What the first shard's row says about the step.
const (
	goesOn float32 = iota
	isLast         // it is the run's last
	isStop         // rank 0 was cancelled
)

// A hash of 64 bits is sent in parts of 22 bits, which a float32 represents exactly.
const (
	coverageParts = 3
	coverageBits  = 22
)

// putCoverage writes the hash of a shard's samples into its row.
func putCoverage(row []float32, hash uint64) {
	for i := range coverageParts {
		row[rowCoverage+i] = float32(hash >> (i * coverageBits) & (1<<coverageBits - 1))
	}
}

// coverageOf reads the hash of a shard's samples.
func coverageOf(row []float32) uint64 {
	hash := uint64(0)
	for i := range coverageParts {
		hash |= uint64(row[rowCoverage+i]) << (i * coverageBits)
	}
	return hash
}

// oneStep computes this worker's part of the next step and updates the weights by it, or begins to.
// There is nothing to compute if the updater wants the loop to evaluate and save first.
func (l *Loop) oneStep() error {
	before, began := l.clock.Phases(), l.mark
	l.begun = l.trained()
	work, err := l.updater.Next(l.step)
	if err != nil {
		l.cutOff = true
		return l.broken(err)
	}
	l.torn = l.isHalfUpdated()
	if work.Lo == work.Hi {
		l.isOver, l.isView = work.IsOver, work.IsView
		l.lap(trace.SyncExposed, "wait")
		return nil
	}
	l.isView = false
	l.step = work.Step
	l.watch.begin()
	l.groups.begin(l.step)
	event, isCounted, err := l.compute(work)
	if err != nil {
		return err
	}
	l.lap(trace.Other, "")
	event.Phases = l.clock.Phases().Minus(before)
	event.Time = event.Phases.Total()
	l.lastTime = event.Time
	l.watch.end(event.Time)
	l.track.Span(trace.StepSpan, l.step, began, l.mark)
	if isCounted {
		l.account(event)
	}
	l.done.StepTimes = append(l.done.StepTimes, event.Time)
	l.sink.Step(event)
	l.lap(trace.Other, "")
	return nil
}

// compute computes the gradient of work and updates the weights. It returns the step's event
// without times, and whether its rows are those of an update that has been made.
func (l *Loop) compute(work Work) (event Step, isCounted bool, err error) {
	batch, err := l.load(work)
	if err != nil {
		return event, false, l.unread(err)
	}
	l.batch = batch
	l.lap(trace.Data, "data")
	l.updater.Begin(l.step)
	if err := l.allShards(batch.Shards); err != nil {
		return event, false, err
	}
	lo, hi, err := l.updater.Wait()
	if err != nil {
		l.cutOff = true
		return event, false, l.broken(err)
	}
	l.lap(trace.SyncExposed, "wait")

	event = Step{Number: l.step, Epoch: batch.Epoch, Rate: l.schedule.Rate(l.step),
		Shards: len(batch.Shards)}
	l.torn, isCounted = true, lo < hi
	if isCounted {
		is := l.rows[lo*l.rowLen+rowIsLast]
		l.isOver, l.isAsked = is == isLast, is == isStop
		if l.config.inEpoch(l.done.Steps) == 0 {
			l.covered, l.done.TrainCorrect, l.done.TrainSamples = 0, 0, 0
		}
		l.covered += l.countRows(l.rows, lo, hi)
	} else {
		lo, hi = work.Lo, work.Hi
	}
	l.sumRows(&event, l.rows, lo, hi)
	switch {
	case !isFinite(event.Loss):
		return event, false, &DivergedError{Rank: l.notFinite(l.rows, lo, hi), Step: l.step, What: "loss",
			Value: event.Loss}
	case event.Samples == 0 && l.config.Isolated:
		l.torn = false // it can have no part of the rest of an epoch
		return event, isCounted, nil
	case hi-lo == l.config.Plan.Shards() && event.Samples != batch.Samples:
		return event, false, l.failed("exchange of rows", fmt.Errorf("%d samples, want %d",
			event.Samples, batch.Samples))
	}
	if err := l.update(Update{Rate: event.Rate, Samples: event.Samples}); err != nil {
		return event, false, err
	}
	l.torn = l.isHalfUpdated()
	l.lap(trace.Optimizer, "optimizer")
	return event, isCounted, nil
}

// allShards computes the gradients of the worker's shards, one or several at a time.
func (l *Loop) allShards(shards []data.Shard) error {
	for n := l.stack.abreast; len(shards) > 0; shards = shards[n:] {
		l.shard = len(l.stack.slots) - len(shards)
		if l.canGoAbreast(shards[:n]) {
			if err := l.shardsAbreast(shards[:n]); err != nil {
				return err
			}
			continue
		}
		for i := range n {
			if err := l.shardHere(&shards[i]); err != nil {
				return err
			}
			l.shard++
		}
	}
	return nil
}

// shardHere computes one of the worker's shards, with gradients in the executor's memory or on the host.
func (l *Loop) shardHere(s *data.Shard) error {
	one := l.oneShard
	if l.resident != nil {
		one = l.residentShard
	}
	if err := one(s); err != nil {
		return err
	}
	return l.executorErr()
}

// executorErr returns the error of an executor that can fail.
func (l *Loop) executorErr() error {
	if ex, ok := l.config.Executor.(interface{ Err() error }); ok && ex.Err() != nil {
		return l.broken(ex.Err())
	}
	return nil
}

// oneShard computes the gradient of one of the worker's shards and merges it into the stack. The
// last shard calls Ready for parameters as they become final.
func (l *Loop) oneShard(s *data.Shard) error {
	if s.Samples == 0 {
		return l.emptyShard(s)
	}
	p := l.programs.forStep(s.Samples, l.step, 0)
	if !l.updater.IsSettled() {
		l.watch.drop() // the pass will wait for weights
	}
	l.watch.mark(trace.Forward)
	l.feed(p, l.shard, s)
	l.groups.watch(p.Program)
	if err := l.forward(p.Program); err != nil {
		return err
	}
	l.watch.mark(trace.Other)
	if err := l.halted(); err != nil {
		return err
	}
	l.fill(p, s)
	l.lap(trace.Forward, "")
	l.share()
	l.watch.mark(trace.Backward)
	l.groups.watch(p.Program)
	p.Backward(l.onReady)
	l.watch.mark(trace.Other)
	l.count(p)
	l.lap(trace.Backward, "backward")
	return l.halted()
}

// feed makes p compute shard number i of this worker.
func (l *Loop) feed(p *program, i int, s *data.Shard) {
	p.SetGradients(l.gradients[l.stack.slots[i]])
	l.read(p, s, trace.Forward)
	p.SetDraws(graph.Draws{Seed: l.config.Seed, Step: l.step, Samples: s.Indices})
}

// fill writes what p's forward pass says of s into its row.
func (l *Loop) fill(p *program, s *data.Shard) {
	l.done.OwnSamples += int64(s.Samples)
	row := l.rows[s.Number*l.rowLen:][:l.rowLen]
	row[rowLoss] = float32(p.Loss())
	row[rowCorrect] = float32(l.config.Task.numCorrect(p.Logits(), s))
	row[rowSamples] = float32(s.Samples)
	putCoverage(row, s.Coverage())
	copy(row[rowHead:], p.BatchStats())
}

// read sets a program's input to the samples of a shard, for a pass of the given phase.
func (l *Loop) read(p *program, s *data.Shard, phase trace.Phase) {
	if l.config.Watch != nil {
		l.config.Watch(phase)
	}
	p.labels.SetInts(s.Labels)
	p.others.SetInts(s.Others)
	p.shares.SetFloats(s.Shares)
	p.targets.SetFloats(s.Targets)
	p.weights.SetFloats(s.Weights)
	if s.Lengths != nil {
		p.samples.SetPairs(s.Tokens, s.Lengths, s.Splits)
		return
	}
	p.samples.SetFloats(s.Images)
}

// emptyShard is oneShard without samples: its gradient is zero and takes its place in the tree.
func (l *Loop) emptyShard(s *data.Shard) error {
	if err := l.settle(); err != nil { // outstanding sums would arrive in this gradient
		return err
	}
	clear(l.rows[s.Number*l.rowLen:][:l.rowLen])
	clear(l.gradients[l.stack.slots[l.shard]])
	l.share()
	for _, param := range l.variables.Order {
		l.ready(param)
	}
	l.lap(trace.Backward, "backward")
	return nil
}

// isLastShard reports whether the current shard is the last of this worker's run.
func (l *Loop) isLastShard() bool { return l.shard == len(l.stack.slots)-1 }

// share passes on the rows once all of this worker's are filled. The first row says whether this
// worker ends the run.
func (l *Loop) share() {
	if l.isLastShard() {
		is := goesOn
		switch {
		case l.isTimeUp():
			is = isLast
		case l.config.StopsTogether && l.ctx.Err() != nil:
			is = isStop
		}
		l.rows[l.work.Lo*l.rowLen+rowIsLast] = is
		l.updater.GatherRows(l.rows)
		l.clock.Lap(trace.SyncExposed)
	}
}

// ready merges one parameter's gradient while it is in the cache, and in the last shard calls
// Ready.
func (l *Loop) ready(param int) {
	seg := l.variables.Segments[param]
	lo, hi := seg.Offset, seg.Offset+seg.Len
	if l.measure != nil {
		l.measure(l.work.Lo+l.shard, l.gradients[l.stack.slots[l.shard]][lo:hi])
	}
	for _, f := range l.stack.folds[l.shard] {
		into, from := l.gradients[f.Into][lo:hi], l.gradients[f.From][lo:hi]
		l.adder.Add(into, into, from)
	}
	if l.isLastShard() {
		l.clock.Lap(trace.Backward)
		l.updater.Ready(param)
		l.clock.Lap(trace.SyncExposed)
	}
}

// countRows applies the batch statistics of shards [lo, hi) to the running statistics in shard
// order and returns the sum of their sample hashes.
func (l *Loop) countRows(rows Rows, lo, hi int) (covered uint64) {
	for v := lo; v < hi; v++ {
		row := rows[v*l.rowLen:][:l.rowLen]
		if row[rowSamples] == 0 {
			continue
		}
		covered += coverageOf(row)
		l.applyStatistics(row[rowHead:])
	}
	return covered
}

// sumRows adds up losses and counts of shards [lo, hi) in event, and those of this worker.
func (l *Loop) sumRows(event *Step, rows Rows, lo, hi int) {
	loss, ownLoss, ownSamples := 0.0, 0.0, 0
	for v := lo; v < hi; v++ {
		row := rows[v*l.rowLen:][:l.rowLen]
		if row[rowSamples] == 0 {
			continue
		}
		loss += float64(row[rowLoss])
		event.Correct += int(row[rowCorrect])
		event.Samples += int(row[rowSamples])
		if l.work.Lo <= v && v < l.work.Hi {
			ownLoss += float64(row[rowLoss])
			ownSamples += int(row[rowSamples])
		}
	}
	event.Loss = loss / float64(max(event.Samples, 1))
	event.OwnLoss = ownLoss / float64(ownSamples) // 0/0 is NaN
}

// notFinite returns the rank of the first of shards [lo, hi) whose loss is not finite.
func (l *Loop) notFinite(rows Rows, lo, hi int) (rank int) {
	for v := lo; v < hi; v++ {
		if isFinite(float64(rows[v*l.rowLen+rowLoss])) {
			continue
		}
		for rank := range l.config.Plan.Workers() {
			if first, end := l.config.Plan.Run(rank); first <= v && v < end {
				return rank
			}
		}
	}
	return l.config.Rank
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

// count counts the operations of a shard that p has computed.
func (l *Loop) count(p *program) {
	l.done.FLOPs += p.FLOPs()
	l.done.HardwareFLOPs += p.HardwareFLOPs()
}
