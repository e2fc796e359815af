package infer

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/model"
)

// Note: batches
//
// One goroutine computes. It takes the first request that waits, then those behind it until the batch is
// full or the wait is over, and lays their samples one after the other. There are programs of 1, 2, 4, ...
// samples, which share memory and weights: a batch is computed by the largest that it fills, then the rest
// of it. A request of more samples than a batch is cut.

// Who has a request.
const (
	waiting   = iota // the engine will fill it
	abandoned        // its caller is gone
	answered         // the engine has filled it
)

// request is the inputs of one call of Predict.
type request struct {
	n                       int       // samples
	images                  []float32 // normalised, [n, H, W, C]
	tokens, lengths, splits []int32   // or texts
	logits                  []float32 // [n, K]
	taken, left             int       // samples that are in a batch or were; that have no logits yet
	tokensTaken             int
	state                   atomic.Int32
	done                    chan struct{} // has a value when it is answered
}

func newRequest() *request { return &request{done: make(chan struct{}, 1)} }

// reset empties a request that was answered or never sent.
func (q *request) reset() {
	q.images, q.tokens, q.lengths, q.splits = q.images[:0], q.tokens[:0], q.lengths[:0], q.splits[:0]
	q.taken, q.tokensTaken = 0, 0
	q.state.Store(waiting)
}

// expect makes room for the logits of n samples, outputs of each.
func (q *request) expect(n, outputs int) {
	q.n, q.left = n, n
	if cap(q.logits) < n*outputs {
		q.logits = make([]float32, n*outputs)
	}
	q.logits = q.logits[:n*outputs]
}

// abandon reports whether the request was still waiting; then it is the engine's alone.
func (q *request) abandon() bool { return q.state.CompareAndSwap(waiting, abandoned) }

// firstBad returns the first sample with a logit that is not finite; -1: none.
func (q *request) firstBad() int {
	for i, x := range q.logits {
		if math.IsInf(float64(x), 0) || x != x {
			return i * q.n / len(q.logits)
		}
	}
	return -1
}

// engine computes batches. It belongs to the goroutine of run.
type engine struct {
	cpu      *compute.CPU
	arena    *graph.Arena
	known    *graph.Constants
	programs []program // by size, the smallest first
	batch    int
	wait     time.Duration
	elems    int // of an image
	outputs  int

	pending *request // that is not yet wholly in a batch
	pieces  []piece  // of this batch
	rows    int      // samples in it
	laid    request  // its samples, one after the other, and their logits
	timer   *time.Timer

	batches, inputs atomic.Int64 // that were computed
}

// program computes so many samples.
type program struct {
	*graph.Program
	samples *graph.Input
	n       int
}

// piece is a run of a request's samples in a batch.
type piece struct {
	of       *request
	first, n int
}

// newEngine compiles the programs of c and loads the weights.
func newEngine(c Config) (e *engine, err error) {
	isa := compute.Best()
	if c.ISA != "" {
		if isa, err = compute.ParseISA(c.ISA); err != nil {
			return nil, err
		}
	}
	cpu, err := compute.Open(compute.Config{ISA: isa, Math: c.Math, Threads: c.Threads})
	if err != nil {
		return nil, err
	}
	host := graph.NewHost(cpu)
	e = &engine{cpu: cpu, arena: graph.NewArena(host), batch: c.Batch, wait: c.Wait,
		outputs: c.Network.Classes, timer: time.NewTimer(time.Hour)}
	e.timer.Stop()
	if c.Network.ReadsTexts() {
		e.laid.tokens = make([]int32, 0, c.Batch*c.Network.Input[0])
		e.laid.lengths, e.laid.splits = make([]int32, 0, c.Batch), make([]int32, 0, c.Batch)
	} else {
		e.elems = c.Network.Input.Elems()
		e.laid.images = make([]float32, 0, c.Batch*e.elems)
	}
	e.laid.expect(c.Batch, e.outputs)
	if err := e.compile(c, host); err != nil {
		e.close()
		return nil, fmt.Errorf("infer: %w", err)
	}
	return e, nil
}

