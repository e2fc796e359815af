package train

import (
	"fmt"

	"lockstep/data"
	"lockstep/graph"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/trace"
)

// Note: training in an executor's memory
//
// A worker that exchanges gradients with nobody needs none of them on the host. If its executor has memory
// of its own and is Resident, weights, gradients and the state of the optimizer stay there from step to step.
// The host has a copy of weights and state, which is brought up to date when something asks for it: a
// checkpoint, slow weights, the end of the run. That is what Updater.Settle is for. What the host changes is
// sent before the next pass. Running statistics are small and stay on the host. Updates have the host's bits,
// so that a worker with peers, whose gradients and weights pass through the host, computes the same.

// Resident is an Executor whose memory can hold weights, gradients and state, and that can update them. All
// spans are of float32 values. Add, SGD, AdamW and Squares give the bits that the host's processor gives.
type Resident interface {
	graph.Executor
	// Zero sets a vector to 0.
	Zero(v graph.Span)
	// Add computes into += from.
	Add(into, from graph.Span)
	// SGD is the update that optim.SGD documents.
	SGD(weights, velocity, gradient graph.Span, rate, momentum, decay, scale float32, nesterov bool)
	// AdamW is the update that optim.AdamW documents.
	AdamW(weights, first, second, gradient graph.Span, step optim.AdamWStep)
	// Squares returns the sum of the squares of a vector, which row.Squares documents, and waits for it.
	Squares(v graph.Span) float64
	// Err returns the error after which the executor computes nothing more.
	Err() error
}

// canReside returns the executor that can hold what this worker trains; nil if there is none.
func (c Config) canReside() Resident {
	ex, ok := c.Executor.(Resident)
	isLocal := c.Updater == nil || c.IsLocal
	if !ok || !isLocal || c.WholeBatches || c.InTurn || c.EvalOnly ||
		!optim.IsElementwise(c.Optimizer.Name) {
		return nil
	}
	return ex
}

// residence is what a worker trains in the memory of an executor. It is the Updater of such a worker.
type residence struct {
	local
	executor  Resident
	rule      optim.Movable
	memory    []graph.Memory
	weights   graph.Span
	state     []graph.Span // by rule.State()
	gradients []graph.Span
	// What is older than its copy: on the host, or in the executor's memory.
	isHostOld, isHostStateOld, isOld, isStateOld bool
}

// reside makes room for l's weights, unless there is no executor that can hold them.
func (l *Loop) reside() (err error) {
	ex := l.config.canReside()
	if ex == nil {
		return nil
	}
	r := &residence{executor: ex, isOld: true, isStateOld: true}
	r.weights, err = r.vector(len(l.variables.Weights))
	l.resident = r
	return err
}

// vector returns a vector of zeros.
func (r *residence) vector(n int) (graph.Span, error) {
	m, err := r.executor.Allocate(n)
	if err != nil {
		return graph.Span{}, fmt.Errorf("train: memory of the executor: %w", err)
	}
	r.memory = append(r.memory, m)
	return graph.Span{Handle: m.Handle, Len: n}, nil
}

// grow makes room for n gradients.
func (r *residence) grow(n int) error {
	for len(r.gradients) < n {
		v, err := r.vector(r.weights.Len)
		if err != nil {
			return err
		}
		r.gradients = append(r.gradients, v)
	}
	return nil
}

// close frees the memory.
func (r *residence) close() {
	for _, m := range r.memory {
		if m.Release != nil {
			m.Release()
		}
	}
	r.memory = nil
}

// newResident returns the Updater of a loop whose weights are in the memory of an executor.
func newResident(l *Loop) (Updater, error) {
	r := l.resident
	u, err := newWhole(l, silent{})
	if err != nil {
		return nil, err
	}
	r.local, r.rule = local{u}, u.optimizer.(optim.Movable) // canReside has checked the rule
	for range r.rule.State() {
		v, err := r.vector(r.weights.Len)
		if err != nil {
			return nil, err
		}
		r.state = append(r.state, v)
	}
	return r, nil
}

// Update implements Updater: it queues the update. To clip, it waits for the norm of the gradient.
func (r *residence) Update(by Update) error {
	r.loop.watch.mark(trace.Optimizer)
	scale := 1 / float32(by.Samples)
	if r.clip != nil {
		scale = r.clip.ScaleOf(r.executor.Squares(r.gradients[0]), scale)
	}
	r.rule.StepOn(r, by.Rate, scale)
	r.loop.watch.mark(trace.Other)
	r.isHostOld, r.isHostStateOld = true, true
	return r.executor.Err()
}

