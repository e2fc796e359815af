package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// joined is what several tables say of one configuration.
type joined struct {
	recordOf             // with the figures of all of them
	rows     []*recordOf // one of each table
}

// joined returns the configurations that tables tell: rows of different tables are of one if they share a
// time of at least four digits, which no other row of their tables has.
func (d *Document) joined() (out []*joined) {
	by := map[string]*joined{}
	for _, g := range d.tables() {
		count := map[string]int{}
		for _, r := range g.records {
			for _, key := range r.times() {
				count[key]++
			}
		}
		for _, r := range g.records {
			var j *joined
			times := slices.DeleteFunc(r.times(), func(key string) bool { return count[key] > 1 })
			for _, key := range times {
				if by[key] != nil && by[key].rows[len(by[key].rows)-1].in != g {
					j = by[key]
				}
			}
			if j == nil {
				j = &joined{recordOf: recordOf{label: r.label, in: r.in}}
				out = append(out, j)
			}
			for _, key := range times {
				if by[key] == nil {
					by[key] = j
				}
			}
			j.rows = append(j.rows, r)
			j.figures = append(j.figures, r.figures...)
			j.compared = append(j.compared, r.compared...)
		}
	}
	return out
}

// times returns the times of a record that tell it from others, each with what it is of.
func (r *recordOf) times() (out []string) {
	for _, f := range r.figures {
		if f.Kind == Time && f.Scope != "" && f.Scope != Part && f.digits() >= 4 && !f.isSigned {
			if key := fmt.Sprintf("%s %.4g", f.Scope, f.Value); !slices.Contains(out, key) {
				out = append(out, key)
			}
		}
	}
	return out
}

// twice tests that tables which share a time of a configuration agree on its other figures.
func twice(d *Document, say sayer) {
	if d.repeated {
		return // its runs may have one time by chance
	}
	for _, j := range d.joined() {
		for _, q := range []quantity{{Time, Total}, {Time, Epoch}, {Time, Step}, {Rate, ""}, {Speedup, ""},
			{Efficiency, ""}, {Cost, ""}} {
			var s span
			severity := Refuse
			for _, r := range j.rows {
				f := r.one(q.kind, q.scope)
				for _, c := range r.compared {
					if f == nil && c.Kind == q.kind && len(j.rows) > 1 {
						f, severity = c, Warn // of a time that may hold other work
					}
				}
				if f != nil && f.Value > 0 {
					s.add(f)
				}
			}
			if s.isOver(1.05) && !s.least.equals(s.most) {
				say(severity, "one quantity of one configuration has two values", "%s and %s", s.least,
					s.most)
			}
		}
	}
}

// closeEnough is how far a rate may be from what other figures of its configuration give.
const closeEnough = 0.05

// pace tests a rate against the batch and the time of a step, and against the samples of an epoch.
func pace(d *Document, say sayer) {
	_, sets := d.named()
	if d.repeated || d.says("subset", "generated", "synthetic") {
		sets = nil
	}
	for _, r := range d.joined() {
		rate, step, epoch := r.one(Rate, ""), r.one(Time, Step), r.one(Time, Epoch)
		if rate == nil || rate.Value <= 0 || !mentions(rate.Unit+" "+rate.Column+" "+rate.Row, "img", "image",
			"sample") {
			continue
		}
		if epoch != nil && len(sets) > 0 {
			v := rate.Value * epoch.Value
			off := func(n float64) float64 { return math.Abs(math.Log(v / n)) }
			n := slices.MinFunc(sets, func(a, b float64) int { return cmp.Compare(off(a), off(b)) })
			if math.Abs(v/n-1) > 2*closeEnough {
				say(Warn, "a rate times an epoch is not the data set", "%s × %s = %s, not %s", rate, epoch,
					v, n)
			}
		}
		if step != nil && step.Value > 0 {
			paceOf(r, rate, step, say)
		}
	}
}

// paceOf tests a rate against the batch, of one worker or of all, and the time of a step.
func paceOf(r *joined, rate, step *Figure, say sayer) {
	var batches span
	workers, isRight := 1.0, false
	if w := r.one(Workers, ""); w != nil {
		workers = w.Value
	}
	for _, f := range r.figures {
		if f.Kind == Batch {
			batches.add(f)
			for _, v := range []float64{f.Value / step.Value, workers * f.Value / step.Value} {
				isRight = isRight || math.Abs(rate.Value/v-1) <= closeEnough
			}
		}
	}
	if most := batches.most; most != nil && !isRight {
		say(Refuse, "a rate is not its batch per step", "%s / %s = %s, not %s", most, step,
			most.Value/step.Value, rate)
	}
}
