package comm

import (
	"fmt"
	"slices"
	"time"
)

// Codec encodes the vectors of an all-reduce or a reduce-scatter for transfer over the links. A
// span that goes to several peers is encoded once. The sender of a lossy encoding decodes it again
// and continues with the decoded values, so that all ranks get the same bits. Those bits depend on
// the number of ranks, because each rank rounds the sums of its own shards. Package codec has
// implementations.
//
// A group uses a codec from one goroutine at a time. It caches schedules by codec, so types that
// implement Codec must be comparable.
type Codec interface {
	// Name returns the codec's name for reports and errors.
	Name() string
	// Loss returns how the codec rounds.
	Loss() Loss
	// MaxBytes returns the maximum encoded size of n elements, n > 0. IsFixed reports whether every
	// encoding of n elements has that size. A longer body is refused.
	MaxBytes(n int) int
	IsFixed() bool
	// Encode writes the encoding of src to dst, which has MaxBytes bytes, and returns its length,
	// at least 1.
	Encode(dst []byte, src []float32) int
	// Decode decodes src into dst. It fails if src is not an encoding of len(dst) elements.
	Decode(dst []float32, src []byte) error
}

// Loss says how a codec rounds.
type Loss uint8

// The kinds of loss.
const (
	// Lossless restores every bit.
	Lossless Loss = iota
	// Elementwise rounds each element on its own. Rounding twice equals rounding once.
	Elementwise
	// Blockwise rounds elements in blocks. Algorithms that forward what they received cut the
	// vector in other places, and would round it again.
	Blockwise
)

// passing returns the names of the algorithms whose ranks forward parts of the result.
func passing() []string {
	var names []string
	for _, a := range algorithms() {
		if a.isPassing {
			names = append(names, a.name)
		}
	}
	return names
}

// CheckCodec returns an error if an all-reduce by the algorithm with codec c would not give all
// ranks the same bits. c may be nil.
func CheckCodec(algorithm string, c Codec) error {
	if c == nil || c.Loss() != Blockwise || !slices.Contains(passing(), algorithm) {
		return nil
	}
	return fmt.Errorf("comm: algorithm %q forwards received data, which codec %q would round "+
		"again; want direct, gather or one-shot", algorithm, c.Name())
}

// algorithm returns the all-reduce algorithm of the call, or the group's if the call names none.
func (x *executor) algorithm(c *Call) string {
	if c.Algorithm != "" {
		return c.Algorithm
	}
	return x.config.Algorithm
}

// fits is CheckCodec without an allocation.
func (x *executor) fits(c Codec, algorithm string) bool {
	return c == nil || c.Loss() != Blockwise || !slices.Contains(x.passing, algorithm)
}

// validateCodec returns an error if the call's codec does not fit the call.
func (x *executor) validateCodec(c *Call) error {
	if c.Codec != nil && c.Op != AllReduce && c.Op != ReduceScatter {
		return fmt.Errorf("comm: %v: codec %q: only all-reduce and reduce-scatter use codecs", c.Op,
			c.Codec.Name())
	}
	if c.Op == AllReduce && !x.fits(c.Codec, x.algorithm(c)) {
		return CheckCodec(x.algorithm(c), c.Codec)
	}
	return nil
}

// encoding is an encoded span of a step.
type encoding struct {
	buffer int
	span   Span
	body   []byte
}

// reserve allocates room for everything that one step of p sends and receives.
func (x *executor) reserve(p *planned) {
	for _, step := range p.schedule.Steps {
		total := 0
		for i, t := range step.Sends {
			isRepeated := func(o Transfer) bool { return o.Buffer == t.Buffer && o.Span == t.Span }
			if !slices.ContainsFunc(step.Sends[:i], isRepeated) {
				total += p.codec.MaxBytes(t.Len())
			}
		}
		if total > len(x.encoded) {
			x.encoded = make([]byte, total)
		}
		x.encodings = slices.Grow(x.encodings[:0], len(step.Sends))
		for _, t := range step.Receives {
			in := &x.in[t.Peer]
			if n := p.codec.MaxBytes(t.Len()); n > len(in.encoded) {
				in.encoded = make([]byte, n)
			}
		}
	}
}

// outgoing returns the body of a transfer to a peer.
func (x *executor) outgoing(p *planned, t Transfer) []byte {
	view := x.view(p, t.Buffer, t.Span)
	if p.codec == nil {
		return view
	}
	used := 0
	for _, e := range x.encodings {
		if e.buffer == t.Buffer && e.span == t.Span {
			return e.body
		}
		used += len(e.body)
	}
	began := time.Now()
	body := x.encoded[used:][:p.codec.MaxBytes(t.Len())]
	body = body[:p.codec.Encode(body, floats(view))]
	if p.codec.Loss() != Lossless {
		if err := p.codec.Decode(floats(view), body); err != nil {
			panic(err) // it has just been encoded
		}
	}
	x.split.Coded += time.Since(began)
	x.encodings = append(x.encodings, encoding{t.Buffer, t.Span, body})
	return body
}

// incoming returns the memory for the body of a transfer from a peer. With a codec of variable
// length it is empty until the header has arrived.
func (x *executor) incoming(p *planned, l *stream, t Transfer) []byte {
	switch {
	case p.codec == nil:
		return x.view(p, t.Buffer, t.Span)
	case p.codec.IsFixed():
		return l.encoded[:p.codec.MaxBytes(t.Len())]
	}
	return nil
}

// announce takes the body length from a header that has just arrived, makes room for that many
// bytes, and returns the length that the body must have.
func (x *executor) announce(p *planned, l *stream, length uint64) uint64 {
	if p.codec == nil || p.codec.IsFixed() {
		return uint64(len(l.body))
	}
	most := uint64(p.codec.MaxBytes(l.transfers[l.next].Len()))
	if length < 1 || length > most {
		return most
	}
	l.body = l.encoded[:length]
	return length
}

// decode decodes or copies a complete body to its destination.
func (x *executor) decode(p *planned, l *stream, t Transfer) error {
	if p.codec == nil {
		return nil
	}
	began := time.Now()
	if err := p.codec.Decode(floats(x.view(p, t.Buffer, t.Span)), l.body); err != nil {
		return &BodyError{Codec: p.codec.Name(), Bytes: len(l.body), Err: err}
	}
	x.split.Coded += time.Since(began)
	return nil
}
