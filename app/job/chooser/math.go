package chooser

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
)

const (
	// mathTimeLimit is how many seconds the steps of all rounds take at most, unless one round takes more.
	mathTimeLimit = 20.0
	// clearlyFaster is the part of the usual math's step that another one must be below to be chosen in its
	// place. Bits depend on the choice, so a moment's disturbance should not make it.
	clearlyFaster = 0.95
	mathRounds    = 4   // short runs of each math, besides that which says how many steps there is time for
	mathTime      = 0.3 // seconds of each, at least one step
	fromMathAuto  = "chosen by math auto"
)

// chooseMath puts a math in place of auto: the usual one, unless another that multiplies as exactly as
// float32 has a clearly shorter step. It notes what each math takes; one that rounds more is never
// chosen. The configuration may be open.
func chooseMath(ctx context.Context, done *launcher.Choice, o launcher.Options) error {
	c := done.Config
	if c.Math != setting.Auto {
		return nil
	}
	maths := c.Maths()
	if c.EvalOnly {
		done.Config.Math = maths[0].Name
		fmt.Fprintf(o.Stderr, "math auto: %s, as nothing is trained\n", maths[0].Name)
	} else {
		found, err := compareMaths(ctx, c, o, maths)
		if err != nil {
			return err
		}
		done.Config.Math, done.Math = found.Chosen, found
		tellMaths(o.Stderr, found)
	}
	done.Origins = done.Origins.Changed(c, done.Config, fromMathAuto)
	return nil
}

// compareMaths times the maths by short runs.
func compareMaths(ctx context.Context, c setting.Config, o launcher.Options, maths []setting.Math) (
	*record.MathChoice, error) {
	begin := time.Now()
	c.AdaptiveBatch = 0
	if c.Strategy == setting.Auto { // which is chosen later
		c.Strategy = ""
	}
	found := &record.MathChoice{}
	err := withProber(c, o, func(p *prober) (err error) {
		found.Maths, err = p.timeMaths(ctx, maths, o.Stderr)
		return err
	})
	if err != nil {
		return nil, err
	}
	found.Chosen, found.Seconds = fastest(found.Maths), time.Since(begin).Seconds()
	return found, nil
}

// timeMaths measures the step of each math: by two steps, which say how many more there is time for, then in
// rounds, every other one in reverse order. The shortest of the medians counts: others can only lengthen it.
// One that some machine of the run refuses, as it has no unit for it, is left out, with a note.
func (p *prober) timeMaths(ctx context.Context, maths []setting.Math, notes io.Writer) ([]record.MathTerms,
	error) {
	var timed []record.MathTerms
	for _, m := range maths {
		fmt.Fprintf(notes, "math auto: timing %s\n", m.Name)
		t := record.MathTerms{Math: m.Name, Bits: m.Bits, Step: record.Number(math.Inf(1))}
		switch err := p.timeMath(ctx, &t, 2); {
		case err == nil:
			timed = append(timed, t)
		case len(timed) > 0 && job.ExitCode(err) == job.ExitUsage:
			fmt.Fprintln(notes, err)
		default:
			return nil, err
		}
	}
	if len(timed) < 2 {
		return timed, nil
	}
	return timed, p.timeRounds(ctx, timed, notes)
}

// timeRounds times the maths again, in rounds.
func (p *prober) timeRounds(ctx context.Context, maths []record.MathTerms, notes io.Writer) error {
	order, steps, round := make([]int, len(maths)), make([]int, len(maths)), 0.0
	for i, m := range maths {
		order[i], steps[i] = i, 1+min(mostTry, max(1, int(mathTime/float64(m.Step))))
		round += float64(m.Step) * float64(steps[i])
	}
	rounds := max(1, min(mathRounds, int(mathTimeLimit/round)))
	fmt.Fprintf(notes, "math auto: timing them by %.0f s of steps\n", math.Ceil(float64(rounds)*round))
	for range rounds {
		slices.Reverse(order)
		for _, i := range order {
			if err := p.timeMath(ctx, &maths[i], steps[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// timeMath lowers m.Step to the median of some steps, the first not counted.
func (p *prober) timeMath(ctx context.Context, m *record.MathTerms, steps int) error {
	c := p.config
	c.Math, c.Steps = m.Math, steps
	s, err := p.run(ctx, c, p.options)
	if err != nil {
		return fmt.Errorf("math auto: time %s: %w", m.Math, err)
	}
	m.Step = min(m.Step, record.Number(s.StepMS.Median/1e3))
	return nil
}

// fastest returns the name of the math to choose: the usual one, which is the first, unless another one that
// multiplies as exactly is clearly faster.
func fastest(maths []record.MathTerms) string {
	best, limit := maths[0].Math, clearlyFaster*float64(maths[0].Step)
	for _, m := range maths[1:] {
		if m.Bits >= maths[0].Bits && float64(m.Step) < limit {
			best, limit = m.Math, float64(m.Step)
		}
	}
	return best
}

// tellMaths writes what was measured.
func tellMaths(out io.Writer, found *record.MathChoice) {
	usual := found.Maths[0]
	why := fmt.Sprintf("no other with %d bits takes less than %v of its step", usual.Bits, clearlyFaster)
	if found.Chosen != usual.Math {
		why = fmt.Sprintf("with %d bits like %s, and faster", usual.Bits, usual.Math)
	}
	fmt.Fprintf(out, "math auto: %s: %s; found in %.1f s\n", found.Chosen, why, found.Seconds)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  math\tms/step\tof %s\tbits\t\n", usual.Math)
	for _, m := range found.Maths {
		note := ""
		switch {
		case m.Math == found.Chosen:
			note = "chosen"
		case m.Bits < usual.Bits:
			note = "never chosen, as it rounds more: --math " + m.Math
		}
		fmt.Fprintf(w, "  %s\t%s\t%.3f\t%d\t%s\n", m.Math, m.Milliseconds(), float64(m.Step/usual.Step),
			m.Bits,
			note)
	}
	_ = w.Flush() // as other notes
	fmt.Fprintln(out, "  bits: of operands, that products keep.\n"+
		"  What a trained model loses, only training with several seeds can tell.")
}
