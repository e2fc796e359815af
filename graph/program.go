package graph

import (
	"errors"
	"fmt"
	"slices"
)

// Program computes a graph for one batch size. See the package comment for its rules.
type Program struct {
	code     *code
	executor Executor
	arena    *Arena
	plan     plan
	buffers  []*Buffer // by the plan's blocks
	lengths  []int     // of these, in elements of their types
	parts    []part    // of the mirror of the batch statistics

	ownsArena bool // nobody else can share or close it
	isKept    bool // parameters and gradients lie where Keep says
	announced int  // gradients of this backward pass, see announce
	isUnread  bool // the results of the last forward pass are in the executor's memory
	recorded  recorded

	steps          []step
	forward        int   // how many of steps are the forward pass
	order          []int // parameter numbers as their gradients become final
	costs          []OpCost
	work, repeated work // of costs: what the network is made of, and what is computed again

	inputs                    []*Input  // that are read
	params, states, gradients []*Buffer // by number
	mirrors                   mirrors   // of these
	starts                    []int32   // of the texts; nil if there are none
	splits                    []int32   // of the texts; nil if nothing reads them
	ragged                    []ragged  // the arena's ragged values
	rows                      int       // of ragged values in the next run
	draws                     Draws
	segments                  []Segment // of the gradients, once variables are attached
	flat                      int       // length of a flat gradient

	isHalted func() bool       // see Options; nil: no pass ends early
	onGroup  func(kind string) // see OnGroup

	stats          []float32
	losses, logits output
	results        results // these and the batch statistics
	loss           float64
}

// step is one op application ready to run.
type step struct {
	run   func(*Args)
	args  Args
	final []int  // parameters whose gradients are final afterwards
	fresh []int  // parameters that no step of the forward pass has read before
	group string // the kind of a run of ops that ends here; else ""
}

// ragged is a value whose number of rows depends on the run.
type ragged struct {
	buffer *Buffer
	cols   int
}

// Draws is the key of a run's random numbers, such as dropout's. They depend on nothing else: not on the
// worker that computes a sample, nor on the sample's place in the batch.
type Draws struct {
	Seed uint64
	Step int
	// Samples has the number of each sample within the data set.
	Samples []int32
}

// output is a result kept where the caller can read it until the next forward pass.
type output struct {
	from *Buffer
	host Buffer
}

// OpCost is the work of one op application of a program.
type OpCost struct {
	Op       string // the op's name, such as "conv"
	Layer    string // the layer's name as far as parameter names tell, such as "features.0"
	Backward bool
	Again    bool // repeats an op of the forward pass, so that its result need not be kept
	OfParts  bool // the host's products are of parts (compute.Math), not of float32
	In, Out  []Type
	Cost
}

// work holds the FLOPs of a run, apart for ops on ragged values, with the largest number of rows, and for
// the others.
type work struct {
	ragged, fixed int64
	rows          int // the largest number
}

// add counts an op application.
func (w *work) add(c OpCost) {
	for _, t := range slices.Concat(c.In, c.Out) {
		if t.Ragged {
			w.ragged, w.rows = w.ragged+c.FLOPs, t.Shape[0]
			return
		}
	}
	w.fixed += c.FLOPs
}

// of returns the FLOPs with so many rows of ragged values.
func (w work) of(rows int) int64 {
	if w.rows == 0 {
		return w.fixed
	}
	return w.fixed + int64(float64(w.ragged)*float64(rows)/float64(w.rows))
}

// Close releases the program's memory. The program must not be used afterwards. A shared arena stays until
// it is closed itself.
func (p *Program) Close() {
	if p.ownsArena {
		p.arena.Close()
	}
}

// Attach makes the program compute with v's parameters and state. It fails if v was made for
// another network. It may be called again, with the same or other variables; gradients have to be
// set anew afterwards.
func (p *Program) Attach(v *Variables) error {
	if err := v.check(p); err != nil {
		return err
	}
	if known := p.code.known; known != nil && known.of != v {
		return errors.New("graph: attach: the program has constants of other variables")
	}
	if p.IsTraining() {
		p.follow(v.Order)
	}
	for i, b := range p.params {
		b.F = v.of(v.Weights, i)
	}
	for i, b := range p.states {
		b.F = v.StateOf(i)
	}
	p.segments, p.flat = v.Segments, len(v.Weights)
	for _, b := range p.gradients {
		b.F = nil
	}
	return nil
}

