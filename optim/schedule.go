package optim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Schedule is the learning rate as a function of the step.
type Schedule interface {
	// Rate returns the learning rate of step, counted from 0. After the end of the run it keeps the
	// last value. It allocates nothing.
	Rate(step int) float64
}

// ScheduleConfig configures a Schedule.
type ScheduleConfig struct {
	// Name is "constant" (the default), "step", "cosine", "linear" or "triangle".
	Name string
	// Warmup is the number of epochs, possibly fractional and at least 0, in which the rate rises
	// linearly to the base rate before the schedule begins.
	Warmup float64
	// Every is the number of epochs between two drops of "step", from the start of the run. 0 means
	// 30.
	Every float64
	// Milestones are the epochs at which "step" drops, instead of Every; none means Every.
	Milestones Milestones
	// Factor multiplies the rate at each drop of "step", in (0, 1]. 0 means 0.1.
	Factor float64
	// Triangle has the corners of "triangle".
	Triangle Triangle
}

// ScheduleNames lists the schedules.
func ScheduleNames() []string { return []string{"constant", "step", "cosine", "linear", "triangle"} }

// Validate returns an error for the first setting that is out of range.
func (c ScheduleConfig) Validate() error {
	if c.Name != "" && !slices.Contains(ScheduleNames(), c.Name) {
		return fmt.Errorf("optim: schedule %.80q, want one of %v", c.Name, ScheduleNames())
	}
	switch {
	case !(c.Warmup >= 0 && c.Warmup <= MaxRate):
		return fmt.Errorf("optim: warm-up of %v epochs, want 0 to %v", c.Warmup, float64(MaxRate))
	case !(c.Every >= 0 && c.Every <= MaxRate):
		return fmt.Errorf("optim: a drop every %v epochs, want 0 to %v", c.Every, float64(MaxRate))
	case c.Every > 0 && len(c.Milestones) > 0:
		return fmt.Errorf("optim: drops at the epochs %v and also every %v, want one of them", c.Milestones,
			c.Every)
	case !(c.Factor >= 0 && c.Factor <= 1):
		return fmt.Errorf("optim: drop by the factor %v, want 0 to 1", c.Factor)
	case c.Name == "triangle" && c.Warmup > 0:
		return fmt.Errorf("optim: warm-up of %v epochs with a triangle, which has its own rise", c.Warmup)
	}
	if err := c.Milestones.validate(); err != nil {
		return err
	}
	return c.Triangle.validate()
}

// WantsLength reports whether the rate depends on the length of the run in steps.
func (c ScheduleConfig) WantsLength() bool {
	return c.Name == "cosine" || c.Name == "linear" || c.Name == "triangle"
}

// Build returns the schedule over a run of steps with stepsPerEpoch steps per epoch.
//
// With lr the base rate, w = Warmup*stepsPerEpoch and i the step from 0, the rate is
// lr*(i+1)/w while i+1 < w. After that, with t = (i-w)/(steps-w) clamped to [0, 1],
//
//	constant  lr
//	step      lr * Factor^floor(i / (Every*stepsPerEpoch)), or
//	          lr * Factor^(number of milestones m with i >= m*stepsPerEpoch)
//	cosine    lr * (1 + cos(pi*t)) / 2
//	linear    lr * (1 - t)
//	triangle  lr * (Start + (1-Start)*i/u)            for i < u = floor(Peak*steps),
//	          lr * (1 - (1-End)*(i-u)/(steps-u))      from there on
//
// so that cosine and linear would reach 0, and triangle End, at the step after the last. The
// warm-up rises to the base rate whatever the schedule; a triangle has none.
func (c ScheduleConfig) Build(lr float64, steps, stepsPerEpoch int) (Schedule, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if steps < 0 || stepsPerEpoch < 1 {
		return nil, fmt.Errorf("optim: schedule over %d steps of %d per epoch, want at least 0 of 1",
			steps, stepsPerEpoch)
	}
	perEpoch := float64(stepsPerEpoch)
	warm := c.Warmup * perEpoch
	var s Schedule
	switch c.Name {
	case "step":
		d := drops{lr: lr, every: cmp.Or(c.Every, 30) * perEpoch, factor: cmp.Or(c.Factor, 0.1), steps: steps}
		for _, epoch := range c.Milestones {
			d.at = append(d.at, epoch*perEpoch)
		}
		s = d
	case "cosine":
		s = decline{lr: lr, from: warm, steps: steps, curve: halfCosine}
	case "linear":
		s = decline{lr: lr, from: warm, steps: steps, curve: straight}
	case "triangle":
		s = rise{Triangle: c.Triangle, lr: lr, steps: steps,
			peak: int(math.Floor(c.Triangle.Peak * float64(steps)))}
	default:
		s = constant(lr)
	}
	if warm > 0 {
		s = warmup{lr: lr, steps: warm, then: s}
	}
	return s, nil
}

// constant is the schedule with a constant rate.
type constant float64

func (c constant) Rate(int) float64 { return float64(c) }

// warmup rises linearly to lr over steps, which may be fractional, then follows another schedule.
type warmup struct {
	lr, steps float64
	then      Schedule
}

func (w warmup) Rate(step int) float64 {
	if i := float64(step + 1); i < w.steps {
		return w.lr * i / w.steps
	}
	return w.then.Rate(step)
}

// drops multiplies the rate by factor at the given steps, or if there are none every so many steps.
type drops struct {
	lr, every, factor float64
	at                []float64
	steps             int
}

// before returns the number of drops up to a step.
func (d drops) before(step float64) int {
	if d.at == nil {
		return int(math.Floor(step / d.every))
	}
	n, isOne := slices.BinarySearch(d.at, step)
	if isOne {
		n++
	}
	return n
}

func (d drops) Rate(step int) float64 {
	rate := d.lr
	for range d.before(float64(min(step, max(d.steps-1, 0)))) {
		rate *= d.factor
		if rate == 0 {
			break
		}
	}
	return rate
}

// decline follows a curve from 1 down to 0 between step from and the end of the run.
type decline struct {
	lr, from float64
	steps    int
	curve    func(t float64) float64
}

func (d decline) Rate(step int) float64 {
	i := float64(min(step, max(d.steps-1, 0)))
	length := float64(d.steps) - d.from
	if i <= d.from || length <= 0 {
		return d.lr
	}
	return d.lr * d.curve((i-d.from)/length)
}

func straight(t float64) float64 { return 1 - t }

// halfCosine returns (1 + cos(pi*t)) / 2 for t in [0, 1].
func halfCosine(t float64) float64 { return (1 + cosPi(t)) / 2 }

// cosPi returns cos(pi*t) for t in [0, 1] to within 1e-15.
//
// Go's math.Cos may fuse multiply and add on some processors; here every product is rounded, so
// all of them give the same bits. On [0, 1/4] cosine and sine are their Taylor polynomials of
// degree 16 and 17; symmetry covers the rest.
func cosPi(t float64) float64 {
	switch {
	case t > 0.5:
		return -cosPi(1 - t)
	case t > 0.25:
		x := float64(math.Pi * (0.5 - t))
		return float64(x * taylor(float64(x*x), 1))
	}
	x := float64(math.Pi * t)
	return taylor(float64(x*x), 0)
}

// taylor returns the sum over k = 0..8 of (-x2)^k * first! / (2k+first)!, which is cos(x) for
// first = 0 and sin(x)/x for first = 1.
func taylor(x2 float64, first int) float64 {
	sum := 1.0
	for k := 8; k > 0; k-- {
		n := float64((2*k + first) * (2*k + first - 1))
		sum = 1 - float64(x2*sum)/n
	}
	return sum
}
