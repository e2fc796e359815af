package infer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"lockstep/compute"
	"lockstep/data/table"
	"lockstep/data/wordpiece"
	"lockstep/graph"
	"lockstep/internal/elementary"
	"lockstep/model"
)

// Config says what a Predictor computes with.
type Config struct {
	// Network is what was trained.
	Network model.Network
	// Load sets the weights and running statistics of the network's variables.
	Load func(*graph.Variables) error
	// Classes names the outputs; nil: they have numbers, or are no classes.
	Classes []string
	// Mean and Std normalise each channel of images of 8 bits: (pixel/255 - Mean) / Std.
	Mean, Std []float32
	// Tokenizer makes tokens of texts; nil: texts come as tokens.
	Tokenizer *wordpiece.Tokenizer
	// Table says what the columns of rows mean, whose channels Mean and Std normalise; nil: inputs are no
	// rows.
	Table *table.Table
	// Values says what the outputs are of a network that predicts numbers: Predict returns the numbers. Nil:
	// the outputs are logits of classes.
	Values []table.Value

	// Threads compute; 0 means one for each processor.
	Threads int
	// Batch is the most inputs that are computed together, which memory grows with; 0 means 32.
	Batch int
	// Wait is how long the first of a batch waits for others, unless the batch is full. With 0, the inputs of
	// callers that wait already are computed together, and nobody waits for more.
	Wait time.Duration
	// ISA and Math are those of compute.Config; an ISA of "" is the best of this machine.
	ISA  string
	Math compute.Math
}

// Defaults and bounds of Config.
const (
	DefaultBatch = 32
	MaxBatch     = 4096
)

// ErrClosed is the error of Predict after Close.
var ErrClosed = errors.New("infer: the predictor is closed")

// Predictor computes the outputs of one network. It is safe for concurrent use.
type Predictor struct {
	config Config
	reader *reader
	engine *engine
	queue  chan *request

	mu       sync.Mutex
	idle     []*request // that nobody uses
	isClosed bool
	calls    sync.WaitGroup // of Predict in progress
	ended    chan struct{}  // closed when the engine has ended
}

// New compiles a network for inference and loads its weights. The caller closes it.
func New(c Config) (*Predictor, error) {
	c.Threads, c.Batch = cmp.Or(c.Threads, runtime.GOMAXPROCS(0)), cmp.Or(c.Batch, DefaultBatch)
	if c.Batch < 1 || c.Batch > MaxBatch || c.Wait < 0 {
		return nil, fmt.Errorf("infer: batches of %d after %v, want 1 to %d", c.Batch, c.Wait, MaxBatch)
	}
	if n := len(c.Classes); n > 0 && n != c.Network.Classes {
		return nil, fmt.Errorf("infer: %d classes are named, but %s has %d outputs", n, c.Network.Name,
			c.Network.Classes)
	}
	if channels := c.Network.Input[len(c.Network.Input)-1]; len(c.Mean) != len(c.Std) ||
		len(c.Mean) > 0 && len(c.Mean) != channels {
		return nil, fmt.Errorf("infer: %d means and %d deviations for images of %d channels", len(c.Mean),
			len(c.Std), channels)
	}
	if n := len(c.Values); n > 0 && n != c.Network.Classes {
		return nil, fmt.Errorf("infer: %d values are named, but %s has %d outputs", n, c.Network.Name,
			c.Network.Classes)
	}
	if t := c.Tokenizer; t != nil && t.Len() > c.Network.Words {
		return nil, fmt.Errorf("infer: a vocabulary of %d tokens, but %s has %d", t.Len(), c.Network.Name,
			c.Network.Words)
	}
	if t := c.Table; t != nil && len(c.Mean) != t.Channels() {
		return nil, fmt.Errorf("infer: %d means and deviations for a table of %d channels", len(c.Mean),
			t.Channels())
	}
	if c.Table != nil && c.Table.Channels() != c.Network.Input.Elems() {
		return nil, fmt.Errorf("infer: a table of %d channels, but %s reads %v", c.Table.Channels(),
			c.Network.Name, c.Network.Input)
	}
	e, err := newEngine(c)
	if err != nil {
		return nil, err
	}
	p := &Predictor{config: c, reader: newReader(c), engine: e, queue: make(chan *request, c.Batch),
		ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		e.run(p.queue)
	}()
	return p, nil
}

// Network returns what is computed.
func (p *Predictor) Network() model.Network { return p.config.Network }