// follow makes Backward report gradients in the order of the other programs of a network: one that is final
// before others in front of it waits for them. Programs of one sample, in which nothing is added up over
// samples, may finish otherwise than those of several.
func (p *Program) follow(order []int) {
	if slices.Equal(p.order, order) {
		return
	}
	isFinal, at := make([]bool, len(order)), 0
	for i := range p.steps {
		s := &p.steps[i]
		for _, param := range s.final {
			isFinal[param] = true
		}
		s.final = nil
		for ; at < len(order) && isFinal[order[at]]; at++ {
			s.final = append(s.final, order[at])
		}
	}
	p.order = slices.Clone(order)
}

// SetGradients makes Backward write into flat, a vector of the layout of Variables.Weights. Every
// element of every segment is overwritten; gaps are left alone. It does not allocate and may be
// called before each Backward. It panics if the length is wrong or nothing is attached.
func (p *Program) SetGradients(flat []float32) {
	if p.segments == nil || len(flat) != p.flat || !p.IsTraining() {
		panic(fmt.Sprintf("graph: set gradients: len=%d, want %d (training %v, attached %v)",
			len(flat), p.flat, p.IsTraining(), p.segments != nil))
	}
	for i, s := range p.segments {
		p.gradients[i].F = flat[s.Offset : s.Offset+s.Len : s.Offset+s.Len]
	}
}

// IsTraining reports whether the program has a backward pass.
func (p *Program) IsTraining() bool { return p.code.gradients != nil }

// Order returns the parameter numbers in the order in which Backward reports them.
func (p *Program) Order() []int { return p.order }

// resize gives the ragged values the rows of the next run.
func (p *Program) resize() {
	for _, r := range p.ragged {
		r.buffer.F = r.buffer.F[:min(p.rows*r.cols, cap(r.buffer.F))]
		r.buffer.Device.Len = p.rows * r.cols
	}
}

// SetDraws sets the key of the random numbers of the following runs. A training program with dropout needs
// it before each forward pass. It panics unless there are Samples() samples.
func (p *Program) SetDraws(d Draws) {
	if len(d.Samples) != p.Samples() {
		panic(fmt.Sprintf("graph: set draws: %d samples, want %d", len(d.Samples), p.Samples()))
	}
	p.draws = d
}

// Samples returns the program's batch size.
func (p *Program) Samples() int {
	if p.starts != nil {
		return len(p.starts) - 1
	}
	return p.code.inputs[0].typ.Shape[0]
}

// Forward computes losses and logits from the inputs and the attached variables. It changes
// neither; a training program also fills BatchStats.
func (p *Program) Forward() { p.ForwardAs(nil) }

// ForwardAs is Forward for parameters that may still be in transit. Before the first op that reads a
// parameter it calls need, unless nil, with the parameter's number.
func (p *Program) ForwardAs(need func(param int)) {
	p.mustBeReady()
	p.upload()
	if need != nil || !p.isReplayable() || !p.replay(&p.recorded.forward, p.steps[:p.forward]) {
		for i := range p.steps[:p.forward] {
			if p.isHalted != nil && p.isHalted() {
				break
			}
			s := &p.steps[i]
			p.bring(s, need)
			s.run(&s.args)
			p.ends(s)
		}
	}
	p.endForward()
}

// endForward makes the results of a forward pass readable, or notes that they are not yet.
func (p *Program) endForward() {
	p.isUnread = true
	if p.executor.InPlace() {
		p.finishForward()
	}
}

// finishForward makes the results of a forward pass readable, and adds up the losses in order. An executor
// of its own memory computes while the program goes on, so this is done when a result is asked for.
func (p *Program) finishForward() {
	if !p.isUnread {
		return
	}
	p.isUnread = false
	p.read()
	p.loss = 0
	for _, l := range p.losses.host.F {
		p.loss += float64(l)
	}
}

// mustBeReady panics unless every input is set and variables are attached.
func (p *Program) mustBeReady() {
	for _, in := range p.inputs {
		if in.buffer.F == nil && in.buffer.I == nil {
			panic(fmt.Sprintf("graph: forward: input %s is not set", in.node.name))
		}
	}
	if len(p.params) > 0 && p.params[0].F == nil {
		panic("graph: forward: no variables attached")
	}
	if p.code.sites > 0 && p.IsTraining() && p.draws.Samples == nil {
		panic("graph: forward: no draws set for dropout")
	}
}

// mustHaveGradients panics if a training program does not know where to write them.
func (p *Program) mustHaveGradients() {
	if len(p.gradients) > 0 && p.gradients[0].F == nil && p.gradients[0].Device.Handle == nil {
		panic("graph: backward: no gradients set")
	}
}

