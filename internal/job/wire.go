package job

import (
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
	return codec.New(wire)
}

// wireProblem returns why gradients cannot travel as asked for, or nil.
func (c Config) wireProblem() error {
	wire, err := newCodec(c.Wire)
	if err != nil || c.Strategy == "gather-scatter" { // which has an algorithm of its own
		return err
	}
	return comm.CheckCodec(c.Algorithm, wire)
}
