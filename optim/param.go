package optim

import (
	"cmp"
	"fmt"
	"slices"
)

// Kind is the kind of a parameter, as update rules distinguish them.
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
	// Offset and Len are its range. Len is 0 if the weights contain none of it; only its name
	// matters then.
	Offset, Len int
	// Rows and Cols are the shape of the stored matrix, stored row by row; for the weights of a
	// layer Cols is the number of outputs. A Bias is one row.
	Rows, Cols int
	Kind       Kind
}

// Share describes to an optimizer the ranges [lo, hi) of a flat vector that params describes, one
// after another in a vector of their own, and returns the length of that. A parameter of which a
// range has a part counts as one row. Every parameter also appears once without elements, so that a
// Group that matches only parameters elsewhere is not an error.
func Share(params []Param, shares [][2]int) (own []Param, total int) {
	for _, p := range params {
		p.Offset, p.Len, p.Rows, p.Cols = 0, 0, 0, 0
		own = append(own, p)
	}
	for _, share := range shares {
		for _, p := range params {
			lo, hi := max(share[0], p.Offset), min(share[1], p.Offset+p.Len)
			if lo >= hi {
				continue
			}
			if hi-lo < p.Len {
				p.Rows, p.Cols = 1, hi-lo
			}
			p.Offset, p.Len = total+lo-share[0], hi-lo
			own = append(own, p)
		}
		total += share[1] - share[0]
	}
	return own, total
}

// setting holds the settings of a parameter.
type setting struct {
	rate, decay float64
	steps       int
}

// setting returns the settings of p: those of the first group that matches, else Config's.
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

// IsFrozen reports whether the parameter of that name is frozen at step, counted from 1.
func (c Config) IsFrozen(name string, step int) bool {
	return c.setting(Param{Name: name}).isFrozen(step)
}

// layer is a parameter with its settings.
type layer struct {
	Param
	setting
}

// layers returns the parameters in the order of their offsets in a vector of n weights. It returns
// an error if they overlap or a group matches none.
func (c Config) layers(params []Param, n int) ([]layer, error) {
	var all []layer
	for _, p := range params {
		if p.Len != 0 { // skip those without elements
			all = append(all, layer{p, c.setting(p)})
		}
	}
	slices.SortFunc(all, func(a, b layer) int { return cmp.Compare(a.Offset, b.Offset) })
	end := 0
	for _, l := range all {
		if l.Len < 1 || l.Offset < end || l.Offset+l.Len > n || l.Rows*l.Cols != l.Len {
			return nil, fmt.Errorf("optim: parameter %s at [%d,%d) with shape [%d,%d], want a range of "+
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

// stretch is a range of weights with the same settings.
type stretch struct {
	lo, hi int
	setting
}

// stretches divides n weights where the settings change. Gaps between parameters are zero and stay
// zero under any setting; they belong to the stretch before them. Without parameters there is one
// stretch.
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

// isFrozen reports whether the weights are frozen at step, counted from 1.
func (s setting) isFrozen(step int) bool { return s.rate == 0 || s.steps > 0 && step > s.steps }

// within returns the part of the stretch in [lo, hi), which may be empty.
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

// isIn reports whether the layer is in the weights [lo, hi). It panics if only a part of it is.
func (l *layer) isIn(rule string, lo, hi int) bool {
	from, to := max(lo, l.Offset), min(hi, l.Offset+l.Len)
	if from < to && to-from != l.Len {
		panic(fmt.Sprintf("optim: %s: weights [%d,%d) cut parameter %s at [%d,%d)", rule, lo, hi, l.Name,
			l.Offset, l.Offset+l.Len))
	}
	return from < to
}