// read copies the results of a forward pass to where the caller can read them.
func (p *Program) read() {
	if p.executor.InPlace() {
		for _, o := range []*output{&p.losses, &p.logits} {
			if o.from != nil {
				copy(o.host.F, o.from.F)
			}
		}
		return
	}
	if all, ok := p.executor.(batcher); ok {
		all.DownloadAll(p.results.to, p.results.from)
		return
	}
	for i, to := range p.results.to {
		p.executor.Download(to, p.results.from[i])
	}
}

// batcher is an Executor that downloads several values faster together than one by one.
type batcher interface {
	DownloadAll(dst, src []*Buffer)
}

// results are the results of a forward pass that an executor not in place has to download.
type results struct{ to, from []*Buffer }

// add adds a result, unless there is none.
func (r *results) add(to, from *Buffer) {
	if from != nil {
		r.to, r.from = append(r.to, to), append(r.from, from)
	}
}

// Backward computes the gradient of the sum of the last Forward's losses with respect to every
// parameter, into the vector given to SetGradients. ready, unless nil, is called with each
// parameter's number as soon as its gradient is final, in the order of Order.
func (p *Program) Backward(ready func(param int)) {
	if !p.IsTraining() {
		panic("graph: backward: not a training program")
	}
	p.mustHaveGradients()
	if ready == nil && p.isReplayable() &&
		p.replay(p.recorded.backwardTo(p.gradients), p.steps[p.forward:]) {
		return
	}
	for i := p.forward; i < len(p.steps); i++ {
		if p.isHalted != nil && p.isHalted() {
			return
		}
		s := &p.steps[i]
		s.run(&s.args)
		p.ends(s)
		p.final(s, ready)
	}
	p.rejoin()
	p.lastArrivals(ready)
}

// OnGroup makes the following passes call f, unless nil, whenever a run of ops of one kind has ended, such as
// "conv". Only an executor in place has then computed them; passes that another one replays call nothing.
func (p *Program) OnGroup(f func(kind string)) { p.onGroup = f }

// ends tells that a run of ops ends with s, if it does and somebody wants to know.
func (p *Program) ends(s *step) {
	if p.onGroup != nil && s.group != "" {
		p.onGroup(s.group)
	}
}

// Loss returns the sum of the last Forward's losses over the samples, added in order in float64.
func (p *Program) Loss() float64 {
	p.finishForward()
	return p.loss
}

// Logits returns the last Forward's logits, [N, K]. The slice is overwritten by the next one.
func (p *Program) Logits() []float32 {
	p.finishForward()
	return p.logits.host.F
}

// BatchStats returns the last Forward's batch statistics in the layout of Variables.State: for a
// running mean the batch mean, for a running variance the batch's unbiased variance. The slice is
// overwritten by the next Forward. It is empty for inference.
func (p *Program) BatchStats() []float32 {
	p.finishForward()
	return p.stats
}

// ArenaBytes returns how much memory the program's intermediate values need. Programs that share
// an arena need the largest of these.
func (p *Program) ArenaBytes() int64 { return int64(p.plan.size) * 4 }

// Cost returns the work of each op application, in the order they run.
func (p *Program) Cost() []OpCost { return p.costs }

// FLOPs returns the additions and multiplications of the last Forward, and of its Backward in a training
// program, as Cost counts them: those of the network, not what is computed again to save memory. Ops on texts
// count in proportion to the number of tokens, which is a little too much for attention over short texts.
func (p *Program) FLOPs() int64 { return p.work.of(p.rows) }

// HardwareFLOPs returns FLOPs with what is computed again.
func (p *Program) HardwareFLOPs() int64 { return p.FLOPs() + p.repeated.of(p.rows) }

// place points every value of the arena at its part of m.
func (p *Program) place(m Memory) {
	for i, b := range p.plan.blocks {
		to := p.buffers[i]
		to.F, to.Device = nil, Span{}
		switch {
		case m.Floats != nil:
			to.F = m.Floats[b.offset : b.offset+b.size : b.offset+b.size]
		case m.Handle != nil:
			to.Device = Span{m.Handle, b.offset, p.lengths[i]}
		}
	}
	if m := p.mirrors.reports.device; m != nil {
		for _, part := range p.parts {
			part.buffer.Device = Span{m.Device.Handle, m.Device.Offset + part.Offset, part.Len}
		}
	}
	p.forget()
	p.resize()
}
