package compare

import (
	"cmp"
	"fmt"
	"lockstep/app/evidence/finding"
	"lockstep/app/evidence/stat"
	"slices"
	"strings"

	"lockstep/app/record"
	"lockstep/app/strategy"
)

// Comparison is what a report shows: groups of comparable lines, then what was found in all of them, refusals
// first.
type Comparison struct {
	Groups   []Group
	Findings []finding.Finding
}

// Group holds the lines that trained the same model on the same data with the same global
// batch under the same condition. Ratios are formed inside a group only.
type Group struct {
	Model, Data string
	Batch       int
	PerWorker   int // samples of each worker, if the batch grows with them
	Condition   string
	Lines       []*Line
	Baseline    *Line      // single with the fewest threads, see [Compare]; nil without a successful one
	Floor       []*Line    // strategy none, by worker count; compared with lines of equal workers
	Hashes      []string   // distinct parameter hashes of the exact lines, of the seed and work with most
	Rivals      []*Line    // that are ranked, because they do equal work on a machine of their own
	Noise       stat.Noise // of ratios of two lines, in whatever time

	promised promised // by the lines of Hashes
}

// Line is one row summarised over its successful runs.
type Line struct {
	Setting  record.Setting
	Label    string // unique within the group
	Cores    int    // logical processors that it can keep busy: workers x threads, at most the host's
	OK       int    // successful runs
	Measured int    // of those the ones whose times count: all but those that others took cores from
	Failures []string
	Refused  []Difference // in its work, which may not be compared with that of the others; nil: it may

	Total     stat.Summary // seconds of training and evaluation, over runs
	Epoch     stat.Summary // seconds of a complete epoch, over all of them
	Step      stat.Summary // seconds of a step after the first, of all runs; its median is that of RunMedian
	RunMedian stat.Summary // the runs' median step times, over runs
	PerSecond float64      // of all samples after the first step, see [RunLine]; median of the runs

	Speedup    stat.Ratio // baseline step / this step
	Efficiency stat.Ratio // core seconds of a baseline step / core seconds of this one; see [Compare]
	Contended  bool       // more workers x threads than cores: no efficiency
	OverFloor  stat.Ratio // this step / step of strategy none with as many workers and threads

	LossFirst, LossLast         float64
	Repeats                     int     // steps after which another program repeats its batches; 0: never
	TrainAccuracy, TestAccuracy float64 // fractions of the samples, of the first run
	TestSamples                 int64
	BytesSent                   float64 // by all ranks, in one run; NaN: not told
	BusiestBytes                float64 // sent and received by the busiest process, in one run
	ServerBytes                 float64 // by the process of the busiest server; NaN: no server, or unknown
	SHA256                      string  // of the parameters of the first seed; empty if its runs disagree
	Disagree                    bool    // runs of one seed ended with different parameters
	Seeds                       int     // different ones
	Staleness                   []int   // updates of all runs by their staleness; nil: none
	Accuracy                    Accuracy
	IsMixed                     bool // in mixed precision, with another result than lines that are not
	Uneven                      bool // the runs did not do the same work
	ISA, computer               string
	Taken                       *record.Taken // of the run that lost most to others; nil: unknown
	Disturbed                   bool          // others took cores from every run: times get no ratio

	Loss   []float64 // by step: mean over the step's samples, of the first successful run
	Times  []float64 // by step: seconds, median over runs; as Phases nil of workers that share no step
	Phases []float64 // by [Phases]: Step.Median, divided as steps from the 10th to the 90th percentile are
	Ranks  []RankLine

	LossSamples  []float64 // by step: samples that the run had trained on, of the same run as Loss
	Hidden       float64   // seconds of a step that communication was hidden; NaN: not told
	BytesVectors float64   // BytesSent without compression; NaN: not told

	record      *record.Row
	runs        []*record.Run     // successful ones, by round
	hashes      map[uint64]string // of the parameters by seed, where its runs agree
	missing     int               // runs that were planned and not done
	row         int               // number of the row
	original    int               // that, or the number of the row that it is a copy of
	work        work
	computed    computed  // by the first run
	stepByRound []float64 // median step time, NaN where the round has no successful run

	Noise stat.Noise // of the steps, and of whatever else its rounds take
}

// RankLine is what one worker of a line reported.
type RankLine struct {
	Rank    int
	Loss    []float64 // by step: as Line.Loss, as this rank reported it
	OwnLoss []float64 // by step: mean over the rank's own shards

	Cores, Memory  float64 // processors in use, mean over the steps; resident bytes, largest; NaN: not told
	Sent, Received float64 // bytes per second
}

// CoreWait is the phase of a step in which workers stood still because a thread that was ready to run had no
// core. It is taken out of forward, backward and sync_exposed, see moveCoreWaits: that in others is not told.
// Where the system does not tell it is 0.
const CoreWait = "core_wait"

// Phases lists the phases of a step in the order they are shown. They add up to the step.
func Phases() []string {
	return []string{"forward", "backward", "sync_exposed", "optimizer", "data", CoreWait, "other"}
}

