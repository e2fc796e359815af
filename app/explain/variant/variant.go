package variant

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/app/bench"
	"lockstep/app/evidence/stat"
	"lockstep/app/explain"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/app/strategy"
)

// Experiment is a plan of runs with what each row is for: the first two are the sides.
type Experiment struct {
	Plan     bench.Plan
	sides    [2]explain.Side
	Variants []explain.Variant // without their runs
	rows     []int             // of the variants in the plan
}

// SideOf returns the side that a subject is.
func SideOf(s bench.Subject) explain.Side { return sideOf(s.Name, s.Row, &s.Record) }

func sideOf(name string, row bench.Row, r *record.Row) explain.Side {
	side := explain.NewSide(name, r)
	if link := row.Condition.Link; row.Condition.IsApart() && row.Workers > 1 {
		side.Link = &explain.Link{BytesPerSecond: link.Rate / 8}
	}
	return side
}

// maxVariants bounds the rows of an experiment beside the sides: more would leave few rounds for each.
const maxVariants = 4

// New plans the runs that the terms of a first explanation of two sides want. budget is the time for all.
func New(a, b bench.Subject, first *explain.Explanation, budget time.Duration) *Experiment {
	rows := [2]bench.Row{plain(a.Row), plain(b.Row)}
	x := start(rows, SideOf(a), SideOf(b))
	x.align(rows)
	// Sides that differ in nothing, or in one setting that was aligned, have no more to tell.
	isAll := textOf(rows[0]) == textOf(rows[1]) || slices.Contains(x.rows, 0)
	for _, t := range first.Large() {
		if isAll || len(x.Plan.Rows) >= 2+maxVariants {
			continue
		}
		for _, isB := range sidesOf(t.Cost(), t.MS > 0, rows) {
			x.intervene(rows, isB, t.Cost())
		}
	}
	x.fit(max(first.A.StepMS, first.B.StepMS), budget)
	return x
}

// IsSettled reports whether more runs have nothing to tell: of rows that are set alike, and that rounds
// enough do not tell apart.
func IsSettled(a, b bench.Subject, first *explain.Explanation) bool {
	return textOf(plain(a.Row)) == textOf(plain(b.Row)) && !first.IsTold &&
		min(first.A.Runs, first.B.Runs) >= stat.LeastRounds
}

// start plans two sides.
func start(rows [2]bench.Row, a, b explain.Side) *Experiment {
	return &Experiment{sides: [2]explain.Side{a, b},
		Plan: bench.Plan{Rows: rows[:], Copies: 1, Order: 1}}
}

// Ideal plans a subject beside its ideal: one worker alone, with its share of the batch. It fails as
// [explain.Decompose] does.
func Ideal(b bench.Subject, budget time.Duration) (*Experiment, error) {
	side := SideOf(b)
	first, err := explain.Decompose(side, side)
	if err != nil {
		return nil, err
	}
	row := plain(b.Row)
	ideal := row
	if row.Workers > 1 {
		ideal = apart(row, strategy.Single, 1)
	}
	ideal.CheckpointEvery = ""
	rows := [2]bench.Row{ideal, row}
	x := start(rows, explain.Side{Name: "one worker of it alone"}, side)
	if row.Workers > 1 {
		x.intervene(rows, true, explain.Latency)
	}
	if row.CheckpointEvery != "" {
		x.intervene(rows, true, explain.Checkpoint)
	}
	if row.Wire != setting.Default().Wire && row.Workers > 1 {
		x.intervene(rows, true, explain.Codec)
	}
	x.fit(first.B.StepMS, budget)
	return x, nil
}

// sidesOf returns the sides whose change tells what a term is: the one that has more of it, or for how
// workers compute beside others each that has several.
func sidesOf(c explain.Cost, isB bool, rows [2]bench.Row) (sides []bool) {
	if !c.IsCompute() {
		return []bool{isB}
	}
	for i, r := range rows {
		if r.Workers > 1 {
			sides = append(sides, i == 1)
		}
	}
	if sides == nil {
		sides = []bool{isB}
	}
	return sides
}

