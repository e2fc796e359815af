package variant

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/app/bench"
	"lockstep/app/evidence/change"
	"lockstep/app/evidence/stat"
	"lockstep/app/explain"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/data"
)

// Experiment is a plan of runs for pairs of sides, which share the rows that they have in common.
type Experiment struct {
	Plan  bench.Plan
	Pairs []*Pair
	times []timing // of the plan's rows
}

// timing is how many seconds starting and ending a run of a row takes, and a step of it, or less.
type timing struct{ start, step float64 }

// Pair is two sides with what rows of the plan are for.
type Pair struct {
	Sides            [2]explain.Side // as recorded; one without runs is an ideal, which was not
	record.CausePair                 // rows of the plan that run them again, and variants of either

	rows   [2]bench.Row
	times  [2]timing
	wanted []wanted // variants that are not planned yet, the most telling first
}

// wanted is a variant of a side.
type wanted struct {
	row bench.Row
	record.Intervention
}

// Subjects returns the runs and rows that the arguments name, with names that differ, and why they cannot be
// run again here; "": they can.
func Subjects(args []string, k *setting.Catalog) (all []bench.Subject, unfit string, err error) {
	here := bench.DescribeHost()
	for i, text := range args {
		s, err := bench.SubjectNamed(text, k)
		if err != nil {
			return nil, "", err
		}
		why := s.Unfit
		if s.Host.CPU != "" {
			if other := change.Machine(s.Host, here); other != nil {
				why = cmp.Or(why, other.Error())
			}
			if i > 0 && all[0].Host.CPU != "" && change.Machine(all[0].Host, s.Host) != nil {
				return nil, "", setting.Refuse("%s and %s: %v; give two of one machine", args[0], text,
					change.Machine(all[0].Host, s.Host))
			}
		}
		if why != "" {
			unfit = cmp.Or(unfit, text+": "+why)
		}
		all = append(all, s)
	}
	if len(all) == 2 && all[0].Name == all[1].Name {
		all[0].Name, all[1].Name = args[0], args[1]
	}
	if len(all) == 2 && all[0].Program != all[1].Program && all[0].Program != "" && all[1].Program != "" {
		unfit = cmp.Or(unfit, fmt.Sprintf("%s and %s are of two versions of the program, %s and %s", args[0],
			args[1], all[0].Program, all[1].Program))
	}
	return all, unfit, nil
}

// SideOf returns the side that a subject is.
func SideOf(s bench.Subject) explain.Side { return explain.NewSide(s.Name, &s.Record) }

// maxVariants bounds the variants of a pair: more would leave few rounds for each.
const maxVariants = 4

// New plans the runs that the terms of a first explanation of two sides want. budget is the time for all.
func New(a, b bench.Subject, first *explain.Explanation, budget time.Duration) *Experiment {
	return planned(pairOf(a, b, first), budget)
}

// planned returns the runs of a pair with all variants of it.
func planned(p *Pair, budget time.Duration) *Experiment {
	x := choose([]*Pair{p}, 0)
	x.fit(budget)
	return x
}

// IsSettled reports whether more runs have nothing to tell: of rows that are set alike, and that rounds
// enough do not tell apart.
func IsSettled(a, b bench.Subject, first *explain.Explanation) bool {
	return textOf(plain(a.Row)) == textOf(plain(b.Row)) && !first.IsTold && first.Rounds >= stat.LeastRounds
}

// pairOf returns two sides with the variants that the terms of a first explanation want.
func pairOf(a, b bench.Subject, first *explain.Explanation) *Pair {
	p := &Pair{Sides: [2]explain.Side{SideOf(a), SideOf(b)}, rows: [2]bench.Row{plain(a.Row), plain(b.Row)},
		times: [2]timing{timingOf(a, first.A.StepMS), timingOf(b, first.B.StepMS)}}
	p.align()
	if textOf(p.rows[0]) == textOf(p.rows[1]) ||
		slices.ContainsFunc(p.wanted, func(w wanted) bool { return w.IsAll }) {
		return p // sides that differ in nothing, or in one setting that was aligned, have no more to tell
	}
	for _, t := range first.Large() {
		for _, isB := range []bool{false, true} { // how workers compute beside others is told by both sides
			if t.Cost().IsCompute() || isB == (t.MS > 0) {
				p.intervene(isB, t.Cost())
			}
		}
	}
	return p
}

