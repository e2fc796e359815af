package check

import (
	"fmt"
	"slices"
)

// logs tests the moments of one run: the losses, and how far it went.
func logs(d *Document, say sayer) {
	ends := map[int]*Figure{}     // least loss, by the last line of a log
	lengths := map[float64]bool{} // in steps, that the document tells
	for _, f := range d.Figures {
		lengths[f.Value] = lengths[f.Value] || f.Kind == Steps && f.over == nil && !f.isEnd
	}
	for _, g := range d.groups {
		if g.table == nil || !g.table.isLog {
			continue
		}
		var losses []*Figure
		var least, most, step *Figure
		for _, f := range g.figures() {
			switch {
			case f.Kind == Loss && !f.isEnd:
				losses = append(losses, f)
				least, most = extremes(least, most, f)
			case f.Kind == Steps && f.over != nil:
				step = f
			}
		}
		if step != nil && step.Value < 0.9*step.over.Value && lengths[step.Value] {
			say(Warn, "a run of a part of an epoch", fmt.Sprintf("%s of %s steps", step.Text, step.over.Text),
				step)
		}
		if len(losses) < 2 {
			continue
		}
		first, last := losses[0], losses[len(losses)-1]
		ends[last.Place.Line] = least
		if lo, _ := last.within(); lo > first.Value {
			say(Warn, "the loss rises", fmt.Sprintf("%s to %s", first.Text, last.Text), first, last)
		}
	}
	averages(d, ends, say)
}

// averages tests the average loss behind a log against its least loss, which ends has by the log's last line.
func averages(d *Document, ends map[int]*Figure, say sayer) {
	const near = 8 // lines from a log to its average
	for _, f := range d.Figures {
		if f.Kind != Loss || !mentions(f.Row+" "+f.Column, "average", "avg", "mean") {
			continue
		}
		for line := f.Place.Line - near; line < f.Place.Line; line++ {
			if least := ends[line]; least != nil && f.Value < 0.7*least.Value {
				say(Refuse, "an average loss far below each loss", fmt.Sprintf("%s, and at least %s", f.Text,
					least.Text), f, least)
			}
		}
	}
}

// order warns of tables whose greatest loss has the best accuracy.
func order(d *Document, say sayer) {
	for _, g := range d.tables() {
		var least, most, low, high *Figure
		worst, best := -1, -2
		for i, r := range g.records {
			loss, accuracy := r.one(Loss, ""), r.one(Accuracy, "")
			if loss == nil || accuracy == nil {
				continue
			}
			if least, most = extremes(least, most, loss); most == loss {
				worst = i
			}
			if low, high = extremes(low, high, accuracy); high == accuracy {
				best = i
			}
		}
		if worst == best && len(g.records) > 3 && most.Value > 1.05*least.Value &&
			high.Value > low.Value+0.01 {
			say(Warn, "the greatest loss has the best accuracy", fmt.Sprintf("%s and %s", most.Text,
				high.Text), most, high)
		}
	}
}

// untold warns of figures per worker in a document that counts no workers.
func untold(d *Document, say sayer) {
	if slices.ContainsFunc(d.Figures, func(f *Figure) bool { return f.Kind == Workers || f.Kind == Name }) {
		return
	}
	for _, l := range d.lines {
		for _, f := range l.figures {
			if mentions(around(l.label, f), "worker", "node", "gpu", "rank") && f.digits() >= 2 {
				say(Warn, "figures of a worker, and no number of workers", f.Text, f)
				return
			}
		}
	}
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
		if len(shares) != 2 || !mentions(l.label, "computation", "compute") ||
			!mentions(l.label, "communication", "comm") {
			continue
		}
		if sum := shares[0].Value + shares[1].Value; sum < 0.9 {
			say(Warn, "part of the whole is in none of its parts", fmt.Sprintf("%s + %s = %s", shares[0].Text,
				shares[1].Text, percent(sum)), shares...)
		}
	}
}