// part returns the range [lo, hi) of a vector.
func part(v graph.Span, lo, hi int) graph.Span {
	return graph.Span{Handle: v.Handle, Offset: v.Offset + lo, Len: hi - lo}
}

// SGD implements optim.Elsewhere.
func (r *residence) SGD(lo, hi int, rate, momentum, decay, scale float32, nesterov bool) {
	r.executor.SGD(part(r.weights, lo, hi), part(r.state[0], lo, hi), part(r.gradients[0], lo, hi), rate,
		momentum, decay, scale, nesterov)
}

// AdamW implements optim.Elsewhere.
func (r *residence) AdamW(lo, hi int, step optim.AdamWStep) {
	r.executor.AdamW(part(r.weights, lo, hi), part(r.state[0], lo, hi), part(r.state[1], lo, hi),
		part(r.gradients[0], lo, hi), step)
}

// IsSettled reports whether the host's weights are those of the last update.
func (r *residence) IsSettled() bool { return !r.isHostOld && !r.isHostStateOld }

// Settle brings the host's weights, and the state of the optimizer, up to date.
func (r *residence) Settle(int) error {
	r.fetchWeights()
	if r.isHostStateOld {
		r.eachState(func(host, here *graph.Buffer) { r.executor.Download(host, here) })
		r.isHostStateOld = false
	}
	return r.executor.Err()
}

// fetchWeights brings the host's weights up to date.
func (r *residence) fetchWeights() {
	if r.isHostOld {
		r.executor.Download(&graph.Buffer{F: r.loop.variables.Weights}, &graph.Buffer{Device: r.weights})
		r.isHostOld = false
	}
}

// send brings the executor's values up to date with what the host has changed.
func (r *residence) send() {
	if r.isOld {
		r.executor.Upload(&graph.Buffer{Device: r.weights}, &graph.Buffer{F: r.loop.variables.Weights})
	}
	if r.isStateOld {
		r.eachState(func(host, here *graph.Buffer) { r.executor.Upload(here, host) })
	}
	r.isOld, r.isStateOld = false, false
}

// eachState calls f with the vectors of the optimizer's state: on the host and in the executor's memory.
func (r *residence) eachState(f func(host, here *graph.Buffer)) {
	for i, v := range r.rule.State() {
		f(&graph.Buffer{F: v.Data}, &graph.Buffer{Device: r.state[i]})
	}
}

// changed notes that the host has changed the weights.
func (l *Loop) changed() {
	if l.resident != nil {
		l.resident.isOld = true
	}
}

// residentShard is oneShard for gradients in the executor's memory. It waits for the executor once, for what
// the shard's row says.
func (l *Loop) residentShard(s *data.Shard) error {
	r := l.resident
	l.watch.mark(trace.Forward)
	r.send()
	gradient := r.gradients[l.stack.slots[l.shard]]
	if s.Samples == 0 {
		clear(l.rows[s.Number*l.rowLen:][:l.rowLen])
		r.executor.Zero(gradient)
		r.merge(l.stack.folds[l.shard])
		l.watch.mark(trace.Other)
		l.share()
		return nil
	}
	p := l.programs.forStep(s.Samples, l.step, 0)
	p.Keep(r.weights, gradient)
	l.read(p, s, trace.Forward)
	p.SetDraws(graph.Draws{Seed: l.config.Seed, Step: l.step, Samples: s.Indices})
	p.Forward()
	l.lap(trace.Forward, "forward")
	l.watch.mark(trace.Backward)
	p.Backward(nil)
	r.merge(l.stack.folds[l.shard])
	l.watch.mark(trace.Other)
	l.prefetch()
	l.fill(p, s)
	l.count(p)
	l.lap(trace.Backward, "backward")
	l.share()
	return nil
}

// prefetcher is an Executor that can copy samples while it computes.
type prefetcher interface {
	// Prefetch begins to copy values that will be uploaded next.
	Prefetch(values []float32)
}

// prefetch lets the executor copy the images of the next shard while it computes this one.
func (l *Loop) prefetch() {
	ex, can := l.config.Executor.(prefetcher)
	if !can {
		return
	}
	if !l.isLastShard() {
		ex.Prefetch(l.batch.Shards[l.shard+1].Images)
	} else if next, ok := l.loader.Ahead(); ok {
		ex.Prefetch(next.Shards[0].Images)
	}
}

// merge adds gradients as the stack says.
func (r *residence) merge(folds []shard.Sum) {
	for _, f := range folds {
		r.executor.Add(r.gradients[f.Into], r.gradients[f.From])
	}
}
