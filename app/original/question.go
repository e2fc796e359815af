package original

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/internal/spelling"
)

// original is what is known about a report.
type original struct {
	title      string
	quantities []quantity
	questions  []question
}

// results are ours.
type results struct {
	record *record.Results
	*compare.Comparison
}

// selector chooses a row.
type selector func(s record.Setting) bool

// find returns the first row with a successful run that a selector chooses, and its group; nil without one.
func (r *results) find(is selector) (*compare.Group, *compare.Line) {
	for i := range r.Groups {
		for _, l := range r.Groups[i].Lines {
			if l.OK > 0 && l.Setting.Peer == "" && is(l.Setting) {
				return &r.Groups[i], l
			}
		}
	}
	return nil, nil
}

// place returns where a row is among the groups.
func (r *results) place(g *compare.Group, l *compare.Line) report.Place {
	for i := range r.Groups {
		if &r.Groups[i] == g {
			return report.Place{Group: i, Row: slices.Index(g.Lines, l)}
		}
	}
	return report.Place{Row: -1}
}

// name returns a row's label, with its group's, and whether its times say how busy the machine was.
func (r *results) name(g *compare.Group, l *compare.Line) string {
	name := l.Label
	if len(r.Groups) > 1 {
		name = r.Title(g) + ", " + name
	}
	if l.Disturbed {
		name += " (others took cores from every run)"
	}
	return name
}

// quantity is a figure of the original with what it is compared with.
type quantity struct {
	what, theirs string
	is           selector
	ours         func(g *compare.Group, l *compare.Line) string
}

// The verdicts of ours on a sentence.
const (
	holds      = "holds here"
	fails      = "does not hold here"
	undecided  = "not decided"
	unmeasured = "not measured"
)

// question is a statement that the original cannot decide, and how ours do.
type question struct {
	statement string // in words of ours
	answer    func(r *results) string
}

// pairOf returns the pair of two rows as the analysis tests it, with a as its A; why says what keeps it from
// being tested.
func (r *results) pairOf(a, b selector) (p compare.Pair, why string) {
	g, first := r.find(a)
	other, second := r.find(b)
	if first == nil || second == nil || g != other {
		return p, unmeasured + ": one of the rows has no run, or they are not of one group"
	}
	for _, p := range g.Pairs {
		switch {
		case p.A == first && p.B == second:
			return p, ""
		case p.A == second && p.B == first:
			return compare.Pair{A: first, B: second, P: p.P, Ratio: p.Ratio.Inverse()}, ""
		}
	}
	return p, unmeasured + ": the rows do no equal work, or others took the cores"
}

// isFaster answers whether row a takes less time for a step than row b, as the pairs of the analysis decide.
func isFaster(a, b selector) func(*results) string {
	return func(r *results) string {
		p, why := r.pairOf(a, b)
		if why != "" {
			return why
		}
		text := fmt.Sprintf("a step of %s takes %.2f times that of %s (%s)", p.A.Label, p.Ratio.Median,
			p.B.Label, rounds(p.Ratio))
		switch {
		case !p.IsDecided():
			return undecided + ": " + text
		case p.Ratio.Median < 1:
			return holds + ": " + text
		}
		return fails + ": " + text
	}
}

// limits answers that rank 0 limits gather and scatter as workers are added. What one number of workers
// shows, the step and the bytes of the busiest process, does not tell how that grows.
func limits(gathered, reduced selector) func(*results) string {
	return func(r *results) string {
		p, why := r.pairOf(gathered, reduced)
		if why != "" {
			return why
		}
		text := fmt.Sprintf("%s: with %s a step takes %.2f times that of %s (%s)", undecided, p.A.Label,
			p.Ratio.Median, p.B.Label, rounds(p.Ratio))
		if bytes := p.A.BusiestBytes / p.B.BusiestBytes; bytes > 0 {
			text += fmt.Sprintf(", and the busiest process sends and receives %.2f times as much", bytes)
		}
		return text + "; how that grows, one number of workers does not tell"
	}
}

