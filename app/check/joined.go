package check

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/stat"
)

// joined is what several tables say of one configuration.
type joined struct {
	recordOf             // with the figures of all of them
	rows     []*recordOf // one of each table
}

// joined returns the configurations that tables tell: rows of different tables are of one if they share a
// time
// of at least four digits, which no other row of their tables has.
func (d *Document) joined() []*joined {
	by := map[string]*joined{}
	var out []*joined
	for _, g := range d.tables() {
		keys := map[string]int{}
		for _, r := range g.records {
			for _, key := range r.times() {
				keys[key]++
			}
		}
		for _, r := range g.records {
			var j *joined
			isNew := func(key string) bool { return keys[key] > 1 || by[key] == nil || by[key].has(g) }
			times := slices.DeleteFunc(r.times(), func(key string) bool { return keys[key] > 1 })
			for _, key := range times {
				if !isNew(key) {
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

// has reports whether a row of the table that is being joined is among those that were.
func (j *joined) has(g *group) bool { return j.rows[len(j.rows)-1].in == g }

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
			var least, most *Figure
			severity := Refuse
			for _, r := range j.rows {
				f := r.one(q.kind, q.scope)
				for _, c := range r.compared {
					if f == nil && c.Kind == q.kind && len(j.rows) > 1 {
						f, severity = c, Warn // of a time that may hold other work
					}
				}
				if f != nil && f.Value > 0 {
					least, most = extremes(least, most, f)
				}
			}
			if least != nil && !least.equals(most) && most.Value > 1.05*least.Value {
				say(severity, "one quantity of one configuration has two values", fmt.Sprintf("%s and %s",
					least.Text, most.Text), least, most)
			}
		}
	}
}

// beyond warns of speed-ups beyond the workers that another table tells.
func beyond(d *Document, say sayer) {
	for _, r := range d.joined() {
		w := r.workers()
		for _, f := range r.compared {
			if lo, _ := f.within(); w != nil && w.Value > 1 && f.Kind == Speedup && lo >= w.Value {
				say(Warn, "a speed-up of more than its workers", fmt.Sprintf("%s, more than %s", f.Text,
					w.Text), f, w)
			}
		}
	}
}

// closeEnough is how far a rate may be from what other figures of its configuration give.
const closeEnough = 0.05

// pace tests a rate against the batch and the time of a step, and against the samples of an epoch.
func pace(d *Document, say sayer) {
	sets := d.sets()
	for _, r := range d.joined() {
		rate, step, epoch := r.one(Rate, ""), r.one(Time, Step), r.one(Time, Epoch)
		if rate == nil || rate.Value <= 0 || !mentions(rate.Unit+" "+rate.Column+" "+rate.Row, "img", "image",
			"sample") {
			continue
		}
		if epoch != nil && !d.repeated {
			v := rate.Value * epoch.Value
			if n := nearest(sets, v); n > 0 && math.Abs(v/n-1) > 2*closeEnough {
				say(Warn, "a rate times an epoch is not the data set", fmt.Sprintf("%s × %s = %s, not %s",
					rate.Text, epoch.Text, num(v), num(n)), rate, epoch)
			}
		}
		batches := slices.DeleteFunc(slices.Clone(r.figures), func(f *Figure) bool { return f.Kind != Batch })
		if step == nil || step.Value <= 0 || len(batches) == 0 {
			continue
		}
		workers := 1.0
		if w := r.workers(); w != nil {
			workers = w.Value
		}
		isNear := func(v float64) bool { return math.Abs(rate.Value/v-1) <= closeEnough }
		isRight := func(b *Figure) bool {
			return isNear(b.Value/step.Value) || isNear(workers*b.Value/step.Value)
		}
		most := slices.MaxFunc(batches, func(a, b *Figure) int { return int(a.Value - b.Value) })
		if !slices.ContainsFunc(batches, isRight) {
			say(Refuse, "a rate is not its batch per step", fmt.Sprintf("%s / %s = %s, not %s", most.Text,
				step.Text, num(most.Value/step.Value), rate.Text), rate, most, step)
		}
	}
}

// sets returns the sizes of the data sets that the document names, if it trains on all of one.
func (d *Document) sets() (out []float64) {
	text := strings.NewReplacer("-", "", " ", "").Replace(d.text)
	for name, n := range map[string]float64{"cifar": 50000, "mnist": 60000, "svhn": 73257,
		"imagenet": 1281167} {
		if strings.Contains(text, name) && !d.says("subset", "generated", "synthetic") {
			out = append(out, n)
		}
	}
	return out
}

// nearest returns the number that is nearest to v by its ratio, or 0.
func nearest(numbers []float64, v float64) (found float64) {
	for _, n := range numbers {
		if found == 0 || math.Abs(math.Log(v/n)) < math.Abs(math.Log(v/found)) {
			found = n
		}
	}
	return found
}

// extrapolated tests projected speed-ups against what the smallest measured one leaves by Amdahl's law.
func extrapolated(d *Document, say sayer) {
	measured := map[*recordOf]*Figure{}
	for _, j := range d.joined() {
		for _, f := range j.figures {
			for _, r := range j.rows {
				if f.Kind == Speedup && !f.isGuess && measured[r] == nil {
					measured[r] = f
				}
			}
		}
	}
	for _, g := range d.tables() {
		var base, at *Figure
		for _, r := range g.records {
			s, w := r.one(Speedup, ""), r.workers()
			if s == nil || w == nil || w.Value < 2 || s.Value <= 1 {
				continue
			}
			if base == nil {
				if base, at = measured[r], w; base == nil {
					break
				}
				continue
			}
			_, hi := base.within()
			limit := stat.Amdahl(max(0, stat.KarpFlatt(hi, at.Value)), w.Value)
			if lo, _ := s.within(); s.isGuess && w.Value > at.Value && lo > 1.02*limit {
				say(Warn, "a projection beyond what a smaller speed-up leaves", fmt.Sprintf(
					"%s at %g workers leaves at most %s at %g, not %s", base.Text, at.Value, num(limit),
					w.Value, s.Text), s, base)
			}
		}
	}
}

// batches tests that configurations with nearly the same batch of all workers have the same, and that equal
// batches have one learning rate.
func batches(d *Document, say sayer) {
	groups := append(d.tables(), &group{records: d.lines})
	for _, g := range groups {
		var least, most, rate, other *Figure
		products := map[*Figure]float64{}
		for _, r := range g.records {
			b, w := r.one(Batch, ""), r.workers()
			if lr := r.one(LearningRate, ""); lr != nil && g.table != nil && r.isGlobal() {
				rate, other = extremes(rate, other, lr)
			}
			hasTime := slices.ContainsFunc(r.figures, func(f *Figure) bool { return f.Kind == Time })
			if b == nil || w == nil || !hasTime || w.Value < 1 {
				continue
			}
			v := b.Value * w.Value
			products[b] = v
			if least == nil || v < products[least] {
				least = b
			}
			if most == nil || v > products[most] {
				most = b
			}
		}
		if least != nil && products[least] < products[most] && products[most] < 1.05*products[least] {
			say(Warn, "workers × batch differs by a little", fmt.Sprintf("%g and %g samples in a step",
				products[least], products[most]), least, most)
		}
		if rate != nil && rate.Value < other.Value {
			say(Warn, "one batch of all workers, and two learning rates", fmt.Sprintf("%s and %s", rate.Text,
				other.Text), rate, other)
		}
	}
}

// isGlobal reports whether a record tells its batch of all workers: of one worker, or as the product too.
func (r *recordOf) isGlobal() bool {
	w := r.workers()
	var least, most *Figure
	for _, f := range r.figures {
		if f.Kind == Batch {
			least, most = extremes(least, most, f)
		}
	}
	return w != nil && least != nil && most.Value == least.Value*w.Value
}
