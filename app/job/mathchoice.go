package job

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/internal/regular"
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

// chooseMath returns c with a math in place of auto: the usual one, unless another that multiplies as exactly
// as float32 has a clearly shorter step. It notes what each math takes and costs; one that rounds more is
// never chosen. c may be open.
func chooseMath(ctx context.Context, c setting.Config, o *Options) (setting.Config, error) {
	if c.Math != setting.Auto {
		return c, nil
	}
	if o.Meeting != nil {
		return c, setting.Refuse("math auto makes short runs first, which another launcher's workers " +
			"cannot join; name a math")
	}
	chosen := c
	maths := c.Maths()
	if c.EvalOnly {
		chosen.Math = maths[0].Name
		fmt.Fprintf(o.Stderr, "math auto: %s, as nothing is trained\n", chosen.Math)
	} else {
		found, err := compareMaths(ctx, c, *o, maths)
		if err != nil {
			return c, err
		}
		chosen.Math, o.math = found.Chosen, found
		tellMaths(o.Stderr, found)
	}
	o.Origins = o.Origins.Changed(c, chosen, fromMathAuto)
	return chosen, nil
}

// compareMaths measures how far the maths stray and times those that differ, by short runs that leave nothing
// behind.
func compareMaths(ctx context.Context, c setting.Config, o Options, maths []setting.Math) (*record.MathChoice,
	error) {
	folder, remove, err := regular.MakeFolder("", "math")
	if err != nil {
		return nil, fmt.Errorf("job: compare maths: %w", err)
	}
	defer remove()
	begin := time.Now()
	p := prober{config: brief(c), folder: folder,
		options: Options{Environment: o.Environment, Worker: o.Worker, Server: o.Server}}
	p.config.AdaptiveBatch = 0
	if p.config.Strategy == setting.Auto { // which is chosen later
		p.config.Strategy = ""
	}
	found := &record.MathChoice{}
	for _, m := range maths {
		found.Maths = append(found.Maths, record.MathTerms{Math: m.Name, Bits: m.Bits,
			Step: record.Number(math.Inf(1))})
	}
	fmt.Fprintf(o.Stderr, "math auto: comparing %s\n", namesOf(found.Maths))
	// Data that is not here yet comes with the first run.
	if err := p.timeMath(ctx, &found.Maths[0], 2); err != nil {
		return nil, err
	}
	if err := p.compareFirstSteps(ctx, c, found.Maths); err != nil {
		return nil, err
	}
	if found.Maths, err = p.timeMaths(ctx, found.Maths, o.Stderr); err != nil {
		return nil, err
	}
	found.Chosen = fastest(found.Maths)
	found.Seconds = time.Since(begin).Seconds()
	found.Taken = p.taken.mean()
	return found, nil
}

// namesOf lists maths by name.
func namesOf(maths []record.MathTerms) string {
	var names []string
	for _, m := range maths {
		names = append(names, m.Math)
	}
	return strings.Join(names, ", ")
}

// timeMaths measures the step of each math, of which the first has been timed: by two steps, which say how
// many more there is time for, then in rounds, every other one in reverse order. The shortest of the medians
// counts: others can only lengthen it. A math whose first shard has the bits of the first one's is not timed.
// One that some machine of the run refuses, as it has no unit for it, is left out, with a note.
func (p *prober) timeMaths(ctx context.Context, maths []record.MathTerms, notes io.Writer) (
	[]record.MathTerms, error) {
	known, timed := []record.MathTerms{maths[0]}, []int{0} // indices of known
	for _, m := range maths[1:] {
		if m.IsAs(maths[0]) {
			known = append(known, m)
			continue
		}
		switch err := p.timeMath(ctx, &m, 2); {
		case err == nil:
			timed = append(timed, len(known))
			known = append(known, m)
		case ExitCode(err) == ExitUsage:
			fmt.Fprintln(notes, err)
		default:
			return nil, err
		}
	}
	if err := p.timeRounds(ctx, known, timed, notes); err != nil {
		return nil, err
	}
	for i := range known {
		if known[i].IsAs(known[0]) {
			known[i].Step = known[0].Step
		}
	}
	return known, nil
}