// isTimes answers whether row a is so many times as fast as row b: not if the interval of the ratio leaves
// the factor out, and so only if the interval is narrow.
func isTimes(a, b selector, factor float64) func(*results) string {
	return func(r *results) string {
		p, why := r.pairOf(b, a)
		if why != "" {
			return why
		}
		text := fmt.Sprintf("%s is %.3f times as fast as %s (%s); the original says %g", p.B.Label,
			p.Ratio.Median, p.A.Label, rounds(p.Ratio), factor)
		i := p.Ratio.Interval
		switch {
		case i.Coverage < stat.Confidence:
			return undecided + ": " + text
		case !i.Contains(factor):
			return fails + ": " + text
		case i.Hi-i.Lo > 2*closeness*p.Ratio.Median:
			return undecided + ": " + text
		}
		return holds + ": " + text
	}
}

// closeness is how near a measured ratio has to be to one that a sentence states, relative.
const closeness = 0.05

// rounds writes the interval of a ratio, if it has one, and the number of its rounds.
func rounds(r stat.Ratio) string {
	if r.Interval.Coverage == 0 {
		return spelling.Count(len(r.Values), "round")
	}
	return fmt.Sprintf("%.3f to %.3f, %d rounds", r.Interval.Lo, r.Interval.Hi, len(r.Values))
}

// converges answers whether losses show that training converges: not if their last tenth is that of guessing.
// Below that, one length of training does not tell whether they still fall.
func converges(is selector, classes int) func(*results) string {
	return func(r *results) string {
		_, l := r.find(is)
		if l == nil || len(l.Loss) == 0 {
			return unmeasured + ": the row has no run"
		}
		last := tailLoss(l)
		text := fmt.Sprintf("the loss is %.3g in the last tenth of %s of %s; guessing among %d classes has "+
			"%.3g", last, spelling.Count(len(l.Loss), "step"), l.Label, classes, math.Log(float64(classes)))
		if compare.IsGuessing(last, classes) {
			return fails + ": " + text
		}
		return undecided + ": " + text + "; whether it still falls, one length of training does not tell"
	}
}

// isAbove answers whether a figure of a row is above a limit: by the interval of its mean over the runs, so
// not from one run.
func isAbove(is selector, what string, of perRun, limit float64) func(*results) string {
	return func(r *results) string {
		found := r.level(is, what, of, limit)
		switch {
		case found.why != "":
			return found.why
		case found.isAbove:
			return holds + ": " + found.text
		case found.isBelow:
			return fails + ": " + found.text
		}
		return undecided + ": " + found.text
	}
}

// isSlowedByExchange answers whether row a is slower than row b because it waits for the exchange. Where it
// is not shown to be slower there is nothing to explain, however long it waits.
func isSlowedByExchange(a, b selector, limit float64) func(*results) string {
	return func(r *results) string {
		answer := isFaster(b, a)(r)
		switch verdict, text, _ := strings.Cut(answer, ": "); verdict {
		case holds:
			return isAbove(a, waiting, share("sync_exposed"), limit)(r) + "; " + text
		case unmeasured:
			return answer
		}
		return answer + ", so it is not shown that the other is slower at all"
	}
}

// perRun is a figure of each run of a row.
type perRun func(*compare.Line) []float64

// level is where a figure of a row is relative to a limit.
type level struct {
	isAbove, isBelow bool
	text             string
	why              string // that nothing is known; "": something is
}

// level compares a figure of a row with a limit, run by run.
func (r *results) level(is selector, what string, of perRun, limit float64) level {
	_, l := r.find(is)
	if l == nil || len(of(l)) == 0 {
		return level{why: unmeasured + ": the row has no run"}
	}
	if l.Disturbed {
		return level{why: undecided + ": others took cores from every run of " + l.Label}
	}
	m := stat.MomentsOf(of(l))
	if m.N < 2 {
		return level{why: fmt.Sprintf("%s: %s is %.3g in the one run of %s, which has no interval; the "+
			"limit is %.3g", undecided, what, m.Mean, l.Label, limit)}
	}
	in := m.MeanInterval(stat.Confidence)
	text := fmt.Sprintf("%s is %.3g (%.3g to %.3g) in %s, mean of %s; the limit is %.3g", what, m.Mean, in.Lo,
		in.Hi, l.Label, spelling.Count(m.N, "run"), limit)
	if l.Contended && strings.Contains(what, waiting) {
		return level{why: fmt.Sprintf("%s: %s, and its workers wait for the machine's cores, too", undecided,
			text)}
	}
	return level{isAbove: in.Lo > limit, isBelow: in.Hi <= limit, text: text}
}

// waiting is the share of a step that the exchange keeps training waiting: for compression, the network and
// other workers or, where there are more workers than cores, for those.
const waiting = "the share of a step in which training waits for the exchange"