// strategy returns what the strategy of the line is.
func (l *Line) strategy() strategy.Strategy { return strategy.Named(l.Setting.Strategy) }

// isFloor reports whether the line exchanges nothing.
func (l *Line) isFloor() bool { return l.strategy().IsFloor }

// Exact reports whether the line's strategy, algorithm and wire promise the bits of one process.
func (l *Line) Exact() bool {
	s := l.Setting
	return s.Peer == "" && !l.IsMixed && (s.Workers == 1 || s.Inexact == "" && !l.isFloor() &&
		s.Algorithm != "ring" && !s.IsLossy)
}

// isOther reports whether the line reaches another result by equal work, which only its accuracy can be
// compared by: mixed precision, a lossy wire, old weights, averages of several models. The ring rounds
// otherwise, no more.
func (l *Line) isOther() bool {
	return !l.Exact() && (l.IsMixed || l.Setting.IsLossy || l.isLoose() || !l.isRing())
}

func (l *Line) isRing() bool { return l.Setting.Algorithm == "ring" && l.Setting.Workers > 1 }

// isMean reports whether the time of a step is that of many steps over their number, because workers meet in
// some steps only, or share the steps.
func (l *Line) isMean() bool { return l.isLoose() && !l.isFloor() }

// isLoose reports whether the workers do not wait for one another in every step, so that their steps and
// losses differ.
func (l *Line) isLoose() bool {
	isAsync := len(l.runs) > 0 && l.runs[0].Staleness != nil
	return isLoose(l.Setting.Strategy, l.Setting.Workers, isAsync)
}

// Compare summarises r.
//
// The baseline of a group is strategy single with the fewest threads, in mixed precision only if there is no
// other, and of several the one without settings of its own. Every other line of equal work is related to it
// by the ratio of median step times, taken round by round. Speed-up is that ratio. Efficiency is speed-up /
// (cores / baseline cores), so 1 means that every core does as much as a core of the baseline. Two kinds of
// lines get none: those with more workers x threads than the machine has cores, and those of another math
// than the baseline.
//
// A line whose work differs from the baseline's is refused: it keeps its own figures and gets no ratio. Runs
// that others took cores from are left out of times and ratios; a line without any other run shows its times
// and gets no ratio.
//
// Lines that do equal work and train one model are rivals: each two of a group are a [Pair]. The intervals
// of all pairs of all groups hold together.
//
// r must be valid ([record.Results.Validate]). Cost: linear in the number of steps, times its log.
func Compare(r *record.Results) *Comparison {
	c := &Comparison{}
	for i := range r.Rows {
		line := LineOf(&r.Rows[i], r.Rounds)
		line.row, line.original = i, i-r.Rows[i].Copy
		cores := cmp.Or(line.Setting.Cores, r.Host.Cores)
		line.Cores = line.Setting.NumThreads()
		if line.Contended = cores > 0 && line.Cores > cores; line.Contended {
			line.Cores = cores
		}
		g := c.group(line.Setting)
		line.Label = label(line, g.Lines)
		g.Lines = append(g.Lines, line)
	}
	c.refusePeers(r)
	for i := range c.Groups {
		c.Groups[i].sort()
	}
	c.measureNoise()
	for i := range c.Groups {
		c.Groups[i].relate()
	}
	c.Findings = c.find(r)
	return c
}

func (c *Comparison) group(s record.Setting) *Group {
	for i := range c.Groups {
		g := &c.Groups[i]
		if g.Model == s.Model && g.Data == s.Data && g.Batch == s.Batch && g.PerWorker == s.PerWorker &&
			g.Condition == s.Condition {
			return g
		}
	}
	c.Groups = append(c.Groups, Group{Model: s.Model, Data: s.Data, Batch: s.Batch, PerWorker: s.PerWorker,
		Condition: s.Condition})
	return &c.Groups[len(c.Groups)-1]
}

// label names a line by strategy and shape, its own settings, and a wire that is no plain one; algorithm,
// link and a number follow where needed. A copy has the name of the row that it copies, and a number.
func label(l *Line, others []*Line) string {
	s := l.Setting
	name := s.Strategy + " " + s.Shape()
	if s.Options != "" {
		name += " " + strings.ReplaceAll(s.Options, "+", " ")
	}
	if s.Wire != "" && !strings.Contains("+"+s.Options, "+wire=") {
		name += " " + s.Wire
	}
	if s.SlowWorkers != "" && s.Condition == "" && !strings.Contains("+"+s.Options, "+slow-worker=") {
		name += " slow " + s.SlowWorkers
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(others, func(l *Line) bool { return l.Label == name })
	}
	first := slices.IndexFunc(others, func(o *Line) bool { return o.original == l.original })
	if first >= 0 {
		name = others[first].Label
	}
	for _, more := range []string{s.Algorithm, s.Link} {
		if more != "" && taken(name) && first < 0 {
			name += " " + more
		}
	}
	unique := name
	for i := 2; taken(unique); i++ {
		unique = fmt.Sprintf("%s (%d)", name, i)
	}
	return unique
}

