package optim

import (
	"fmt"
	"slices"

	"lockstep/compute"
)

// Optimizer turns gradients into new weights.
type Optimizer interface {
	// Step updates the weights [lo, hi) of the flat vector by their summed gradient g, len(g) =
	// hi-lo. The gradient is multiplied by scale (1/samples turns a sum into a mean); lr is this
	// step's learning rate. Each weight must be in exactly one range per step. The range that
	// starts at 0 comes first and begins the step. A range consists of whole parameters unless the
	// rule IsElementwise. Step allocates nothing.
	Step(lo, hi int, g []float32, lr float64, scale float32)
	// Bytes returns the memory of the optimizer besides the weights: its state and scratch.
	Bytes() int64
	// State returns the vectors that are kept between steps, always the same ones in the same
	// order. Their data is the optimizer's own: to restore, overwrite every vector, then call
	// Resume.
	State() []Vector
	// Resume sets the number of steps done; the rest of the state follows from it. Cost: O(steps).
	Resume(steps int)
}

// Vector is one vector of an optimizer's state.
type Vector struct {
	// Name is its name in torch.optim.
	Name string
	// Data has the length and the layout of the weights.
	Data []float32
}

// Config configures an optimizer.
type Config struct {
	// Name is the update rule: "sgd" (also the empty name), "adamw", "lars", "lamb", "muon" or
	// "unit-muon".
	Name string
	// LR is the base learning rate, at least 0; a schedule multiplies it.
	LR float64
	// Momentum, in [0, 1), is the fraction of the last velocity that is kept. AdamW and LAMB ignore
	// it.
	Momentum float64
	// WeightDecay, at least 0, is the coupled L2 penalty of SGD and LARS, which adds WeightDecay*w
	// to the gradient. AdamW and Muon instead subtract LR*WeightDecay*w from the weights, and LAMB
	// adds it to the direction.
	WeightDecay float64
	// Beta1 and Beta2, in (0, 1), are the decays of the first and second moments of AdamW and LAMB;
	// 0 means 0.9 and 0.999. Eps, in (0, 1], is added to the root of the second moment; 0 means
	// 1e-8, for LAMB 1e-6. They also apply to the parameters that Muon updates as by AdamW.
	Beta1, Beta2, Eps float64
	// DecayMatrices restricts weight decay to matrices, unless a group says otherwise: biases and
	// the gains of norms have none.
	DecayMatrices bool
	// Nesterov uses Nesterov momentum; it needs Momentum > 0. AdamW and LAMB ignore it.
	Nesterov bool
	// Groups give parameters their own settings; the first that matches applies.
	Groups Groups
}

// Names lists the update rules.
func Names() []string { return []string{"sgd", "adamw", "lars", "lamb", "muon", "unit-muon"} }

// IsElementwise reports whether the rule updates each weight on its own, so that a range may
// contain a part of a parameter.
func IsElementwise(name string) bool { return name == "" || name == "sgd" || name == "adamw" }

// Validate returns an error for the first setting that is out of range.
func (c Config) Validate() error {
	switch {
	case c.Name != "" && !slices.Contains(Names(), c.Name):
		return fmt.Errorf("optim: optimizer %.80q, want one of %v", c.Name, Names())
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

// MaxRate is the maximum of learning rate, weight decay and warm-up epochs. It keeps rates far
// inside the range of float32, and excludes NaN and infinities.
const MaxRate = 1e6

// New returns the optimizer of c over weights, which it updates in place on cpu's threads. Its
// state starts at zero. params lists the parameters; if it is empty, rules that do not need the
// list treat all weights as one.
func New(c Config, cpu *compute.CPU, weights []float32, params []Param) (Optimizer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	switch c.Name {
	case "adamw":
		return newAdamW(c, cpu, weights, params)
	case "lars":
		return newLARS(c, cpu, weights, params)
	case "lamb":
		return newLAMB(c, cpu, weights, params)
	case "muon":
		return newMuon(c, cpu, weights, params)
	case "unit-muon":
		return newUnitMuon(c, cpu, weights, params)
	}
	return newSGD(c, cpu, weights, params)
}
