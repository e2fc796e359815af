package check

import (
	"math"
	"slices"
	"strings"
)

// sayer takes an objection of a rule. Figures among the arguments of its arithmetic are its places.
type sayer func(severity Severity, text, arithmetic string, args ...any)

// rule is a relation among figures, with what would answer an objection.
type rule struct {
	name, remedy string
	test         func(d *Document, say sayer)
}

// rules lists all relations in the order in which objections are shown.
func rules() []rule {
	total, epoch := quantity{Time, Total}, quantity{Time, Epoch}
	workers, speedup := quantity{kind: Workers}, quantity{kind: Speedup}
	return []rule{
		{"unlabelled rows", "a column for each setting that differs", unlabelled},
		{"unequal work", "the same epochs in every row, or time per epoch", unequal},
		{"unequal work", "the total of all epochs", equation{Refuse, "the epochs take longer than the total",
			"×", true, []quantity{total, {kind: Epochs}, epoch}}.test},
		{"speed-up", "the times of both rows, taken over the same work", speedups},
		{"speed-up", "the times of both sides, taken over the same work", sides},
		{"efficiency", "speed-up / workers, both from the same row", equation{Refuse,
			"an efficiency is not its speed-up per worker", "/", false,
			[]quantity{{kind: Efficiency}, speedup, workers}}.test},
		{"above linear", "a measurement of the reason, such as cache misses", equation{Warn,
			"a speed-up of more than its workers", "", true, []quantity{workers, speedup}}.test},
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
		{"cost", "price × workers × time of the same run", equation{Refuse,
			"a cost is not price × workers × time", "×", false,
			[]quantity{{kind: Cost}, {kind: Price}, workers, total}}.test},
		{"percentage", "the count divided by the total", fractions},
		{"rate", "samples / time of the same steps", equation{Refuse, "a rate is not its count per time",
			"/", false, []quantity{{kind: Rate}, {kind: Count}, total}}.test},
		{"ranks disagree", "one clock for all ranks, read when the last has finished the step", ranks},
		{"loss at chance", "a loss well below that of guessing, and the accuracy", chance},
		{"one run", "several runs of each row, in turn, with their spread", runsOnce},
		{"cores", "as many workers as there are cores", equation{Warn, "more workers than cores", "", true,
			[]quantity{{kind: Cores}, workers}}.test},
	}
}

// quantity is a kind of figure, of a scope where it is a time.
type quantity struct {
	kind  Kind
	scope Scope
}

// equation is a relation among the figures of one row or line: the first quantity is the product of the
// others, or the quotient of two.
type equation struct {
	severity Severity
	text     string
	sign     string // between the others
	isLeast  bool   // the first may be more
	of       []quantity
}

// figures returns the figures of a record that an equation is about, or nil.
func (e equation) figures(d *Document, r *recordOf) (out []*Figure) {
	for _, q := range e.of {
		f := r.one(q.kind, q.scope)
		switch {
		case q.kind == Price:
			f = d.price
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

func (e equation) test(d *Document, say sayer) {
	for _, r := range d.rows() {
		figures := e.figures(d, r)
		if figures == nil {
			continue
		}
		first, others := figures[0], figures[1:]
		value, low, high := 1.0, 1.0, 1.0
		var args []any
		for i, f := range others {
			v, lo, hi := f.Value, 0.0, 0.0
			if lo, hi = f.within(); i > 0 && e.sign == "/" {
				v, lo, hi = 1/v, 1/hi, 1/lo
			}
			value, low, high = value*v, low*lo, high*hi
			args = append(args, f)
		}
		near, scale, relation := 0.02, 1.0, "not"
		switch {
		case first.Kind == Efficiency: // may be against the fewest workers
			scale = r.in.fewest()
		case first.Kind == Cost: // the price may be of all workers
			scale = 1 / others[1].Value
		case first.Kind == Workers:
			near = 0
		}
		_, most := first.within()
		if e.isLeast {
			relation = "more than"
		}
		if first.overlaps(low*(1-near), high*(1+near)) || e.isLeast && most >= low ||
			first.overlaps(low*scale*(1-near), high*scale*(1+near)) {
			continue
		}
		how := strings.Join(slices.Repeat([]string{"%s"}, len(others)), " "+e.sign+" ")
		if first.Kind == Efficiency && scale > 1 {
			how, value = how+" × "+num(scale), value*scale
		}
		if len(others) > 1 {
			how += " = %s"
			args = append(args, first.print(value))
		}
		say(e.severity, e.text, how+", "+relation+" %s", append(args, first)...)
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
