package check

import "math"

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
		var losses span
		var first, last, step *Figure
		for _, f := range g.figures() {
			switch {
			case f.Kind == Loss && !f.isEnd:
				losses.add(f)
				last = f
				if first == nil {
					first = f
				}
			case f.Kind == Steps && f.over != nil:
				step = f
			}
		}
		if step != nil && step.Value < 0.9*step.over.Value && lengths[step.Value] {
			say(Warn, "a run of a part of an epoch", "%s of %s steps", step, step.over.Text)
		}
		if first == last {
			continue
		}
		ends[last.Place.Line] = losses.least
		if lo, _ := last.within(); lo > first.Value {
			say(Warn, "the loss rises", "%s to %s", first, last)
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
				say(Refuse, "an average loss far below each loss", "%s, and at least %s", f, least)
			}
		}
	}
}

// order warns of tables whose greatest loss has the best accuracy.
func order(d *Document, say sayer) {
	for _, g := range d.tables() {
		var losses, accuracies span
		accuracyOf := map[*Figure]*Figure{}
		for _, r := range g.records {
			if loss, accuracy := r.one(Loss, ""), r.one(Accuracy, ""); loss != nil && accuracy != nil {
				losses.add(loss)
				accuracies.add(accuracy)
				accuracyOf[loss] = accuracy
			}
		}
		if losses.isOver(1.05) && len(g.records) > 3 && accuracyOf[losses.most] == accuracies.most &&
			accuracies.most.Value > accuracies.least.Value+0.01 {
			say(Warn, "the greatest loss has the best accuracy", "%s and %s", losses.most, accuracies.most)
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
				say(Warn, "a loss no better than guessing", "ln %s = %s, and %s", classes,
					math.Log(classes), l)
			}
		}
	}
}