// add adds the sides of a pair, each with a row of its own, if they are not there, and its next variant.
func (x *Experiment) add(p *Pair) {
	if p.Again == nil {
		p.Again = new([2]int)
		p.Again[0] = x.row(p.rows[0], p.times[0], -1)
		p.Again[1] = x.row(p.rows[1], p.times[1], p.Again[0])
		x.Pairs = append(x.Pairs, p)
	}
	if len(p.wanted) == 0 {
		return
	}
	v, takes := p.wanted[0], p.times[0]
	if v.OfB {
		takes = p.times[1]
	}
	v.Row = x.row(v.row, takes, -1)
	p.Variants, p.wanted = append(p.Variants, v.Intervention), p.wanted[1:]
}

// row returns the number of a row of the plan, but for one, and adds it if it is not there.
func (x *Experiment) row(row bench.Row, takes timing, but int) int {
	for at, other := range x.Plan.Rows {
		if at != but && textOf(other) == textOf(row) {
			return at
		}
	}
	x.Plan.Rows, x.times = append(x.Plan.Rows, row), append(x.times, takes)
	return len(x.times) - 1
}

// timingOf tells from a subject's runs how long another one takes, given the milliseconds of a step.
func timingOf(s bench.Subject, stepMS float64) timing {
	t := timing{startSeconds, max(stepMS, 1e-3) / 1e3}
	if s.Row.Condition.IsApart() && s.Row.Workers > 1 {
		t.start = labSeconds
	}
	var beside []float64
	for _, r := range s.Record.Runs {
		if r.Error == "" {
			beside = append(beside, r.Wall-r.Seconds)
		}
	}
	if m := stat.Median(beside); m > t.start {
		t.start = m
	}
	return t
}

// Ideal plans a subject beside its ideal: one worker alone, with its share of the batch. It fails as
// [explain.Decompose] does, and if the subject is its own ideal.
func Ideal(b bench.Subject, budget time.Duration) (*Experiment, error) {
	side := SideOf(b)
	first, err := explain.Decompose(side, side)
	if err != nil {
		return nil, err
	}
	takes, row := timingOf(b, first.B.StepMS), plain(b.Row)
	p := &Pair{Sides: [2]explain.Side{{Name: "a worker alone"}, side}, rows: [2]bench.Row{row, row},
		times: [2]timing{takes, takes}}
	if row.Workers > 1 {
		p.rows[0] = apart(row, strategy.Single, 1)
	}
	p.rows[0].CheckpointEvery = ""
	for _, c := range []explain.Cost{explain.Latency, explain.Checkpoint, explain.Codec} {
		p.intervene(true, c)
	}
	if textOf(p.rows[0]) == textOf(row) {
		return nil, &explain.IncomparableError{Reason: b.Name + " is its own ideal: one worker, without " +
			"checkpoints; give another run to compare it with"}
	}
	return planned(p, budget), nil
}

// plain returns a row for short runs: steps only, without evaluations, what chooses by them, or files that
// nobody reads. How many steps is chosen later, so that sides of different lengths are alike.
func plain(r bench.Row) bench.Row {
	r.Steps = mostSteps
	r.Epochs, r.For, r.Until, r.LimitTest, r.EvalEvery = 0, "", 0, 0, 0
	r.BestBy, r.Patience, r.RestoreBest, r.Validation = "", 0, false, setting.Held{}
	r.Save, r.Trace, r.Resume, r.Out, r.Rounds, r.Options = false, false, "", "", 0, ""
	if path, err := r.KernelPath(); err == nil { // the default, which the environment could change
		r.ISA = path.String()
	}
	was := r
	r.Condition = bench.Condition{} // of which a row's own settings have the rest
	for _, name := range link() {
		setPart(&r, name, partOf(was, name))
	}
	return r
}

// want notes a variant, unless it cannot be run, is there already, or is one too many.
func (p *Pair) want(row bench.Row, v record.Intervention) {
	isThere := slices.ContainsFunc(p.wanted, func(w wanted) bool { return w.Text == v.Text })
	if !isThere && len(p.wanted) < maxVariants && row.Validate() == nil {
		p.wanted = append(p.wanted, wanted{row, v})
	}
}

// textOf returns a text that equal rows share.
func textOf(r bench.Row) string {
	text, _ := json.Marshal(r) // a row that can be validated can be written
	return string(text)
}

// cause is a setting that is given the other side's value, where two sides differ in it: what a run can do
// with or without.
type cause struct {
	name string
	cost explain.Cost // that it is known by
	take func(to *bench.Row, from bench.Row)
}

