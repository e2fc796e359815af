package data

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"lockstep/shard"
)

// LoaderConfig configures a Loader: the part of the steps that it prepares.
type LoaderConfig struct {
	// Set holds the samples; it must not change while the loader is open.
	Set *Set
	// Batch is the number of samples of a step over all workers, at least Shards.
	Batch int
	// Shards is the number of virtual shards of a batch.
	Shards int
	// Lo and Hi are this worker's run of shards, [Lo, Hi).
	Lo, Hi int
	// Seed determines order and augmentation.
	Seed uint64
	// ByBlock orders samples as [Sampler.ByBlock] does; it must be false for texts.
	ByBlock bool
	// Augment changes the images; it must be zero for texts.
	Augment Augmentation
	// FromStep is the first step, counted from the start of the run.
	FromStep int
	// ToStep is the step to stop before; 0 means never.
	ToStep int
	// Threads is how many goroutines fill the images of a shard; 0 means one. It is for devices that
	// compute faster than one processor core can prepare images.
	Threads int
	// IsSought says that only FromStep and the steps that Seek names are wanted, and no others are
	// prepared ahead.
	IsSought bool
	// Pace makes the preparation of steps slower.
	Pace Pace
}

// Validate returns an error for the first invalid setting.
func (c LoaderConfig) Validate() error {
	switch {
	case c.Set == nil || c.Set.Len() == 0:
		return errors.New("data: loader: no samples")
	case c.Shards < 1 || c.Batch < c.Shards:
		return fmt.Errorf("data: loader: batch %d in %d shards, want batch >= shards >= 1",
			c.Batch, c.Shards)
	case c.Lo < 0 || c.Hi <= c.Lo || c.Hi > c.Shards:
		return fmt.Errorf("data: loader: run [%d, %d) of %d shards", c.Lo, c.Hi, c.Shards)
	case c.FromStep < 0 || c.ToStep < 0 || c.ToStep != 0 && c.ToStep < c.FromStep:
		return fmt.Errorf("data: loader: steps [%d, %d)", c.FromStep, c.ToStep)
	case c.ByBlock && (c.Set.Texts != nil || c.Set.ClassShares != nil):
		return errors.New("data: loader: texts, or samples drawn by class, by blocks")
	case c.Set.Texts != nil && c.Augment != (Augmentation{}):
		return errors.New("data: loader: augmentation of texts")
	}
	if err := c.Set.Check(); err != nil || c.Set.Texts != nil {
		return err
	}
	return c.Augment.validate(c)
}

// Bytes returns the memory of a loader: its steps and the order of an epoch's samples.
func (c LoaderConfig) Bytes() int64 {
	samples := 0
	for v := c.Lo; v < c.Hi; v++ {
		samples += shard.Samples(min(c.Batch, c.Set.Len()), c.Shards, v)
	}
	mixed, order := 0, int64(c.Set.Len())
	if c.Augment.IsMixed() {
		mixed = 2
	}
	if c.Set.ClassShares != nil {
		order *= 4 // turns, the samples of each class, and those of the greatest in random order
	}
	return 4*(ringSteps*int64(samples)*int64(c.Set.Shape.Elems()+1+c.Set.NumTargets+mixed)+
		order) + gangBytes(c.Set, c.Threads)
}

// Step is a worker's part of one global batch.
type Step struct {
	// Number counts steps from the start of the run.
	Number int
	// Epoch is the epoch of the step, InEpoch its number in the epoch.
	Epoch, InEpoch int
	// Samples is the size of the batch over all workers.
	Samples int
	// Shards are this worker's shards, in order; some are empty if the batch has few samples.
	Shards []Shard

	err error // why there are no samples
}

