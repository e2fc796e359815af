package record

import "fmt"

// Causes are the runs by which a benchmark confirms what its plan asks why for. They come after its rounds,
// and are no rows of it.
type Causes struct {
	Seconds float64     `json:"seconds"`        // wall time of these runs
	Rounds  int         `json:"rounds"`         // in which they took turns
	Rows    []Row       `json:"rows,omitempty"` // rows of the benchmark again, and variants of them
	Pairs   []CausePair `json:"pairs"`          // that are explained, in the order in which they have time
}

// CausePair is two rows of a benchmark, the second of which takes longer.
type CausePair struct {
	Rows [2]int `json:"rows"` // of the benchmark
	// Again are the same rows in [Causes]; null: there was no time to confirm their terms.
	Again    *[2]int        `json:"again"`
	Variants []Intervention `json:"variants,omitempty"` // of either
	IsCut    bool           `json:"cut,omitempty"`      // there was no time for all of them
}

// Intervention is a row that was changed to see what its step does without a cause.
type Intervention struct {
	Row    int    `json:"row"`              // of [Causes]
	Action string `json:"action"`           // align, silence, isolate, relieve or remove, as explain has them
	OfB    bool   `json:"of_b,omitempty"`   // it is the second row that was changed; else the first
	IsAll  bool   `json:"is_all,omitempty"` // it has no other difference left
	Cost   string `json:"cost"`             // term that it is for
	Text   string `json:"text"`             // what was changed
}

// validate checks runs and the numbers of rows, of which the benchmark has so many.
func (c *Causes) validate(rows int) error {
	if c == nil {
		return nil
	}
	if len(c.Rows) > MaxRows || len(c.Pairs) > MaxRows || c.Rounds < 0 || c.Rounds > MaxRounds {
		return fmt.Errorf("causes: %d rows, %d pairs, %d rounds: want at most %d, %d and %d", len(c.Rows),
			len(c.Pairs), c.Rounds, MaxRows, MaxRows, MaxRounds)
	}
	if err := validateRows(c.Rows, c.Rounds); err != nil {
		return fmt.Errorf("causes: %w", err)
	}
	is := func(row, of int) bool { return 0 <= row && row < of }
	for i, p := range c.Pairs {
		isFit := is(p.Rows[0], rows) && is(p.Rows[1], rows) && len(p.Variants) <= MaxRows &&
			(p.Again == nil || is(p.Again[0], len(c.Rows)) && is(p.Again[1], len(c.Rows)))
		for _, v := range p.Variants {
			isFit = isFit && is(v.Row, len(c.Rows))
		}
		if !isFit {
			return fmt.Errorf("causes: pair %d names rows that there are not", i)
		}
	}
	return nil
}