// causes lists them.
func causes() []cause {
	all := []cause{
		{"slow-worker", explain.Straggler, func(to *bench.Row, from bench.Row) {
			to.SlowWorkers = from.SlowWorkers.Below(to.Workers)
		}},
		{"slow-loader", explain.Data, func(to *bench.Row, from bench.Row) {
			to.SlowLoader = from.SlowLoader
		}},
		{"wire", explain.Codec, func(to *bench.Row, from bench.Row) { to.Wire = from.Wire }},
		{"checkpoint-every", explain.Checkpoint, func(to *bench.Row, from bench.Row) {
			to.CheckpointEvery = from.CheckpointEvery
		}},
		{"augment", explain.Data, func(to *bench.Row, from bench.Row) { to.Augment = from.Augment }},
		{"shards", explain.Imbalance, func(to *bench.Row, from bench.Row) { to.Shards = from.Shards }},
		{"isa", explain.Efficiency, func(to *bench.Row, from bench.Row) { to.ISA = from.ISA }},
		{"math", explain.Efficiency, func(to *bench.Row, from bench.Row) { to.Math = from.Math }},
	}
	for i, name := range link() {
		cost := []explain.Cost{explain.Bandwidth, explain.Latency, explain.Latency}[i]
		all = append(all, cause{name, cost, func(to *bench.Row, from bench.Row) {
			setPart(to, name, partOf(from, name))
		}})
	}
	return all
}

// link lists the parts of a condition that are of the network.
func link() []string { return []string{"rate", "delay", "loss"} }

// partOf returns the value of a part of a row's condition; "": it has none.
func partOf(row bench.Row, name string) string {
	for p := range strings.SplitSeq(row.Condition.Name, "+") {
		if of, value, _ := strings.Cut(p, "="); of == name {
			return value
		}
	}
	return ""
}

// setPart gives a part of a row's condition a value, or takes the part away: "". Parts are left in order, so
// that equal conditions are of one text.
func setPart(row *bench.Row, name, value string) {
	parts := slices.DeleteFunc(strings.Split(row.Condition.Name, "+"), func(p string) bool {
		return p == "" || strings.HasPrefix(p, name+"=")
	})
	if value != "" {
		parts = append(parts, name+"="+value)
	}
	slices.Sort(parts)
	if row.Condition = (bench.Condition{}); len(parts) > 0 {
		row.Condition, _ = bench.ParseCondition(strings.Join(parts, "+")) // of parts that were parsed before
	}
}

// align wants a variant of B for each setting in which it differs from A.
func (p *Pair) align() {
	for _, c := range causes() {
		row := p.rows[1]
		if c.take(&row, p.rows[0]); textOf(row) != textOf(p.rows[1]) {
			p.want(row, record.Intervention{Action: explain.Align, OfB: true, Cost: c.cost.String(),
				IsAll: textOf(row) == textOf(p.rows[0]),
				Text:  fmt.Sprintf("%s with the %s of %s", p.Sides[1].Name, c.name, p.Sides[0].Name)})
		}
	}
}

// intervene wants the variant that takes a cost away from a side; none if that would change nothing of it.
func (p *Pair) intervene(isB bool, c explain.Cost) {
	side, name := p.rows[0], p.Sides[0].Name
	if isB {
		side, name = p.rows[1], p.Sides[1].Name
	}
	row := side
	v := record.Intervention{OfB: isB, Cost: c.String(), Action: explain.Remove}
	link := row.Condition.Link
	switch {
	case c == explain.Bandwidth && row.Condition.IsApart() && link.Rate > 0:
		v.Action = explain.Relieve
		v.Text = name + " with links of twice the rate"
		setPart(&row, "rate", fmt.Sprintf("%gmbit", 2*link.Rate/1e6))
	case c == explain.Latency && row.Condition.IsApart() && link.Delay > 0:
		v.Action = explain.Relieve
		v.Text = name + " with links of half the delay"
		setPart(&row, "delay", (link.Delay / 2).String())
	case c == explain.Codec && row.Wire != "fp32":
		v.Text, row.Wire = name+" with wire fp32", "fp32"
	case c == explain.Data && !isTable(row):
		v.Text = name + " on synthetic data"
		initial := setting.Default()
		if row.SlowLoader = initial.SlowLoader; row.Data != "synthetic" { // which has classes of its own
			row.Data, row.Augment, row.Task = "synthetic", "none", initial.Task
			row.WeightColumn, row.ClassWeights, row.ClassShares = "", "", ""
		}
	case c == explain.Checkpoint:
		v.Text, row.CheckpointEvery = name+" without checkpoints", ""
	case c == explain.Imbalance:
		v.Text = name + " with equal shards"
		row.Shards = (row.Shards + row.Workers/2) / row.Workers * row.Workers
	case row.Workers > 1 && c.IsExchange():
		v.Action, v.Text = explain.Silence, name+" without any exchange"
		row = apart(row, strategy.None, row.Workers)
	case row.Workers > 1 && c.IsCompute():
		v.Action, v.Text = explain.Isolate, "one worker of "+name+" alone, with its share of the batch"
		row = apart(row, strategy.Single, 1)
	case c == explain.Cores && row.Threads > 1:
		v.Text = name + " with a thread less"
		row.Threads--
	default: // there is no run without it
		return
	}
	if textOf(row) != textOf(side) { // else it would show that the term stays
		p.want(row, v)
	}
}