// Shard is one virtual shard of a step, or a batch of an evaluation. It has either Images, or
// Tokens and Lengths, according to the set.
type Shard struct {
	// Number is the shard's number among all shards of the run.
	Number int
	// Samples is its number of samples, N.
	Samples int
	// Images is [N, H, W, C], normalised.
	Images []float32
	// Tokens holds the tokens of all texts, concatenated without padding, [sum of Lengths].
	Tokens []int32
	// Lengths is the number of tokens of each text, [N].
	Lengths []int32
	// Splits is the number of tokens of each text before its second part, 0 if it has none, [N].
	Splits []int32
	// Labels is [N], or empty if the set has Targets alone.
	Labels []int32
	// Others has the class of the sample that each is mixed with, [N], and Shares the part that is left
	// to its own, 1/2 to 1; both are empty unless the augmentation mixes samples.
	Others []int32
	Shares []float32
	// Targets is [N, Set.NumTargets], standardised if the set has Values.
	Targets []float32
	// Weights has the weight of each sample of a step, divided by the mean weight of the global batch, [N];
	// empty if the set has none, and in an evaluation.
	Weights []float32
	// Indices has the number of each sample within the set, [N]; Set.Take leaves it empty.
	Indices []int32

	gang                                     gang
	convert                                  *converter
	images, targets, shares, weights         []float32 // full length of the buffers behind the fields above
	tokens, lengths, splits, labels, indices []int32
	others                                   []int32
	stored                                   []byte // tokens as a file has them
}

// Coverage returns the multiset hash of the shard's samples. The hashes of all shards of an epoch,
// on all workers, add up to the function Coverage of the whole set, modulo 2^64.
func (sh *Shard) Coverage() uint64 {
	sum := uint64(0)
	for _, index := range sh.Indices {
		sum += sampleHash(index)
	}
	return sum
}

// resetTargets empties the shard of labels and targets.
func (sh *Shard) resetTargets() { sh.Labels, sh.Targets = sh.labels[:0], sh.targets[:0] }

// appendTargets adds what s says of its sample i. The buffers have room for it.
func (sh *Shard) appendTargets(s *Set, i int) {
	if s.HasLabels() {
		sh.Labels = append(sh.Labels, s.Labels[i])
	}
	for k, x := range s.Targets[i*s.NumTargets : (i+1)*s.NumTargets] {
		if s.Values != nil {
			x = s.Values[k].Standard(x)
		}
		sh.Targets = append(sh.Targets, x)
	}
}

// reset empties the shard of texts.
func (sh *Shard) reset() {
	sh.Tokens, sh.Lengths, sh.Splits = sh.tokens[:0], sh.lengths[:0], sh.splits[:0]
}

// appendText appends text i.
func (sh *Shard) appendText(texts *Texts, i int) (err error) {
	sh.Tokens, sh.stored, err = texts.read(sh.Tokens, i, sh.stored)
	sh.tokens = sh.Tokens[:cap(sh.Tokens)]
	sh.Lengths = append(sh.Lengths, int32(texts.Length(i)))
	sh.Splits = append(sh.Splits, texts.Split(i))
	return err
}

// ringSteps is the number of step buffers: one in use, one ready, one being filled.
const ringSteps = 3

// Loader prepares steps ahead of time on its own goroutine. Its methods must be called from one
// goroutine.
type Loader struct {
	config  LoaderConfig
	sampler Sampler
	convert converter
	gang    gang
	kept    []float32 // with mixing: the first image of a shard, as it was
	order   []int32
	ordered int // epoch that order is of; -1 at the start

	free, full chan *Step
	quit, done chan struct{}
	sought     chan struct{} // wakes prepare after the last step

	mu     sync.Mutex
	next   int  // the step to be prepared next
	isMade bool // with IsSought: it is prepared
	want   int  // the step that Next returns next
	stride int  // between steps

	current *Step
	ahead   *Step // taken from full by Ahead
	closed  bool
}

// NewLoader starts preparing steps, until Close. It allocates three steps of this worker's part at
// once, and returns an error only for an invalid configuration.
func NewLoader(c LoaderConfig) (*Loader, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	l := &Loader{
		config:  c,
		sampler: NewSampler(c.Set.Len(), c.Batch, c.Shards, c.Seed),
		order:   make([]int32, c.Set.Len()),
		ordered: -1,
		free:    make(chan *Step, ringSteps),
		full:    make(chan *Step, ringSteps),
		quit:    make(chan struct{}),
		done:    make(chan struct{}),
		sought:  make(chan struct{}, 1),
		next:    c.FromStep,
		want:    c.FromStep,
		stride:  1,
	}
	if c.Set.Texts != nil {
		l.sampler = l.sampler.ByLength(c.Set.Texts)
	} else if c.ByBlock {
		l.sampler = l.sampler.ByBlock()
	}
	if c.Set.ClassShares != nil {
		l.sampler = l.sampler.ByClass(c.Set.Labels, c.Set.ClassShares)
	}
	if c.Set.Texts == nil {
		l.convert.of(c.Set)
		l.gang.grow(c.Set, max(1, c.Threads))
		if c.Augment.IsMixed() {
			l.kept = make([]float32, c.Set.Shape.Elems())
		}
	}
	for range ringSteps {
		l.free <- l.newStep()
	}
	go l.prepare()
	return l, nil
}

