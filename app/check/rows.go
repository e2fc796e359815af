package check

import (
	"fmt"
	"math"
	"slices"
)

// unlabelled refuses tables whose rows all have one label and differ in what they measure.
func unlabelled(d *Document, say sayer) {
	for _, g := range d.tables() {
		first := g.records[0]
		isOther := func(r *recordOf) bool { return r.label != first.label }
		if g.table.isAside || len(g.records) < 3 || first.label == "" || slices.ContainsFunc(g.records,
			isOther) {
			continue
		}
		for _, r := range g.records[1:] {
			a, b := first.one(Time, Total), r.one(Time, Total)
			if a != nil && b != nil && math.Abs(math.Log(a.Value/b.Value)) > 0.2 {
				say(Refuse, fmt.Sprintf("rows told apart by nothing: all %d are %q", len(g.records),
					first.label),
					fmt.Sprintf("%s and %s have one label", a.Text, b.Text), a, b)
				break
			}
		}
	}
}

// mixed warns of tables that call some of their figures projected, and others not.
func mixed(d *Document, say sayer) {
	for _, g := range d.tables() {
		var guess, measured *Figure
		for _, f := range g.figures() {
			switch {
			case isSetting(f.Kind) || f.Kind == Unknown || f.digits() < 2:
			case f.isGuess && guess == nil:
				guess = f
			case !f.isGuess && measured == nil:
				measured = f
			}
		}
		if guess != nil && measured != nil && !isGuessed(g.section) {
			say(Warn, "a projection among measurements", fmt.Sprintf("%s is projected, %s is not",
				guess.Text, measured.Text), guess, measured)
		}
	}
}

// ranks tests what the ranks of one synchronous job say.
func ranks(d *Document, say sayer) {
	for _, g := range d.groups {
		var least, most, few, many *Figure
		for _, r := range g.records {
			if r.rank == nil || d.says("async", "local sgd") {
				continue
			}
			if t := r.one(Time, Step); t != nil {
				least, most = extremes(least, most, t)
			}
			for _, f := range r.figures {
				if f.over != nil && f.Kind == Count {
					few, many = extremes(few, many, f)
				}
			}
		}
		if least != nil && most.Value > 1.1*least.Value {
			say(Refuse, "ranks of one synchronous job have step times of their own", fmt.Sprintf("%s "+
				"/ %s = %s",
				most.Text, least.Text, num(most.Value/least.Value)), least, most)
		}
		if few != nil && few.Value != many.Value && few.over.Value == many.over.Value {
			say(Refuse, "replicas of one model answer differently", fmt.Sprintf("%s and %s of %s",
				few.Text, many.Text, few.over.Text), few, many)
		}
	}
}

// chance warns of losses that are those of guessing among the classes of the data set: of logs the last one.
func chance(d *Document, say sayer) {
	classes, from, to := d.guessed()
	for _, g := range d.groups {
		isLog := g.table != nil && g.table.isLog
		for i, r := range g.records {
			l := r.one(Loss, "")
			if l != nil && l.Value > from && l.Value < to && (!isLog || i == len(g.records)-1) {
				say(Warn, "a loss no better than guessing", fmt.Sprintf("ln %g = %s, and %s", classes,
					num(math.Log(classes)), l.Text), l)
			}
		}
	}
}

// runsOnce warns of comparisons in which nothing is repeated.
func runsOnce(d *Document, say sayer) {
	if d.repeated {
		return
	}
	var times []*Figure
	for _, f := range d.Figures {
		if (f.Kind == Time && f.Scope != Part || f.Kind == Rate) && f.digits() >= 2 && f.Value > 0 &&
			!f.isGuess {
			times = append(times, f)
		}
	}
	if len(times) >= 2 {
		say(Warn, "one run each: nothing tells how much runs of one configuration differ",
			fmt.Sprintf("%s and %s, each once", times[0].Text, times[1].Text), times[0], times[1])
	}
}
