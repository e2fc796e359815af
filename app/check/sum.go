package check

import (
	"math"
	"slices"
	"strings"
)

// sums tests parts of a step against the total behind them, in the columns of tables and in lists of lines.
func sums(d *Document, say sayer) {
	for _, g := range d.groups {
		lists := map[string][]*Figure{}
		for _, f := range g.figures() {
			key := f.Column + "\x00" + string(f.Kind)
			l := lists[key]
			if len(l) > 0 && l[len(l)-1].Place.Line == f.Place.Line || f.Row == "" || f.isEnd {
				continue
			}
			var labels []string
			for _, p := range l {
				labels = append(labels, p.Row)
			}
			words := wordsOf(withoutBrackets(f.Row))
			isTotal := len(words) > 0 && len(words) <= 2 && words[0] == "total"
			if isTotal && len(l) >= 3 && isParts(labels) {
				sum(say, l, f)
			}
			lists[key] = append(l, f)
		}
	}
}

// isParts reports whether most labels are phases of a step.
func isParts(labels []string) bool {
	n := 0
	for _, label := range labels {
		if k, s := meaning(wordsOf(withoutBrackets(label))); s == Part && (k == Unknown || k == Steps ||
			k == Share) {
			n++
		}
	}
	return n > 1 && 2*n >= len(labels)
}

// sum tests parts against a whole of the same kind.
func sum(say sayer, parts []*Figure, whole *Figure) {
	total, slack := 0.0, 2*whole.Half+0.01*whole.Value
	var args []any
	for _, p := range parts {
		total, slack, args = total+p.Value, slack+2*p.Half, append(args, p)
	}
	isSummed := slices.Contains([]Kind{Time, Share, Cost, Size}, whole.Kind)
	if !isSummed || math.Abs(total-whole.Value) <= slack {
		return
	}
	severity, text := Refuse, "parts do not add up to their whole"
	if total < whole.Value && whole.Kind != Share {
		severity, text = Warn, "part of the whole is in none of its parts"
	}
	how := strings.Join(slices.Repeat([]string{"%s"}, len(parts)), " + ")
	say(severity, text, how+" = %s, not %s", append(args, whole.print(total), whole)...)
}

// rest warns of shares of computation and communication on one line that leave a rest.
func rest(d *Document, say sayer) {
	for _, l := range d.lines {
		var shares []*Figure
		for _, f := range l.figures {
			if f.Unit == "%" && !f.isSigned {
				shares = append(shares, f)
			}
		}
		isAll := mentions(l.label, "computation", "compute") && mentions(l.label, "communication", "comm")
		if len(shares) != 2 || !isAll {
			continue
		}
		if sum := shares[0].Value + shares[1].Value; sum < 0.9 {
			say(Warn, "part of the whole is in none of its parts", "%s + %s = %s", shares[0], shares[1],
				percent(sum))
		}
	}
}

// fractions tests count / total against the percentage right behind it.
func fractions(d *Document, say sayer) {
	for i, f := range d.Figures {
		if f.over == nil || f.Half != 0.5 || f.over.Half != 0.5 || i+2 >= len(d.Figures) {
			continue
		}
		p := d.Figures[i+2] // behind the total
		gap := p.Place.Column - f.over.Place.Column - len(f.over.Text)
		isBeside := p.Place.Line == f.Place.Line && p.Unit == "%" && !p.isSigned && gap <= 4
		if v := f.Value / f.over.Value; isBeside && !p.overlaps(v, v) {
			say(Refuse, "a percentage is not that of the count beside it", "%s / %s = %s, not %s", f,
				f.over.Text, percent(v), p)
		}
	}
}