// Next returns the next step and blocks until it is ready. The step before it becomes invalid. After the last
// step the error is io.EOF; others are those of the set's Samples. With IsSought a Seek must precede every
// call but the first.
func (l *Loader) Next() (*Step, error) {
	if l.closed {
		return nil, errors.New("data: loader: next after close")
	}
	if l.current != nil {
		l.free <- l.current
		l.current = nil
	}
	if l.isBeyond(l.want) {
		return nil, io.EOF
	}
	s := l.take()
	for ; s.Number != l.want; s = l.take() { // prepared before a Seek
		l.free <- s
	}
	l.current = s
	if s.err != nil {
		return nil, s.err
	}
	if l.want += l.stride; l.config.IsSought {
		l.want = -1
	}
	return s, nil
}

// Ahead returns the step that the next call of Next will return, if it is ready. It stays valid until the
// call after that. It does not block.
func (l *Loader) Ahead() (s *Step, isReady bool) {
	if l.closed || l.config.IsSought || l.isBeyond(l.want) {
		return nil, false
	}
	if l.ahead == nil {
		select {
		case l.ahead = <-l.full:
		default:
			return nil, false
		}
	}
	return l.ahead, l.ahead.Number == l.want && l.ahead.err == nil
}

// take returns the next prepared step, and blocks until there is one.
func (l *Loader) take() (s *Step) {
	if s, l.ahead = l.ahead, nil; s == nil {
		s = <-l.full
	}
	return s
}

// Seek makes step the one that Next returns next. The steps after it are expected at the same
// distance as this one from the last, and prepared ahead: a Seek to the step that is expected costs
// nothing, to another one the time to prepare it.
func (l *Loader) Seek(step int) {
	if step == l.want {
		return
	}
	l.mu.Lock()
	if l.ahead != nil {
		l.free <- l.ahead
		l.ahead = nil
	}
	for isEmpty := false; !isEmpty; { // of others, so that there is room for this one, which is not drawn yet
		select {
		case s := <-l.full:
			l.free <- s
		default:
			isEmpty = true
		}
	}
	l.stride = max(1, step-(l.want-l.stride))
	l.next, l.want, l.isMade = step, step, false
	l.mu.Unlock()
	select {
	case l.sought <- struct{}{}:
	default:
	}
}

// isBeyond reports whether a step is not of the loader's.
func (l *Loader) isBeyond(step int) bool { return l.config.ToStep != 0 && step >= l.config.ToStep }

// Close stops the preparation and waits for its end. All steps become invalid.
func (l *Loader) Close() error {
	if !l.closed {
		l.closed = true
		close(l.quit)
		<-l.done
	}
	return nil
}

// newStep returns a step with buffers for the largest shards this worker can get.
func (l *Loader) newStep() *Step {
	c := l.config
	s := &Step{Shards: make([]Shard, c.Hi-c.Lo)}
	for i := range s.Shards {
		n := shard.Samples(min(c.Batch, c.Set.Len()), c.Shards, c.Lo+i)
		s.Shards[i] = Shard{Number: c.Lo + i, labels: make([]int32, n), indices: make([]int32, n),
			targets: make([]float32, n*c.Set.NumTargets)}
		if c.Set.Weights != nil {
			s.Shards[i].weights = make([]float32, n)
		}
		if c.Set.Texts != nil {
			s.Shards[i].lengths, s.Shards[i].splits = make([]int32, n), make([]int32, n)
			s.Shards[i].tokens = make([]int32, n*c.Set.Shape[0])
		} else {
			s.Shards[i].images = make([]float32, n*c.Set.Shape.Elems())
			if c.Augment.IsMixed() {
				s.Shards[i].others, s.Shards[i].shares = make([]int32, n), make([]float32, n)
			}
		}
	}
	return s
}

