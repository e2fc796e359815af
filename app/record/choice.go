package record

import "lockstep/comm"

// StrategyChoice says which strategy was chosen for a run, and why.
type StrategyChoice struct {
	Chosen  string          `json:"chosen"`  // strategy with its settings, such as ddp:overlap-forward
	Ranking []StrategyTerms `json:"ranking"` // by predicted step, the shortest first
	Probe   Probe           `json:"probe"`   // what the predictions were made from
	Seconds float64         `json:"seconds"` // that probing and timing took
}

// StrategyTerms is the predicted step of a strategy, in seconds, and the terms it consists of.
type StrategyTerms struct {
	Way          string  `json:"strategy"`      // with its settings, such as ddp:overlap-forward
	Compute      float64 `json:"compute"`       // mean over workers
	Waiting      float64 `json:"waiting"`       // for the slowest worker
	Exposed      float64 `json:"exposed"`       // exchange that computation does not hide
	Update       float64 `json:"update"`        // of the weights
	Step         float64 `json:"step"`          // the sum
	BusiestBytes float64 `json:"busiest_bytes"` // in and out of the busiest process, in a step
	Measured     Number  `json:"measured"`      // median step of the trial, the shorter of two; null: none
	Inexact      string  `json:"inexact"`       // why it was not to be chosen; "": it was
}

// Probe is what was measured of the machines of a run and of its network.
type Probe struct {
	Compute   []float64      `json:"compute"`  // by rank: of both passes of a step, even parts
	Forward   float64        `json:"forward"`  // seconds of a worker's forward pass of a step
	Backward  float64        `json:"backward"` // seconds of the backward pass of its last shard
	Update    float64        `json:"update"`   // seconds of an update of all weights
	Link      comm.LinkSpeed `json:"link"`     // of the slowest kind of link
	Add       float64        `json:"add"`      // seconds to add a byte
	Bytes     float64        `json:"bytes"`    // of the gradient
	Tensors   float64        `json:"tensors"`  // of it
	Shards    int            `json:"shards"`   // of a step
	IsCrowded bool           `json:"crowded"`  // no core is to spare beside computing
}