// Classes returns the names of the outputs, by number; numbers where they have no names. It must not be
// changed.
func (p *Predictor) Classes() []string { return p.config.Classes }

// Table says what the columns of rows mean; nil: the inputs are no rows. It must not be changed.
func (p *Predictor) Table() *table.Table { return p.config.Table }

// Values says what the numbers are that Predict returns; nil: they are logits of classes. It must not be
// changed.
func (p *Predictor) Values() []table.Value { return p.config.Values }

// Counts returns how many batches were computed, and the inputs in them.
func (p *Predictor) Counts() (batches, inputs int64) {
	return p.engine.batches.Load(), p.engine.inputs.Load()
}

// Predict appends the logits of inputs, or the numbers that are predicted of them, to to, [len(inputs),
// Network().Classes], and returns it. Inputs of
// several calls are computed together. Cancelling ctx ends the wait; the inputs may still be computed.
func (p *Predictor) Predict(ctx context.Context, inputs []Input, to []float32) ([]float32, error) {
	for i := range inputs {
		if reason := p.reader.check(&inputs[i]); reason != "" {
			return to, &InputError{Number: i, Reason: reason}
		}
	}
	if len(inputs) == 0 {
		return to, ctx.Err()
	}
	q, err := p.begin()
	if err != nil {
		return to, err
	}
	defer p.calls.Done()
	for i := range inputs {
		p.reader.read(q, &inputs[i])
	}
	q.expect(len(inputs), p.config.Network.Classes)
	select {
	case p.queue <- q:
	case <-ctx.Done():
		p.release(q)
		return to, context.Cause(ctx)
	}
	select {
	case <-q.done:
	case <-ctx.Done():
		if q.abandon() {
			return to, context.Cause(ctx) // the engine drops it
		}
		<-q.done
	}
	to, bad := append(to, q.logits...), q.firstBad()
	p.release(q)
	if bad >= 0 {
		return to[:len(to)-len(inputs)*p.config.Network.Classes], &NotFiniteError{bad}
	}
	table.Replace(to[len(to)-len(inputs)*p.config.Network.Classes:], p.config.Values)
	return to, nil
}

// begin returns a request for a call, which counts until calls.Done.
func (p *Predictor) begin() (*request, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed {
		return nil, ErrClosed
	}
	p.calls.Add(1)
	if n := len(p.idle); n > 0 {
		q := p.idle[n-1]
		p.idle = p.idle[:n-1]
		q.reset()
		return q, nil
	}
	return newRequest(), nil
}

// keptBatches bounds the images that idle requests have room for.
const keptBatches = 4

// release keeps a request for a later call, unless others have much room already. One that was abandoned is
// the engine's and is not kept.
func (p *Predictor) release(q *request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	room := cap(q.images)
	for _, other := range p.idle {
		room += cap(other.images)
	}
	if len(p.idle) < p.config.Batch && room <= keptBatches*p.config.Batch*p.config.Network.Input.Elems() {
		p.idle = append(p.idle, q)
	}
}

// Close waits for the calls in progress and frees the memory. Later calls return ErrClosed; a second Close
// does nothing.
func (p *Predictor) Close() {
	p.mu.Lock()
	wasClosed := p.isClosed
	p.isClosed = true
	p.mu.Unlock()
	if !wasClosed {
		p.calls.Wait()
		close(p.queue)
	}
	<-p.ended
}

// Class is a class with its probability.
type Class struct {
	Number      int     `json:"-"`
	Label       string  `json:"label"`
	Probability float64 `json:"probability"`
}

// Rank appends the k most probable classes of one input's logits to to, the first of equal ones first:
// their probabilities are the softmax of logits. All classes if there are fewer.
func (p *Predictor) Rank(logits []float32, k int, to []Class) []Class {
	most, sum := float64(slices.Max(logits)), 0.0
	for _, x := range logits {
		sum += elementary.Exp(float64(x) - most)
	}
	from := len(to)
	for i, x := range logits {
		c := Class{Number: i, Label: p.label(i), Probability: elementary.Exp(float64(x)-most) / sum}
		at := len(to)
		for at > from && logits[to[at-1].Number] < x {
			at--
		}
		switch {
		case len(to)-from < k:
			to = slices.Insert(to, at, c)
		case at < len(to):
			copy(to[at+1:], to[at:])
			to[at] = c
		}
	}
	return to
}

// label returns the name of an output.
func (p *Predictor) label(i int) string {
	if len(p.config.Classes) == 0 {
		return fmt.Sprint(i)
	}
	return p.config.Classes[i]
}