// sort chooses the baseline, and the lines that are compared with it.
func (g *Group) sort() {
	g.markMixed()
	g.chooseReferences()
	g.promise()
	for _, l := range g.Lines {
		if l.OK > 0 && g.Baseline != nil && l.Refused == nil {
			l.Refused = differences(l, g.Baseline)
		}
	}
	g.Rivals = g.rivals()
}

// relate fills what compares a line with another one.
func (g *Group) relate() {
	for _, l := range g.Lines {
		isClean := l.OK > 0 && !l.Disturbed && l.Refused == nil && g.Baseline != nil && !g.Baseline.Disturbed
		if !isClean || l.Setting.Peer != "" {
			continue // how another program scales is not told by our baseline, see peers
		}
		l.Speedup = g.Pair(g.Baseline, l).Ratio
		if !l.Contended && !g.Baseline.Contended && !l.IsOnGPU() && l.HasMathOf(g.Baseline) {
			share := float64(g.Baseline.Cores) / float64(l.Cores)
			l.Efficiency = l.Speedup.Scaled(share)
		}
	}
	g.relateFloor()
	g.relateAccuracy()
}

// chooseReferences chooses the baseline and the floors.
func (g *Group) chooseReferences() {
	for _, l := range g.Lines {
		switch {
		case l.OK == 0 || l.Setting.Peer != "":
		case l.strategy().IsAlone:
			if g.Baseline == nil || l.isBaselineBefore(g.Baseline) {
				g.Baseline = l
			}
		case l.isFloor():
			g.Floor = append(g.Floor, l)
		}
	}
}

// isBaselineBefore reports whether the line is a better baseline than another: not in mixed precision, then
// of fewer threads, then without settings of its own.
func (l *Line) isBaselineBefore(other *Line) bool {
	a, b := l.Setting, other.Setting
	switch {
	case l.IsMixed != other.IsMixed:
		return other.IsMixed
	case a.Threads != b.Threads:
		return a.Threads < b.Threads
	}
	return a.Options == "" && b.Options != ""
}

func (g *Group) relateFloor() {
	for _, l := range g.Lines {
		for _, f := range g.Floor {
			same := f.Setting.Workers == l.Setting.Workers && f.Setting.Threads == l.Setting.Threads &&
				f.Setting.Hosts == l.Setting.Hosts && f.HasMathOf(l)
			isClean := !l.Disturbed && !f.Disturbed && l.Setting.Peer == ""
			if l.OK > 0 && l != f && same && isClean && differences(l, f) == nil {
				l.OverFloor = g.Pair(l, f).Ratio
			}
		}
	}
}

// Difference is a setting or an amount of work with the values that rows or runs have of it, in their order;
// nil where they cannot be told.
type Difference struct {
	Name   string
	Values []any
}

// differences returns how the work of two lines of a group differs: in the first thing that does; nil if in
// nothing.
func differences(l, base *Line) []Difference {
	a, b := l.Setting, base.Setting
	isOurs := a.Peer == "" // else its kernels are others, and it evaluates nothing
	for _, d := range []struct {
		name    string
		a, b    any
		isShown bool
	}{
		{"shards", a.Shards, b.Shards, true},
		{"samples", l.work.samples, base.work.samples, true},
		{"steps", l.work.steps, base.work.steps, true},
		{"time", a.For, b.For, true},
		{"seed", a.Seed, b.Seed, true},
		{"learning rate", a.LR, b.LR, !l.isOther()},
	} {
		if l != base && d.isShown && d.a != d.b {
			return []Difference{{d.name, []any{d.a, d.b}}}
		}
	}
	switch other := l.otherTraining(base); {
	case l == base:
	case other != nil:
		return other
	case isOurs && l.work.testSamples != base.work.testSamples:
		return []Difference{{"test samples", []any{l.work.testSamples, base.work.testSamples}}}
	case isOurs && l.ISA != base.ISA:
		return []Difference{{"kernels", []any{l.ISA, base.ISA}}}
	}
	return nil
}

// Title names a group by what tells it from the others: the model, and the data, the batch or the condition
// where groups share the model.
func (c *Comparison) Title(g *Group) string {
	title := g.Model
	var data, batch, condition bool
	for i := range c.Groups {
		if o := &c.Groups[i]; o.Model == g.Model {
			data = data || o.Data != g.Data
			batch = batch || o.Batch != g.Batch || o.PerWorker != g.PerWorker
			condition = condition || o.Condition != g.Condition
		}
	}
	if data {
		title += " " + g.Data
	}
	if batch {
		title += fmt.Sprintf(" batch %d", g.Batch)
		if g.PerWorker > 0 {
			title += fmt.Sprintf(", %d of each worker", g.PerWorker)
		}
	}
	if condition {
		title += ", " + cmp.Or(g.Condition, "equal workers")
	}
	return title
}
