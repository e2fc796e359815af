package gradsync

import (
	"fmt"
	"strings"

	"lockstep/comm"
	"lockstep/comm/codec"
)

// Wire is the form in which gradients travel: a compressor of each bucket's gradients, if any, then a codec
// of the vectors that are summed. The zero Wire is "fp32", the gradients as they are.
type Wire struct {
	name  string
	codec string // a name of package codec; "": none
	// compressor makes what turns gradients into vectors; nil: they are the vectors. One that leaves out a
	// part of them keeps residuals.
	compressor func(c *Config, buckets []Bucket) compressor
	// volume returns how many elements are summed of the gradients of some parameters; nil: all.
	volume func(segments []Segment) int
	isAuto bool
}

// Wires lists the forms: every codec, the compressors, and "auto", which lets the first step's gradients
// wait until it has measured what pays and is that wire from then on.
func Wires() []Wire {
	var all []Wire
	for _, name := range codec.Names() {
		if name != sparse {
			all = append(all, Wire{name: name, codec: name})
		}
	}
	return append(all, topKWire(), powerSGDWire(1), powerSGDWire(2), powerSGDWire(4),
		Wire{name: "auto", isAuto: true})
}

// ParseWire returns the wire of a name.
func ParseWire(name string) (Wire, error) {
	var names []string
	for _, w := range Wires() {
		if w.name == name {
			return w, nil
		}
		names = append(names, w.name)
	}
	return Wire{}, fmt.Errorf("gradsync: wire %q, want one of %s", name, strings.Join(names, ", "))
}

// String returns the name.
func (w Wire) String() string {
	if w.name == "" {
		return "fp32"
	}
	return w.name
}

// IsAuto reports whether the wire is chosen in the first step.
func (w Wire) IsAuto() bool { return w.isAuto }

// IsLossy reports whether the sums are others than those of one worker. Of "auto" that is not known before
// the choice, and false.
func (w Wire) IsLossy() bool { return w.HasResiduals() || w.loss() != comm.Lossless }

// HasResiduals reports whether a part of each step's gradients is kept back for later steps.
func (w Wire) HasResiduals() bool { return w.compressor != nil }

// IsFixed reports whether the sums may be taken bucket by bucket in any way: by shares, after Wait. It is
// false of residuals, and of a wire that is not chosen yet.
func (w Wire) IsFixed() bool { return !w.isAuto && !w.HasResiduals() }

// Check returns an error if all workers would not get the same sums by an algorithm.
func (w Wire) Check(algorithm string) error { return comm.CheckCodec(algorithm, w.Codec()) }

// Codec returns a new codec for the vectors that are summed; nil if they travel as they are.
func (w Wire) Codec() comm.Codec {
	if w.codec == "" {
		return nil
	}
	c, err := codec.New(w.codec)
	if err != nil {
		panic(err) // the list has names of package codec
	}
	return c
}

func (w Wire) loss() comm.Loss {
	if c := w.Codec(); c != nil {
		return c.Loss()
	}
	return comm.Lossless
}

// newCompressor makes the compressor of an exchange.
func (w Wire) newCompressor(c *Config, buckets []Bucket) compressor {
	if w.compressor == nil {
		return &whole{pieces: c.Pieces, buckets: buckets}
	}
	return w.compressor(c, buckets)
}