// plain returns a row for short runs: steps only, without evaluations or files that nobody reads. How many
// steps is chosen later, so that sides of different lengths are alike.
func plain(r bench.Row) bench.Row {
	r.Steps = mostSteps
	r.Epochs, r.For, r.Until, r.LimitTest, r.EvalEvery = 0, "", 0, 0, 0
	r.Save, r.Trace, r.Resume, r.Out, r.Rounds, r.Options = false, false, "", "", 0, ""
	sortParts(&r) // so that equal conditions are of one text
	return r
}

// add plans a variant of a side, unless it cannot be run. A row that is there already has its runs for both.
func (x *Experiment) add(row bench.Row, v explain.Variant) {
	isThere := slices.ContainsFunc(x.Variants, func(w explain.Variant) bool { return w.Text == v.Text })
	if isThere || row.Validate() != nil {
		return
	}
	at := slices.IndexFunc(x.Plan.Rows, func(other bench.Row) bool { return textOf(other) == textOf(row) })
	if at < 0 {
		at = len(x.Plan.Rows)
		x.Plan.Rows = append(x.Plan.Rows, row)
	}
	x.Variants, x.rows = append(x.Variants, v), append(x.rows, at)
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
			takePart(to, from, "slow-worker")
			to.SlowWorkers = from.SlowWorkers.Below(to.Workers)
		}},
		{"slow-loader", explain.Data, func(to *bench.Row, from bench.Row) {
			takePart(to, from, "slow-loader")
			to.SlowLoader = from.SlowLoader
		}},
		{"wire", explain.Codec, func(to *bench.Row, from bench.Row) { to.Wire = from.Wire }},
		{"checkpoint-every", explain.Checkpoint, func(to *bench.Row, from bench.Row) {
			to.CheckpointEvery = from.CheckpointEvery
		}},
		{"data", explain.Data, func(to *bench.Row, from bench.Row) {
			to.Data, to.Augment = from.Data, from.Augment
		}},
		{"shards", explain.Imbalance, func(to *bench.Row, from bench.Row) { to.Shards = from.Shards }},
	}
	for i, name := range link() {
		cost := []explain.Cost{explain.Bandwidth, explain.Latency, explain.Latency}[i]
		all = append(all, cause{name, cost, func(to *bench.Row, from bench.Row) { takePart(to, from, name) }})
	}
	return all
}

// link lists the parts of a condition that are of the network.
func link() []string { return []string{"rate", "delay", "loss"} }

// takePart gives a row the part of another's condition that begins with a name, or none.
func takePart(to *bench.Row, from bench.Row, name string) {
	is := func(part string) bool { return name != "" && strings.HasPrefix(part, name+"=") }
	parts := slices.DeleteFunc(strings.Split(to.Condition.Name, "+"), func(p string) bool {
		return is(p) || p == "" || p == "equal"
	})
	for p := range strings.SplitSeq(from.Condition.Name, "+") {
		if is(p) {
			parts = append(parts, p)
		}
	}
	slices.Sort(parts)
	if to.Condition = (bench.Condition{}); len(parts) > 0 {
		to.Condition, _ = bench.ParseCondition(strings.Join(parts, "+")) // of parts that were parsed before
	}
}

// sortParts puts the parts of a row's condition in order.
func sortParts(row *bench.Row) { takePart(row, bench.Row{}, "") }

// align plans a variant of B for each setting in which it differs from A.
func (x *Experiment) align(rows [2]bench.Row) {
	for _, c := range causes() {
		row := rows[1]
		if c.take(&row, rows[0]); textOf(row) != textOf(rows[1]) {
			x.add(row, explain.Variant{Action: explain.Align, OfB: true, Cost: c.cost,
				IsAll: textOf(row) == textOf(rows[0]), Text: fmt.Sprintf("B with the %s of A", c.name)})
		}
	}
}

