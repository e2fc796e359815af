package record

import "lockstep/app/strategy"

// StrategyChoice says which strategy was chosen for a run, and why.
type StrategyChoice struct {
	Chosen  string          `json:"chosen"`  // strategy with its settings, such as ddp:overlap-forward
	Ranking []StrategyTerms `json:"ranking"` // by predicted step, the shortest first
	Probe   Probe           `json:"probe"`   // what the predictions were made from
	Seconds float64         `json:"seconds"` // that probing and timing took
}

// StrategyTerms is the predicted step of a strategy, in seconds, and the terms it consists of.
type StrategyTerms struct {
	Strategy     string  `json:"strategy"`      // by name
	Options      string  `json:"options"`       // its own settings
	Compute      float64 `json:"compute"`       // mean over workers
	Waiting      float64 `json:"waiting"`       // for the slowest worker
	Exposed      float64 `json:"exposed"`       // exchange that computation does not hide
	Update       float64 `json:"update"`        // of the weights
	Step         float64 `json:"step"`          // the sum
	BusiestBytes float64 `json:"busiest_bytes"` // in and out of the busiest process, in a step
	Measured     Number  `json:"measured"`      // median step of the trial, the shorter of two; null: none
	Inexact      string  `json:"inexact"`       // why it was not to be chosen; "": it was
}

// Probe is what predictions are made from.
type Probe = strategy.Probe