// isTable reports whether a row's samples are those of a table: synthetic ones would be other work.
func isTable(row bench.Row) bool {
	all := row.Datasets()
	return all.IsPath(row.Data) && all.KindOf(row.Data, row.DataOptions(nil)) == data.AnyKind
}

// apart returns a row whose workers exchange nothing, with what each of some workers computes.
func apart(row bench.Row, way string, workers int) bench.Row {
	initial := setting.Default()
	exchange := initial.Exchange
	exchange.Insecure, exchange.MasterAddr, exchange.MasterPort = row.Insecure, row.MasterAddr, row.MasterPort
	sharing := row.Workers // a batch
	if row.IsAsync() {
		sharing = 1
	}
	row.Batch, row.Shards = row.Batch*workers/sharing, max(row.Shards*workers/sharing, 1)
	row.Strategy, row.Exchange, row.Averaging, row.Serving = way, exchange, initial.Averaging, initial.Serving
	for _, name := range link() {
		setPart(&row, name, "")
	}
	if row.Workers = workers; workers == 1 {
		row.SlowWorkers = nil
		if row.Hosts > 0 {
			row.Layout, row.Cores = bench.Layout{Hosts: 1, PerHost: 1}, row.Cores/row.Hosts
		}
	}
	return row
}

// Bounds of an experiment: rounds, and steps of a run; seconds that a run takes beside its steps, in a lab
// and elsewhere.
const (
	wantedRounds, mostRounds = 5, 12
	leastSteps, mostSteps    = 6, 500
	leastSeconds             = 0.7 // of steps of a run: starting it takes longer
	freeSeconds              = 4   // the same without a budget
	startSeconds, labSeconds = 0.8, 2.0
)

// fit chooses the length of the runs, for a budget of all, or for wantedRounds without one: 0.
func (x *Experiment) fit(budget time.Duration) {
	seconds := float64(freeSeconds)
	x.Plan.Copies, x.Plan.Order = 1, 1
	if x.Plan.Repeats = wantedRounds; budget > 0 {
		x.Plan.Repeats = mostRounds
		left := budget.Seconds() / wantedRounds
		for _, t := range x.times {
			left -= t.start
		}
		seconds = max(left/float64(len(x.times)), leastSeconds)
	}
	isTime := budget == 0 || x.round(seconds) <= reserve*budget.Seconds()
	for i := range x.Plan.Rows {
		r := &x.Plan.Rows[i]
		if r.Steps = x.times[i].steps(seconds); isTime {
			r.Steps = max(r.Steps, telling(r))
		}
		if r.Averages() && r.Steps > r.AverageEvery {
			r.Steps -= r.Steps % r.AverageEvery
		}
	}
}

// telling returns the steps in which a row keeps two checkpoints and averages twice; else neither need be in
// its runs.
func telling(r *bench.Row) (steps int) {
	if twice := 2 * r.CheckpointInterval().Steps; twice <= mostSteps {
		steps = twice
	}
	if r.Averages() {
		steps = max(steps, 2*r.AverageEvery)
	}
	return steps
}

// steps returns those of a run that has some seconds for them.
func (t timing) steps(seconds float64) int {
	return min(max(int(seconds/t.step), leastSteps), mostSteps)
}

// round returns the seconds that a round takes whose runs have some seconds for their steps, and more where
// these are too few to tell.
func (x *Experiment) round(seconds float64) (sum float64) {
	for i, t := range x.times {
		sum += t.start + float64(max(t.steps(seconds), telling(&x.Plan.Rows[i])))*t.step
	}
	return sum
}

// Run makes the runs of the experiment into a new folder within a budget; 0: as long as they take. Runs that
// fail end nothing, unless all do; the errors are those of [bench.RunPlan] otherwise.
func (x *Experiment) Run(ctx context.Context, out string, budget time.Duration, o bench.Options) (
	*record.Results, error) {
	r, err := bench.RunPlan(ctx, x.Plan, out, budget, o)
	if failed := (*bench.FailedError)(nil); errors.As(err, &failed) && failed.Failed < failed.Runs {
		err = nil
	}
	return r, err
}

// Explain returns the explanation of the first pair that the recorded sides and the results of the experiment
// give. It fails as [explain.Confirm] does.
func (x *Experiment) Explain(r *record.Results) (*explain.Explanation, error) {
	p := x.Pairs[0]
	return explain.Confirm(p.Sides[0], p.Sides[1], r.Rows, p.CausePair)
}
