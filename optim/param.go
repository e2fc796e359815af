package optim

import (
	"cmp"
	"fmt"
	"slices"
)

// Kind says what a parameter is, as far as update rules care.
type Kind int

const (
	// Bias is a bias, or another vector, such as the gain of a norm.
	Bias Kind = iota
	// Matrix holds the weights of a linear layer or of a convolution.
	Matrix
	// Table is a matrix whose rows are looked up: an embedding.
	Table
	// Head is the last matrix, whose outputs are the classes.
	Head
)

// Param describes a parameter within the flat vector of weights.
type Param struct {
	// Name is the parameter's name, which a Group matches.
	Name string
	// Offset and Len say where it lies. Len is 0 if the weights have nothing of it; only its name counts.
	Offset, Len int
	// Rows and Cols are the shape of the stored matrix, whose elements lie row by row; for the
	// weights of a layer Cols is the number of outputs. A Bias is one row.
	Rows, Cols int
	Kind       Kind
}

// setting is what holds for a parameter.
type setting struct {
	rate, decay float64
	steps       int
}

// setting returns what holds for p: the first group that matches, else what Config says of all.
func (c Config) setting(p Param) setting {
	for _, g := range c.Groups {
		if g.has(p.Name) {
			return setting{g.Rate, g.WeightDecay, g.Steps}
		}
	}
	if c.DecayMatrices && p.Kind == Bias {
		return setting{rate: 1}
	}
	return setting{rate: 1, decay: c.WeightDecay}
}

// IsFrozen reports whether step number step, counted from 1, leaves the parameter of that name as it is,
// whatever its gradient.
func (c Config) IsFrozen(name string, step int) bool {
	return c.setting(Param{Name: name}).isFrozen(step)
}

// layer is a parameter with its settings.
type layer struct {
	Param
	setting
}

// layers returns the parameters as they lie in a vector of n weights. It fails if they overlap or a
// group matches none.
func (c Config) layers(params []Param, n int) ([]layer, error) {
	var all []layer
	for _, p := range params {
		if p.Len != 0 { // of which there is something
			all = append(all, layer{p, c.setting(p)})
		}
	}
	slices.SortFunc(all, func(a, b layer) int { return cmp.Compare(a.Offset, b.Offset) })
	end := 0
	for _, l := range all {
		if l.Len < 1 || l.Offset < end || l.Offset+l.Len > n || l.Rows*l.Cols != l.Len {
			return nil, fmt.Errorf("optim: parameter %s lies at [%d,%d) as [%d,%d], want a place of "+
				"that size in [%d,%d)", l.Name, l.Offset, l.Offset+l.Len, l.Rows, l.Cols, end, n)
		}
		end = l.Offset + l.Len
	}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.Name
	}
	return all, c.Groups.Check(names)
}

// stretch is a run of weights with the same settings.
type stretch struct {
	lo, hi int
	setting
}

// stretches cuts n weights where the settings change. Gaps between parameters, which are zero and stay
// so under any setting, go with what lies before them. Without parameters it is one stretch.
func (c Config) stretches(params []Param, n int) ([]stretch, error) {
	layers, err := c.layers(params, n)
	if err != nil {
		return nil, err
	}
	all := []stretch{{0, n, setting{rate: 1, decay: c.WeightDecay}}}
	for i, l := range layers {
		last := &all[len(all)-1]
		switch {
		case i == 0:
			last.setting = l.setting
		case last.setting != l.setting:
			last.hi = l.Offset
			all = append(all, stretch{l.Offset, n, l.setting})
		}
	}
	return all, nil
}

// isFrozen reports whether step number step, counted from 1, leaves the weights as they are.
func (s setting) isFrozen(step int) bool { return s.rate == 0 || s.steps > 0 && step > s.steps }

// within returns the part of the stretch that lies in [lo, hi), which may be empty.
func (s stretch) within(lo, hi int) (from, to int) {
	from = max(lo, s.lo)
	return from, max(from, min(hi, s.hi))
}

// mustFit panics unless g holds the gradient of the weights [lo, hi).
func mustFit(rule string, lo, hi int, g []float32) {
	if len(g) != hi-lo {
		panic(fmt.Sprintf("optim: %s: len(g)=%d for weights [%d,%d), want %d", rule, len(g), lo, hi, hi-lo))
	}
}

// isIn reports whether a layer lies in the weights [lo, hi). It panics if a part of it does.
func (l *layer) isIn(rule string, lo, hi int) bool {
	from, to := max(lo, l.Offset), min(hi, l.Offset+l.Len)
	if from < to && to-from != l.Len {
		panic(fmt.Sprintf("optim: %s: weights [%d,%d) cut parameter %s at [%d,%d)", rule, lo, hi, l.Name,
			l.Offset, l.Offset+l.Len))
	}
	return from < to
}
