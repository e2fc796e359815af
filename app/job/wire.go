package job

import (
	"strconv"
	"strings"

	"lockstep/comm"
	"lockstep/comm/codec"
)

// newCodec returns the codec of a wire: nil for "fp32", and for "auto", which has not decided yet.
func newCodec(wire string) (comm.Codec, error) {
	switch wire {
	case auto:
		wire = wirePlain
	case wireTopK:
		wire = "sparse"
	}
	if lowRank(wire) > 0 {
		wire = wirePlain
	}
	return codec.New(wire)
}

// wireLowRank is what the names of PowerSGD's wires begin with; their rank follows.
const wireLowRank = "powersgd-"

// IsLossy reports whether gradients that travel as wire are rounded or thinned out, so that the result
// is another than that of one worker. Of "auto", and of what is no wire, it is not known, and false.
func IsLossy(wire string) bool {
	if wire == wireTopK || lowRank(wire) > 0 {
		return true
	}
	c, err := newCodec(wire)
	return err == nil && c != nil && c.Loss() != comm.Lossless
}

// lowRank returns the rank of the factors that a wire sends in place of matrices; 0 if it sends those.
func lowRank(wire string) int {
	text, ok := strings.CutPrefix(wire, wireLowRank)
	if !ok {
		return 0
	}
	rank, _ := strconv.Atoi(text) // as wires lists them
	return rank
}

// wireProblem returns why gradients cannot travel as asked for, or nil.
func (c Config) wireProblem() error {
	wire, err := newCodec(c.Wire)
	if err != nil || c.Strategy == "gather-scatter" { // which has an algorithm of its own
		return err
	}
	return comm.CheckCodec(c.Algorithm, wire)
}
