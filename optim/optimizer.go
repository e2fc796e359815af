package optim

import (
	"fmt"
	"slices"

	"lockstep/compute"
)

// Optimizer turns gradients into new weights.
type Optimizer interface {
	// Step updates the weights [lo, hi) of the flat vector, whose summed gradient is g, with
	// len(g) = hi-lo. The gradient counts times scale (1/samples turns a sum into a mean), and
	// lr is this step's learning rate. Each weight must be in exactly one range per step; the range
	// that starts at 0 comes first and begins the step; a range cuts no parameter in two unless the rule
	// IsElementwise. It allocates
	// nothing.
	Step(lo, hi int, g []float32, lr float64, scale float32)
	// Bytes returns the memory it takes besides the weights: its state, and room to work in.
	Bytes() int64
	// State returns the vectors that are kept between steps, always the same ones in the same
	// order. Their data is the optimizer's own: who has written all of it, and then calls Resume,
	// goes on where the state was read.
	State() []Vector
	// Resume makes the next step the one after so many. What else is kept follows from their
	// number. Cost: O(steps).
	Resume(steps int)
}

// Vector is one of the vectors that an optimizer keeps.
type Vector struct {
	// Name is what torch.optim calls it.
	Name string
	// Data has the length and the layout of the weights.
	Data []float32
}

// Config chooses an update rule.
type Config struct {
	// Name is the rule: "sgd", which is also what the empty name means, "adamw", "lars", "lamb", "muon"
	// or "unit-muon".
	Name string
	// LR is the base learning rate, at least 0; a schedule multiplies it.
	LR float64
	// Momentum is the share of the last velocity that is kept, in [0, 1). AdamW and LAMB have none.
	Momentum float64
	// WeightDecay, at least 0, is the coupled L2 penalty of SGD and LARS, which adds WeightDecay*w to
	// the gradient; AdamW and Muon take LR*WeightDecay*w off the weights instead, and LAMB adds it to
	// the direction.
	WeightDecay float64
	// Beta1 and Beta2 are AdamW's and LAMB's decays of the first and the second moment, in (0, 1); 0 means
	// 0.9 and 0.999. Eps is added to the root of the second moment, in (0, 1]; 0 means 1e-8, or 1e-6 of
	// LAMB. They also hold for what Muon leaves to AdamW.
	Beta1, Beta2, Eps float64
	// DecayMatrices keeps the decay from biases and the gains of norms, unless a group says otherwise.
	DecayMatrices bool
	// Nesterov looks ahead along the new velocity; it needs Momentum > 0. AdamW and LAMB have neither.
	Nesterov bool
	// Groups give parameters settings of their own; the first that matches counts.
	Groups Groups
}

// Names lists the update rules.
func Names() []string { return []string{"sgd", "adamw", "lars", "lamb", "muon", "unit-muon"} }

// IsElementwise reports whether the rule updates each weight by itself, so that a range may cut a parameter
// in two.
func IsElementwise(name string) bool { return name == "" || name == "sgd" || name == "adamw" }

// Validate reports the first setting out of range.
func (c Config) Validate() error {
	switch {
	case c.Name != "" && !slices.Contains(Names(), c.Name):
		return fmt.Errorf("optim: optimizer %q, want one of %v", c.Name, Names())
	case !(c.LR >= 0 && c.LR <= MaxRate):
		return fmt.Errorf("optim: learning rate %v, want 0 to %v", c.LR, float64(MaxRate))
	case !(c.Momentum >= 0 && c.Momentum < 1):
		return fmt.Errorf("optim: momentum %v, want 0 <= momentum < 1", c.Momentum)
	case !(c.WeightDecay >= 0 && c.WeightDecay <= MaxRate):
		return fmt.Errorf("optim: weight decay %v, want 0 to %v", c.WeightDecay, float64(MaxRate))
	case !(c.Beta1 >= 0 && c.Beta1 < 1 && c.Beta2 >= 0 && c.Beta2 < 1 && c.Eps >= 0 && c.Eps <= 1):
		return fmt.Errorf("optim: betas %v and %v, eps %v, want 0 or more, each beta below 1, eps 1 at most",
			c.Beta1, c.Beta2, c.Eps)
	case c.Nesterov && c.Momentum == 0:
		return fmt.Errorf("optim: nesterov needs a momentum above 0")
	}
	for _, g := range c.Groups {
		if err := g.validate(); err != nil {
			return err
		}
	}
	return nil
}

// MaxRate is the largest learning rate, weight decay and number of warm-up epochs. It keeps rates far
// inside float32, and catches NaN and infinities.
const MaxRate = 1e6

// New returns the optimizer of c over weights, which it updates in place on cpu's threads. Its
// state starts at zero. params says where the parameters lie; without any, the rules that need no more
// than the weights take them as one.
func New(c Config, cpu *compute.CPU, weights []float32, params []Param) (Optimizer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	switch c.Name {
	case "adamw":
		return NewAdamW(c, cpu, weights, params)
	case "lars":
		return NewLARS(c, cpu, weights, params)
	case "lamb":
		return NewLAMB(c, cpu, weights, params)
	case "muon":
		return NewMuon(c, cpu, weights, params)
	case "unit-muon":
		return NewUnitMuon(c, cpu, weights, params)
	}
	return NewSGD(c, cpu, weights, params)
}
