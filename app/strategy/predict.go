package strategy

import (
	"math"
	"slices"

	"lockstep/comm"
	"lockstep/shard"
)

// Way is a form of a strategy whose step time can be predicted.
type Way struct {
	Options    string // settings of its own, such as "servers=2+server-place=apart"; "": none
	IsBalanced bool   // shards go from slow workers to fast ones
	Predict    func(p Probe) Terms
}

// Terms are the predicted seconds of a step, of which it is the sum.
type Terms struct {
	Compute      float64 // mean over workers
	Waiting      float64 // for the slowest worker
	Exposed      float64 // exchange that computation does not hide
	Update       float64 // of the weights
	BusiestBytes float64 // no seconds: in and out of the busiest process, in a step
}

// Probe is what was measured of the machines of a run and of its network.
type Probe struct {
	Compute      []float64      `json:"compute"`       // by rank: of both passes of a step, even parts
	Forward      float64        `json:"forward"`       // seconds of a worker's forward pass of a step
	Backward     float64        `json:"backward"`      // seconds of the backward pass of its last shard
	Update       float64        `json:"update"`        // seconds of an update of all weights
	Link         comm.LinkSpeed `json:"link"`          // of the slowest kind of link
	Add          float64        `json:"add"`           // seconds to add a byte
	Bytes        float64        `json:"bytes"`         // of the gradient
	Tensors      float64        `json:"tensors"`       // of it
	Bucket       float64        `json:"bucket"`        // bytes of one
	Shards       int            `json:"shards"`        // of a step
	AverageEvery float64        `json:"average_every"` // steps between two averages of weights
	IsCrowded    bool           `json:"crowded"`       // no core is to spare beside computing
	Memory       int64          `json:"memory"`        // planned bytes of the worker with most
}

// IsEven reports whether no worker is much slower than the others.
func (p Probe) IsEven() bool {
	t := p.terms()
	return t.Waiting < 0.1*t.Compute
}

func (p Probe) workers() float64 { return float64(len(p.Compute)) }

// terms returns the computation of even parts, with the wait for the slowest worker.
func (p Probe) terms() Terms {
	mean := 0.0
	for _, c := range p.Compute {
		mean += c / p.workers()
	}
	return Terms{Compute: mean, Waiting: slices.Max(p.Compute) - mean, Update: p.Update}
}

// moving is the processor time of moving a byte through memory or the kernel, in seconds: the order of what
// loopback TCP takes on current processors.
const moving = 1e-9

// move returns the seconds of an exchange of so many bytes, in and out at once, in some steps.
func (p Probe) move(bytes, steps float64) float64 { return steps*p.Link.Latency + bytes*p.Link.Byte }

// beside returns what is exposed of an exchange of so many bytes that takes some seconds beside a
// computation, with a last part that begins when the computation ends. Where no core is to spare, moving
// the hidden bytes takes processor time from computing.
func (p Probe) beside(bytes, exchange, last, computation float64) float64 {
	exposed := max(last, exchange-computation)
	if p.IsCrowded {
		exposed += min(exchange-exposed, bytes*min(moving, p.Link.Byte))
	}
	return exposed
}

// reduced returns the bytes that each worker sends, and receives, in an all-reduce.
func (p Probe) reduced() float64 { return 2 * p.Bytes * (p.workers() - 1) / p.workers() }

// buckets returns the number of buckets of the gradient.
func (p Probe) buckets() float64 { return max(1, math.Ceil(p.Bytes/max(1, p.Bucket))) }

// balanced replaces the even parts of a prediction by whole shards that end as early as they can.
func balanced(even func(p Probe) Terms) func(p Probe) Terms {
	return func(p Probe) Terms {
		t := even(p)
		t.Compute, t.Waiting = p.makespan(), 0
		return t
	}
}

// makespan returns when the last worker has computed its shards, dealt out by how fast the workers are.
func (p Probe) makespan() float64 {
	speeds := make([]shard.Speed, len(p.Compute))
	for rank, c := range p.Compute {
		speeds[rank].Each = c * p.workers() / float64(p.Shards)
	}
	plan, err := shard.Balance(p.Shards, speeds)
	if err != nil { // fewer shards than workers
		return slices.Max(p.Compute)
	}
	return plan.Time(speeds)
}