// compile makes programs of 1, 2, 4, ... samples and one of a whole batch, with the weights as constants.
func (e *engine) compile(c Config, host *graph.Host) error {
	build := func(n int, known *graph.Constants) (program, error) {
		g := graph.New()
		o := graph.Options{Logits: c.Network.Build(c.Network.Samples(g, n)), Arena: e.arena, Constants: known}
		p, err := graph.Compile(g, host, o)
		return program{Program: p, n: n}, err
	}
	plain, err := build(1, nil) // says what the variables are
	if err != nil {
		return err
	}
	v := graph.NewVariables(plain.Program)
	if err := c.Load(v); err != nil {
		return err
	}
	known, name := graph.NewConstants(v), model.Images
	e.known = known
	if c.Network.ReadsTexts() {
		name = model.Texts
	}
	for n := 1; ; n = min(2*n, c.Batch) {
		p, err := build(n, known)
		if err == nil {
			err = p.Attach(v)
		}
		if err != nil {
			return err
		}
		p.samples = p.Input(name)
		e.programs = append(e.programs, p)
		if n == c.Batch {
			return nil
		}
	}
}

// close frees the memory and ends the threads.
func (e *engine) close() {
	e.arena.Close()
	if e.known != nil {
		e.known.Close()
	}
	e.cpu.Close()
}

// run computes what comes through the queue until it is closed.
func (e *engine) run(queue <-chan *request) {
	defer e.close()
	for e.gather(queue) {
		e.compute()
		e.answer()
	}
}

// gather fills a batch and reports whether there is one.
func (e *engine) gather(queue <-chan *request) bool {
	e.pieces, e.rows = e.pieces[:0], 0
	e.laid.reset()
	if e.pending == nil {
		q, ok := <-queue
		if !ok {
			return false
		}
		e.pending = q
	}
	e.take()
	if e.wait > 0 {
		e.timer.Reset(e.wait)
		defer e.timer.Stop()
	}
	for e.rows < e.batch {
		q := e.next(queue)
		if q == nil {
			break
		}
		e.pending = q
		e.take()
	}
	return true
}

// next returns another request for the batch; nil: there is none in time.
func (e *engine) next(queue <-chan *request) *request {
	select {
	case q := <-queue:
		return q // nil if the queue is closed
	default:
	}
	if e.wait == 0 || e.rows == 0 {
		return nil
	}
	select {
	case q := <-queue:
		return q
	case <-e.timer.C:
		return nil
	}
}

// take moves samples of the pending request to the batch, as many as there is room for.
func (e *engine) take() {
	q := e.pending
	if q.state.Load() == abandoned {
		e.pending = nil
		return
	}
	p := piece{q, q.taken, min(q.n-q.taken, e.batch-e.rows)}
	if e.elems > 0 {
		e.laid.images = append(e.laid.images, q.images[p.first*e.elems:][:p.n*e.elems]...)
	} else {
		total := 0
		for _, n := range q.lengths[p.first:][:p.n] {
			total += int(n)
		}
		e.laid.tokens = append(e.laid.tokens, q.tokens[q.tokensTaken:][:total]...)
		e.laid.lengths = append(e.laid.lengths, q.lengths[p.first:][:p.n]...)
		e.laid.splits = append(e.laid.splits, q.splits[p.first:][:p.n]...)
		q.tokensTaken += total
	}
	e.pieces, e.rows = append(e.pieces, p), e.rows+p.n
	if q.taken += p.n; q.taken == q.n {
		e.pending = nil
	}
}

// compute computes the logits of the batch.
func (e *engine) compute() {
	if e.rows == 0 { // all who waited are gone
		return
	}
	e.laid.expect(e.rows, e.outputs)
	e.batches.Add(1)
	e.inputs.Add(int64(e.rows))
	for at, token := 0, 0; at < e.rows; {
		size := len(e.programs) - 1
		for e.programs[size].n > e.rows-at {
			size--
		}
		p := e.programs[size]
		if e.elems > 0 {
			p.samples.SetFloats(e.laid.images[at*e.elems:][:p.n*e.elems])
		} else {
			total := 0
			for _, n := range e.laid.lengths[at:][:p.n] {
				total += int(n)
			}
			p.samples.SetPairs(e.laid.tokens[token:][:total], e.laid.lengths[at:][:p.n],
				e.laid.splits[at:][:p.n])
			token += total
		}
		p.Forward()
		copy(e.laid.logits[at*e.outputs:], p.Logits())
		at += p.n
	}
}

// answer gives each request its logits, and its caller the request when it has all.
func (e *engine) answer() {
	row := 0
	for _, p := range e.pieces {
		copy(p.of.logits[p.first*e.outputs:], e.laid.logits[row*e.outputs:][:p.n*e.outputs])
		row += p.n
		if p.of.left -= p.n; p.of.left == 0 && p.of.state.CompareAndSwap(waiting, answered) {
			p.of.done <- struct{}{}
		}
	}
}