// intervene plans the variant that takes a cost away from a side; none if that would change nothing of it.
func (x *Experiment) intervene(rows [2]bench.Row, isB bool, c explain.Cost) {
	side, name := rows[0], "A"
	if isB {
		side, name = rows[1], "B"
	}
	row := side
	v := explain.Variant{OfB: isB, Cost: c, Action: explain.Remove}
	link := row.Condition.Link
	switch {
	case c == explain.Bandwidth && row.Condition.IsApart() && link.Rate > 0:
		v.Action = explain.Relieve
		v.Text = name + " with links of twice the rate"
		relink(&row, "rate", fmt.Sprintf("%gmbit", 2*link.Rate/1e6))
	case c == explain.Latency && row.Condition.IsApart() && link.Delay > 0:
		v.Action = explain.Relieve
		v.Text = name + " with links of half the delay"
		relink(&row, "delay", (link.Delay / 2).String())
	case c == explain.Codec && row.Wire != "fp32":
		v.Text, row.Wire = name+" with wire fp32", "fp32"
	case c == explain.Data:
		v.Text = name + " on synthetic data"
		takePart(&row, bench.Row{}, "slow-loader")
		if row.SlowLoader = setting.Default().SlowLoader; row.Data != "synthetic" {
			row.Data, row.Augment = "synthetic", "none"
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
		x.add(row, v)
	}
}

// relink gives one part of a condition another value.
func relink(row *bench.Row, name, value string) {
	other := bench.Row{}
	other.Condition.Name = name + "=" + value
	takePart(row, other, name)
}

// apart returns a row whose workers exchange nothing, with what each of some workers computes.
func apart(row bench.Row, way string, workers int) bench.Row {
	initial := setting.Default()
	exchange := initial.Exchange
	exchange.Insecure, exchange.MasterAddr, exchange.MasterPort = row.Insecure, row.MasterAddr, row.MasterPort
	row.Batch, row.Shards = row.Batch*workers/row.Workers, max(row.Shards*workers/row.Workers, 1)
	row.Strategy, row.Exchange, row.Averaging, row.Serving = way, exchange, initial.Averaging, initial.Serving
	for _, name := range link() {
		takePart(&row, bench.Row{}, name)
	}
	if row.Workers = workers; workers == 1 {
		takePart(&row, bench.Row{}, "slow-worker")
		row.SlowWorkers, row.Layout = nil, bench.Layout{}
	}
	return row
}

// Bounds of an experiment: rounds, and steps of a run; seconds that a run takes beside its steps, in a lab
// and elsewhere.
const (
	wantedRounds, mostRounds = 5, 12
	leastSteps, mostSteps    = 10, 500
	leastSeconds             = 0.7 // of steps of a run: starting it takes longer
	startSeconds, labSeconds = 0.8, 2.0
)

// fit chooses the length of the runs.
func (x *Experiment) fit(stepMS float64, budget time.Duration) {
	overhead := 0.0
	for _, r := range x.Plan.Rows {
		overhead += startSeconds
		if r.Condition.IsApart() && r.Workers > 1 {
			overhead += labSeconds - startSeconds
		}
	}
	step := max(stepMS, 1e-3) / 1e3
	left := budget.Seconds()/wantedRounds - overhead
	steps := int(max(left/float64(len(x.Plan.Rows)), leastSeconds) / step)
	for i := range x.Plan.Rows {
		r := &x.Plan.Rows[i]
		r.Steps = min(max(steps, leastSteps), mostSteps)
		if r.Averages() {
			r.Steps = max(r.Steps, 2*r.AverageEvery) / r.AverageEvery * r.AverageEvery
		}
	}
	x.Plan.Repeats = mostRounds
}

// Explain returns the explanation that the recorded sides and the results of the experiment give. It fails as
// [explain.Confirm] does.
func (x *Experiment) Explain(r *record.Results) (*explain.Explanation, error) {
	a, b := x.sides[0], x.sides[1]
	side := func(name string, i int) explain.Side { return sideOf(name, x.Plan.Rows[i], &r.Rows[i]) }
	var variants []explain.Variant
	for i, v := range x.Variants {
		v.Side = side(v.Text, x.rows[i])
		variants = append(variants, v)
	}
	return explain.Confirm(a, b, side(a.Name, 0), side(b.Name, 1), variants)
}
