package optim

import (
	"fmt"
	"strconv"
	"strings"

	"lockstep/compute"
	"lockstep/internal/kernel/row"
)

// EMA keeps an exponential moving average of vectors: parameters and running statistics.
type EMA struct {
	cpu     *row.CPU
	decay   float64
	live    [][]float32
	average [][]float32
}

// NewEMA returns the average of live with the given decay, in (0, 1). It starts at live's values.
func NewEMA(decay float64, cpu *compute.CPU, live ...[]float32) *EMA {
	return &EMA{row.On(cpu), decay, live, clones(live)}
}

// Restart sets the average to the live values.
func (e *EMA) Restart() { copyAll(e.average, e.live) }

// copyAll copies vectors.
func copyAll(dst, src [][]float32) {
	for i, v := range dst {
		copy(v, src[i])
	}
}

// clones returns copies of vectors.
func clones(vectors [][]float32) [][]float32 {
	var all [][]float32
	for _, v := range vectors {
		all = append(all, append(make([]float32, 0, len(v)), v...))
	}
	return all
}

// Update moves the average towards the live values: average += (live-average) * (1-decay). It allocates
// nothing.
func (e *EMA) Update() {
	for i, v := range e.average {
		e.cpu.Lerp(v, v, e.live[i], float32(1-e.decay))
	}
}

// Swap exchanges the average and the live values.
func (e *EMA) Swap() { swapAll(e.average, e.live) }

// swapAll exchanges the values of vectors.
func swapAll(a, b [][]float32) {
	for i, v := range a {
		for j, x := range b[i] {
			b[i][j], v[j] = v[j], x
		}
	}
}

// State returns the averages, one per vector, all named "ema".
func (e *EMA) State() []Vector { return named("ema", e.average) }

// named gives vectors a name.
func named(name string, vectors [][]float32) []Vector {
	var all []Vector
	for _, v := range vectors {
		all = append(all, Vector{name, v})
	}
	return all
}

// LookaheadConfig chooses slow weights that follow the fast ones (Zhang et al. 2019, arXiv 1907.08610).
// After each step n, counted from 1, that Every divides,
//
//	slow += (fast-slow) * (1 - (1-Alpha)*(n/steps)^Power);  fast = slow
//
// The slow weights are what is evaluated and what a run ends with. Power 0 is the paper's rule, with the
// same Alpha throughout.
type LookaheadConfig struct {
	// Every is the number of steps between two updates; 0 means no lookahead.
	Every int
	// Alpha, in (0, 1], is the step of the slow weights towards the fast ones.
	Alpha float64
	// Power, 0 to 100, makes that step larger at the beginning of the run.
	Power int
}

// ParseLookahead parses "EVERY,ALPHA" or "EVERY,ALPHA,POWER" such as "5,0.5"; the empty string
// means none.
func ParseLookahead(s string) (LookaheadConfig, error) {
	if s == "" {
		return LookaheadConfig{}, nil
	}
	refuse := fmt.Errorf("optim: lookahead %.80q, want EVERY,ALPHA[,POWER] such as 5,0.5", s)
	texts := strings.Split(s, ",")
	if len(texts) != 2 && len(texts) != 3 {
		return LookaheadConfig{}, refuse
	}
	var c LookaheadConfig
	var errs [3]error
	c.Every, errs[0] = strconv.Atoi(texts[0])
	c.Alpha, errs[1] = strconv.ParseFloat(texts[1], 64)
	if len(texts) == 3 {
		c.Power, errs[2] = strconv.Atoi(texts[2])
	}
	if errs != [3]error{} || c.Every < 1 || c.Validate() != nil {
		return LookaheadConfig{}, refuse
	}
	return c, nil
}

// String returns the form that ParseLookahead parses.
func (c LookaheadConfig) String() string {
	switch {
	case c == LookaheadConfig{}:
		return ""
	case c.Power == 0:
		return fmt.Sprintf("%d,%v", c.Every, c.Alpha)
	}
	return fmt.Sprintf("%d,%v,%d", c.Every, c.Alpha, c.Power)
}

// Validate returns an error for the first setting that is out of range.
func (c LookaheadConfig) Validate() error {
	if c == (LookaheadConfig{}) {
		return nil
	}
	if c.Every < 1 || !(c.Alpha > 0 && c.Alpha <= 1) || c.Power < 0 || c.Power > 100 {
		return fmt.Errorf("optim: lookahead every %d steps by %v with power %d, want at least 1, above 0 "+
			"to 1, and 0 to 100", c.Every, c.Alpha, c.Power)
	}
	return nil
}

// Lookahead holds slow copies of vectors: parameters and running statistics.
type Lookahead struct {
	config LookaheadConfig
	cpu    *row.CPU
	steps  int // of the run
	fast   [][]float32
	slow   [][]float32
}

// NewLookahead returns c's lookahead over a run of that many steps. The slow weights start at the
// values of fast.
func NewLookahead(c LookaheadConfig, cpu *compute.CPU, steps int, fast ...[]float32) *Lookahead {
	return &Lookahead{c, row.On(cpu), steps, fast, clones(fast)}
}

// Restart sets the slow weights to the fast ones.
func (l *Lookahead) Restart() { copyAll(l.slow, l.fast) }

// IsDue reports whether After updates the weights after step n, counted from 1.
func (l *Lookahead) IsDue(n int) bool { return n%l.config.Every == 0 }

// After updates the slow weights if step n, counted from 1, is due. It allocates nothing.
func (l *Lookahead) After(n int) {
	if !l.IsDue(n) {
		return
	}
	follow := 1 - l.config.Alpha
	for range l.config.Power {
		follow = float64(follow*float64(n)) / float64(l.steps)
	}
	for i, slow := range l.slow {
		l.cpu.Lerp(slow, slow, l.fast[i], float32(1-follow))
		copy(l.fast[i], slow)
	}
}

// Swap exchanges the slow and the fast weights.
func (l *Lookahead) Swap() { swapAll(l.slow, l.fast) }

// State returns the slow weights, one per vector, all named "lookahead".
func (l *Lookahead) State() []Vector { return named("lookahead", l.slow) }
