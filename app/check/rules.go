package check

import (
	"fmt"
	"math"
	"strings"
)

// sayer takes an objection of a rule, with the figures that it is about.
type sayer func(severity Severity, text, arithmetic string, figures ...*Figure)

// rule is a relation among figures, with what would answer an objection.
type rule struct {
	name, remedy string
	test         func(d *Document, say sayer)
}

// rules lists all relations in the order in which objections are shown.
func rules() []rule {
	return []rule{
		{"unlabelled rows", "a column for each setting that differs", unlabelled},
		{"unequal work", "the same epochs in every row, or time per epoch", unequal},
		{"unequal work", "the total of all epochs", equation{Refuse, "the epochs take longer than the " +
			"total",
			[]quantity{{Time, Total}, {Epochs, ""}, {Time, Epoch}}, "%s × %s",
			func(v []float64) []float64 { return []float64{v[0] * v[1]} }, true}.test},
		{"speed-up", "the times of both rows, taken over the same work", speedups},
		{"speed-up", "the times of both sides, taken over the same work", sides},
		{"efficiency", "speed-up / workers, both from the same row", equation{Refuse,
			"an efficiency is not its speed-up per worker",
			[]quantity{{Efficiency, ""}, {Speedup, ""}, {Workers, ""}}, "%s / %s",
			func(v []float64) []float64 { return []float64{v[0] / v[1]} }, false}.test},
		{"above linear", "a measurement of the reason, such as cache misses", equation{Warn,
			"a speed-up of more than its workers", []quantity{{Workers, ""}, {Speedup, ""}}, "%s",
			func(v []float64) []float64 { return v }, true}.test},
		{"above linear", "a measurement of the reason, such as cache misses", beyond},
		{"stated twice", "one value, or what tells the two apart", twice},
		{"rate", "samples / time of the same steps", pace},
		{"unequal work", "the same batch and learning rate on both sides", batches},
		{"projection", "measurements of the larger numbers of workers", extrapolated},
		{"loss", "the loss of every step, and which of them its average is of", logs},
		{"loss", "why, or both figures of one moment", order},
		{"sum", "what the rest is", rest},
		{"workers", "the number of workers", untold},
		{"law", "the serial fraction measured at the largest number of workers that was run", laws},
		{"projection", "a measurement, or a table of its own", mixed},
		{"sum", "all parts, of the same steps as the whole", sums},
		{"cost", "price × workers × time of the same run", equation{Refuse, "a cost is not price × " +
			"workers × time",
			[]quantity{{Cost, ""}, {Price, ""}, {Workers, ""}, {Time, Total}}, "%s × %s × %s",
			func(v []float64) []float64 { return []float64{v[0] * v[1] * v[2], v[0] * v[2]} }, false}.test},
		{"percentage", "the count divided by the total", fractions},
		{"rate", "samples / time of the same steps", equation{Refuse, "a rate is not its count per time",
			[]quantity{{Rate, ""}, {Count, ""}, {Time, Total}}, "%s / %s",
			func(v []float64) []float64 { return []float64{v[0] / v[1]} }, false}.test},
		{"ranks disagree", "one clock for all ranks, read when the last has finished the step", ranks},
		{"loss at chance", "a loss well below that of guessing, and the accuracy", chance},
		{"one run", "several runs of each row, in turn, with their spread", runsOnce},
		{"cores", "as many workers as there are cores", equation{Warn, "more workers than cores",
			[]quantity{{Cores, ""}, {Workers, ""}}, "%s", func(v []float64) []float64 { return v },
			true}.test},
	}
}

// quantity is a kind of figure, of a scope where it is a time.
type quantity struct {
	kind  Kind
	scope Scope
}

// equation is a relation among the figures of one row or line: the first quantity is what the others give.
type equation struct {
	severity Severity
	text     string
	of       []quantity
	how      string                      // the arithmetic, of the others
	give     func(v []float64) []float64 // one of these values
	isLeast  bool                        // the first may be more
}

// figures returns the figures of a record that an equation is about, or nil.
func (e equation) figures(d *Document, r *recordOf) []*Figure {
	var out []*Figure
	for _, q := range e.of {
		f := r.one(q.kind, q.scope)
		switch {
		case q.kind == Price:
			f = d.price
		case q.kind == Workers:
			f = r.workers()
		case f == nil && q.scope == Total:
			f = r.one(Time, "")
		case q.kind == Count && r.in.table != nil:
			return nil // a row's count may be of one epoch, or of the data set
		}
		isAlone := q.kind == Workers && f != nil && f.Value < 2 && e.of[0].kind != Cost
		if f == nil || f.Value <= 0 || isAlone || q.kind == Workers && f.Value != math.Trunc(f.Value) {
			return nil
		}
		out = append(out, f)
	}
	return out
}

// fewest returns the least number of workers in a table, against which its speed-ups may be.
func (g *group) fewest() float64 {
	var least, most *Figure
	for _, r := range g.records {
		if w := r.workers(); w != nil && g.table != nil {
			least, most = extremes(least, most, w)
		}
	}
	if least == nil || least == most {
		return 1
	}
	return least.Value
}

func (e equation) test(d *Document, say sayer) {
	for _, r := range d.rows() {
		figures := e.figures(d, r)
		if figures == nil {
			continue
		}
		n := len(figures) - 1
		value, low, high := make([]float64, n), make([]float64, n), make([]float64, n)
		texts := make([]any, n)
		for i, f := range figures[1:] {
			low[i], high[i] = f.within()
			value[i], texts[i] = f.Value, f.Text
		}
		if strings.Contains(e.how, "/") { // the last divides
			low[n-1], high[n-1] = high[n-1], low[n-1]
		}
		scale, isRight := 1.0, false
		if e.of[0].kind == Efficiency {
			scale = r.in.fewest()
		}
		least, most := e.give(low), e.give(high)
		for i := range least {
			_, hi := figures[0].within()
			near := 0.02
			if e.of[0].kind == Workers {
				near = 0
			}
			isRight = isRight || figures[0].overlaps(least[i]*(1-near), most[i]*(1+near)) || e.isLeast &&
				hi >= least[i] || figures[0].overlaps(least[i]*scale*(1-near), most[i]*scale*(1+near))
		}
		relation := "not"
		if e.isLeast {
			relation = "more than"
		}
		if !isRight {
			how := fmt.Sprintf(e.how, texts...)
			if n > 1 {
				how += " = " + figures[0].print(e.give(value)[0]*scale)
			}
			say(e.severity, e.text, fmt.Sprintf("%s, %s %s", how, relation, figures[0].Text), figures...)
		}
	}
}

// print writes a value as one of the kind of f.
func (f *Figure) print(v float64) string {
	switch f.Kind {
	case Share, Efficiency, Accuracy, Change:
		return percent(v)
	case Time:
		return num(v) + " s"
	}
	return num(v)
}