// isNetwork answers that the network is not the bottleneck of a row with compression, by the row without:
// waiting for an exchange holds its compression, too.
func isNetwork(packed, plain selector, limit float64) func(*results) string {
	return func(r *results) string {
		of := share("sync_exposed")
		bare, whole := r.level(plain, waiting+" without compression", of, limit),
			r.level(packed, waiting, of, limit)
		if why := cmp.Or(bare.why, whole.why); why != "" {
			return why
		}
		text := bare.text + "; " +
			strings.Replace(whole.text, waiting, "with compression, whose time is in it, it", 1)
		switch {
		case bare.isAbove && whole.isAbove:
			return fails + ": " + text
		case bare.isBelow && whole.isBelow:
			return holds + ": " + text
		}
		return undecided + ": " + text
	}
}

// all joins selectors.
func all(of ...selector) selector {
	return func(s record.Setting) bool {
		for _, is := range of {
			if !is(s) {
				return false
			}
		}
		return true
	}
}

func strategy(name string) selector {
	return func(s record.Setting) bool { return s.Strategy == name }
}

func workers(n int) selector     { return func(s record.Setting) bool { return s.Workers == n } }
func batch(n int) selector       { return func(s record.Setting) bool { return s.Batch == n } }
func model(name string) selector { return func(s record.Setting) bool { return s.Model == name } }
func wire(name string) selector  { return func(s record.Setting) bool { return s.Wire == name } }
func options(text string) selector {
	return func(s record.Setting) bool { return s.Options == text }
}

// layout chooses rows by hosts and workers on each.
func layout(hosts, each int) selector {
	return func(s record.Setting) bool { return s.Hosts == hosts && s.PerHost == each }
}

// The figures of a row.
func stepTime(_ *compare.Group, l *compare.Line) string { return seconds(l.Step.Median) }
func totalTime(_ *compare.Group, l *compare.Line) string {
	return fmt.Sprintf("%s of %s", seconds(l.Total.Median), spelling.Count(len(l.Loss), "step"))
}
func epochTime(_ *compare.Group, l *compare.Line) string {
	text := seconds(l.Epoch.Median)
	if n := epochSamples(l); n > 0 && l.Epoch.N > 0 {
		text += fmt.Sprintf(" of %s", spelling.Count(n, "sample"))
	}
	return text
}

// epochSamples returns how many samples the first epoch of a row has whose ranks take every step together.
func epochSamples(l *compare.Line) int {
	n, runs := 0, l.Runs()
	if len(runs) == 0 || len(runs[0].Ranks) == 0 {
		return 0
	}
	steps := runs[0].Ranks[0].Steps
	for i, epoch := range steps.Epoch {
		if epoch == 0 {
			n += steps.Samples[i]
		}
	}
	return n
}

func perSecond(_ *compare.Group, l *compare.Line) string { return number(l.PerSecond) + "/s" }
func lastLoss(_ *compare.Group, l *compare.Line) string {
	return fmt.Sprintf("%s after %s", number(l.LossLast), spelling.Count(len(l.Loss), "step"))
}
func accuracy(_ *compare.Group, l *compare.Line) string {
	if math.IsNaN(l.TestAccuracy) {
		return "–"
	}
	return fmt.Sprintf("%.2f %% of %d", 100*l.TestAccuracy, l.TestSamples)
}
func speedup(_ *compare.Group, l *compare.Line) string    { return ratio(l.Speedup) }
func efficiency(_ *compare.Group, l *compare.Line) string { return ratio(l.Efficiency) }

// share returns the share of a step's time that a phase takes in each run.
func share(phase string) perRun {
	return func(l *compare.Line) []float64 { return l.PhaseShares(phase) }
}

// phase shows the share of a phase.
func phase(name string) func(*compare.Group, *compare.Line) string {
	return func(_ *compare.Group, l *compare.Line) string {
		m := stat.MomentsOf(share(name)(l))
		if m.N == 0 {
			return "–"
		}
		return fmt.Sprintf("%.0f %% of a step", 100*m.Mean)
	}
}

func seconds(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return number(v) + " s"
}

func number(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.4g", v)
}

func ratio(r stat.Ratio) string {
	if !r.Known() {
		return "–"
	}
	if r.Interval.Coverage == 0 {
		return fmt.Sprintf("%.2f", r.Median)
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", r.Median, r.Interval.Lo, r.Interval.Hi)
}
