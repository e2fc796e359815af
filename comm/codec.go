package comm

import (
	"fmt"
	"slices"
)

// Codec encodes the vectors of an all-reduce or a reduce-scatter for the links. A span that a rank sends to
// several peers is encoded once. A lossy codec's sender decodes what it has encoded and goes on with that, so
// that all ranks get the same bits; they depend on the number of ranks, since each rounds the sums of its own
// shards. Package codec has implementations.
//
// A group uses a codec from one goroutine at a time. It keeps schedules by codec, so the types that
// implement it must be comparable.
type Codec interface {
	// Name is for reports and errors.
	Name() string
	// Loss says what decoding does not bring back.
	Loss() Loss
	// MaxBytes returns the most bytes that n elements take, n > 0; IsFixed reports whether they
	// always take as many. Nothing longer is received.
	MaxBytes(n int) int
	IsFixed() bool
	// Encode writes src to dst, of MaxBytes, and returns the number of bytes, at least 1.
	Encode(dst []byte, src []float32) int
	// Decode sets dst to what src holds, or reports that src is no encoding of len(dst) elements.
	Decode(dst []float32, src []byte) error
}

// Loss is how a codec rounds.
type Loss uint8

// The kinds of loss.
const (
	// Lossless brings every bit back.
	Lossless Loss = iota
	// Elementwise rounds each element by itself, and one that is rounded already not again.
	Elementwise
	// Blockwise rounds elements together: those cut in another way, as by the algorithms that pass
	// on what they have received, would be rounded anew.
	Blockwise
)

// passing returns the names of the algorithms whose ranks pass on parts of the result.
func passing() []string {
	var names []string
	for _, a := range algorithms() {
		if a.isPassing {
			names = append(names, a.name)
		}
	}
	return names
}

// CheckCodec returns an error if all-reduce by the algorithm would not give all ranks the same bits
// with the codec, which may be nil.
func CheckCodec(algorithm string, c Codec) error {
	if c == nil || c.Loss() != Blockwise || !slices.Contains(passing(), algorithm) {
		return nil
	}
	return fmt.Errorf("comm: algorithm %q passes on what it has received, which codec %q would round "+
		"again; want one that does not: direct, gather, one-shot", algorithm, c.Name())
}

// algorithm returns the name that the call or else the group has for an all-reduce.
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

// validateCodec reports a codec that does not fit the call.
func (x *executor) validateCodec(c *Call) error {
	if c.Codec != nil && c.Op != AllReduce && c.Op != ReduceScatter {
		return fmt.Errorf("comm: %v: codec %q, which only all-reduce and reduce-scatter take", c.Op,
			c.Codec.Name())
	}
	if c.Op == AllReduce && !x.fits(c.Codec, x.algorithm(c)) {
		return CheckCodec(x.algorithm(c), c.Codec)
	}
	return nil
}

// encoding is a span of a step in the form in which it travels.
type encoding struct {
	buffer int
	span   Span
	body   []byte
}

// reserve makes room for what the steps of p send and receive at once.
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
	body := x.encoded[used:][:p.codec.MaxBytes(t.Len())]
	body = body[:p.codec.Encode(body, floats(view))]
	if p.codec.Loss() != Lossless {
		if err := p.codec.Decode(floats(view), body); err != nil {
			panic(err) // it has just been encoded
		}
	}
	x.encodings = append(x.encodings, encoding{t.Buffer, t.Span, body})
	return body
}

// incoming returns the memory for the body of a transfer from a peer. Of a codec whose lengths vary
// it is empty until the header has come.
func (x *executor) incoming(p *planned, l *lane, t Transfer) []byte {
	switch {
	case p.codec == nil:
		return x.view(p, t.Buffer, t.Span)
	case p.codec.IsFixed():
		return l.encoded[:p.codec.MaxBytes(t.Len())]
	}
	return nil
}

// announce returns the length that the body of the frame under way must have, and makes room for it,
// when its header says length.
func (x *executor) announce(p *planned, l *lane, length uint64) uint64 {
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

// decode puts a body that is complete where it belongs.
func (x *executor) decode(p *planned, l *lane, t Transfer) error {
	if p.codec == nil {
		return nil
	}
	if err := p.codec.Decode(floats(x.view(p, t.Buffer, t.Span)), l.body); err != nil {
		return &BodyError{Codec: p.codec.Name(), Bytes: len(l.body), Err: err}
	}
	return nil
}