// prepare fills free steps, in order, until Close.
func (l *Loader) prepare() {
	defer close(l.done)
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case s := <-l.free:
			n, ok := l.draw()
			if !ok {
				return
			}
			began := time.Now()
			l.fill(s, n)
			if owed := l.config.Pace.owes(time.Since(began)); owed > 0 {
				wait.Reset(owed)
				select {
				case <-wait.C:
				case <-l.quit:
					return
				}
			}
			l.full <- s
		case <-l.quit:
			return
		}
	}
}

// draw returns the step to be prepared. After the last one, or one that was sought, it waits for a Seek;
// ok is false after Close.
func (l *Loader) draw() (n int, ok bool) {
	for {
		l.mu.Lock()
		n = l.next
		if !l.isBeyond(n) && !(l.config.IsSought && l.isMade) {
			if l.isMade = true; !l.config.IsSought {
				l.next += l.stride
			}
			l.mu.Unlock()
			return n, true
		}
		l.mu.Unlock()
		select {
		case <-l.sought:
		case <-l.quit:
			return 0, false
		}
	}
}

// fill prepares step number of the run in s.
func (l *Loader) fill(s *Step, number int) {
	perEpoch := l.sampler.StepsPerEpoch()
	s.Number, s.Epoch, s.InEpoch = number, number/perEpoch, number%perEpoch
	s.Samples = l.sampler.BatchSamples(s.InEpoch)
	if l.ordered != s.Epoch {
		l.sampler.Order(l.order, s.Epoch)
		l.ordered = s.Epoch
	}
	s.err = nil
	factor := l.config.Set.weightFactor(l.order[s.InEpoch*l.config.Batch:][:s.Samples])
	for i := range s.Shards {
		sh := &s.Shards[i]
		lo, hi := l.sampler.Range(s.InEpoch, sh.Number)
		if s.err = l.gather(sh, s.Epoch, lo, l.order[lo:hi]); s.err != nil {
			return
		}
		sh.weigh(l.config.Set, l.order[lo:hi], factor)
	}
}

// gather copies the samples with the given indices, which stand from first on in the order of the epoch, into
// a shard.
func (l *Loader) gather(sh *Shard, epoch, first int, indices []int32) error {
	set := l.config.Set
	sh.Samples = len(indices)
	sh.Indices = sh.indices[:copy(sh.indices, indices)]
	sh.resetTargets()
	for _, index := range indices {
		sh.appendTargets(set, int(index))
	}
	if set.Texts != nil {
		sh.reset()
		for _, index := range indices {
			if err := sh.appendText(set.Texts, int(index)); err != nil {
				return err
			}
		}
		return nil
	}
	elems := set.Shape.Elems()
	sh.Images = sh.images[:len(indices)*elems]
	if len(indices) == 0 {
		return nil
	}
	if err := l.placeAll(sh.Images, epoch, first, indices, elems); err != nil {
		return err
	}
	if l.config.Augment.IsMixed() {
		l.mix(sh, epoch)
	}
	return nil
}

// placeAll is place by all threads.
func (l *Loader) placeAll(images []float32, epoch, first int, indices []int32, elems int) error {
	if l.config.Threads <= 1 { // without a closure, which would be allocated
		return l.place(images, epoch, first, indices, &l.gang.rooms[0])
	}
	return l.gang.run(len(indices), l.config.Threads, func(lo, hi int, r *room) error {
		return l.place(images[lo*elems:hi*elems], epoch, first+lo, indices[lo:hi], r)
	})
}

// place writes the images of a set with the given indices, which stand from first on in the order of the
// epoch, to images, changed as the epoch's augmentation says. One that was drawn by class is changed as often
// as it was drawn.
func (l *Loader) place(images []float32, epoch, first int, indices []int32, r *room) error {
	set := l.config.Set
	height, width, channels := set.Shape[0], set.Shape[1], set.Shape[2]
	elems := set.Shape.Elems()
	for i, index := range indices {
		if d := l.sampler.drawn; d != nil {
			epoch = int(d.turns[first+i])
		}
		raw, err := l.config.Augment.shown(set, int(index), l.config.Seed, epoch, r)
		if err != nil {
			return err
		}
		image := images[i*elems : (i+1)*elems]
		p := l.config.Augment.draw(l.config.Seed, epoch, int(index))
		l.convert.place(image, raw, height, width, channels, p)
		if l.config.Augment.Reflect {
			p.reflect(image, height, width, channels)
		}
		l.config.Augment.drawHole(l.config.Seed, epoch, int(index), height, width).
			cut(image, width, channels)
	}
	return nil
}
