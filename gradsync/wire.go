package gradsync

import (
	"fmt"
	"strings"

	"lockstep/comm"
	"lockstep/comm/codec"
)

// Wire says how gradients are transferred: a compressor of each bucket's gradients, if any, and a
// codec for the vectors that are summed. The zero Wire is "fp32": no compressor and no codec.
type Wire struct {
	name  string
	codec string // a name of package codec, or "" for none
	// compressor makes the compressor; nil means that the gradients themselves are summed. A
	// compressor that leaves out a part of them keeps residuals.
	compressor func(c *Config, buckets []Bucket) compressor
	// volume returns how many elements are summed for the gradients of some parameters; nil: all.
	volume func(segments []Segment) int
	isAuto bool
}

// Wires lists all wires: every codec, the compressors, and "auto", which selects one of them in the
// first step by measuring what pays.
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

// ParseWire returns the wire with the given name.
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

// IsAuto reports whether the wire is selected in the first step.
func (w Wire) IsAuto() bool { return w.isAuto }

// IsLossy reports whether the sums differ from those of one worker. It is false for "auto", where
// that is unknown until the choice.
func (w Wire) IsLossy() bool { return w.HasResiduals() || w.loss() != comm.Lossless }

// HasResiduals reports whether a part of each step's gradients is held back for later steps.
func (w Wire) HasResiduals() bool { return w.compressor != nil }

// IsFixed reports whether the exchange may be sharded or late: the wire keeps no residuals and is
// not "auto".
func (w Wire) IsFixed() bool { return !w.isAuto && !w.HasResiduals() }

// IsServable reports whether gradients may travel to parameter servers: the wire is not "auto", and
// its compressor, if any, leaves vectors as long as the gradients.
func (w Wire) IsServable() bool { return !w.isAuto && w.volume == nil }

// Check returns an error if the algorithm would not give all workers the same sums with this wire.
func (w Wire) Check(algorithm string) error { return comm.CheckCodec(algorithm, w.Codec()) }

// Codec returns a new codec for the vectors that are summed, or nil for none.
func (w Wire) Codec() comm.Codec {
	if w.codec == "" {
		return nil
	}
	c, err := codec.New(w.codec)
	if err != nil {
		panic(err) // the names come from package codec
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