// timeRounds times the maths with these indices again, if they are several.
func (p *prober) timeRounds(ctx context.Context, maths []record.MathTerms, timed []int,
	notes io.Writer) error {
	if len(timed) < 2 {
		return nil
	}
	steps, round := make([]int, len(maths)), 0.0
	for _, i := range timed {
		step := float64(maths[i].Step)
		steps[i] = 1 + min(mostTry, max(1, int(mathTime/step)))
		round += step * float64(steps[i])
	}
	rounds := max(1, min(mathRounds, int(mathTimeLimit/round)))
	fmt.Fprintf(notes, "math auto: timing them by %.0f s of steps\n", math.Ceil(float64(rounds)*round))
	for range rounds {
		slices.Reverse(timed)
		for _, i := range timed {
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
	p.taken.add(s)
	return nil
}

// takenTime adds up the cores' time that others took during short runs, in seconds.
type takenTime struct{ stolen, others, all float64 }

func (t *takenTime) add(s *record.Summary) {
	if s.Taken != nil {
		t.stolen += s.Taken.Stolen * s.Seconds
		t.others += s.Taken.Others * s.Seconds
		t.all += s.Seconds
	}
}

// mean returns the parts of the time of all runs; nil: they are unknown.
func (t takenTime) mean() *record.Taken {
	if t.all == 0 {
		return nil
	}
	return &record.Taken{Stolen: t.stolen / t.all, Others: t.others / t.all}
}

// fastest returns the name of the math to choose: the usual one, which is the first, unless another one that
// multiplies as exactly is clearly faster. One whose first shard has the usual one's bits is not worth it.
func fastest(maths []record.MathTerms) string {
	best, limit := maths[0].Math, clearlyFaster*float64(maths[0].Step)
	for _, m := range maths[1:] {
		if m.Bits >= maths[0].Bits && !m.IsAs(maths[0]) && float64(m.Step) < limit {
			best, limit = m.Math, float64(m.Step)
		}
	}
	return best
}

// tellMaths writes what was measured.
func tellMaths(out io.Writer, found *record.MathChoice) {
	usual := found.Maths[0]
	why := fmt.Sprintf("no other with %d bits takes less than %v of its step", usual.Bits, clearlyFaster)
	isTimed := slices.ContainsFunc(found.Maths, func(m record.MathTerms) bool { return !m.IsAs(usual) })
	switch {
	case found.Chosen != usual.Math:
		why = fmt.Sprintf("with %d bits like %s, and faster", usual.Bits, usual.Math)
	case !isTimed:
		why = "all others have its bits in the first shard"
	}
	fmt.Fprintf(out, "math auto: %s: %s; found in %.1f s\n", found.Chosen, why, found.Seconds)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  math\tms/step\tof %s\tbits\tloss off by\tgradient off by\t\n", usual.Math)
	for _, m := range found.Maths {
		step, ratio, note := m.Milliseconds(), fmt.Sprintf("%.3f", float64(m.Step/usual.Step)), ""
		switch {
		case m.Math == found.Chosen:
			note = "chosen"
		case m.IsAs(usual):
			step, ratio = "-", "-"
			note = "same bits as " + usual.Math + " in the first shard, not timed"
		case m.Bits < usual.Bits:
			note = "never chosen, as it rounds more: --math " + m.Math
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%d\t%.2g\t%.2g\t%s\n", m.Math, step, ratio, m.Bits, float64(m.Loss),
			float64(m.Gradient), note)
	}
	_ = w.Flush() // as other notes
	fmt.Fprintf(out, "  bits: of operands, that products keep; off by: distance from %s, first shard\n"+
		"  What a trained model loses, only training with several seeds can tell.\n",
		referenceMath(found.Maths))
	if t := found.Taken; isTimed && t.IsDisturbed() {
		fmt.Fprintf(out, "warning: math auto: others took %.0f %% of the cores meanwhile: its times say "+
			"little\n", 100*(t.Stolen+t.Others))
	}
}
