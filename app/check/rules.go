package check

// sayer takes an objection of a rule, with the figures that it is about.
type sayer func(severity Severity, text, arithmetic string, figures ...*Figure)

// rule is a relation among figures, with what would answer an objection.
type rule struct {
	name, remedy string
	test         func(d *Document, say sayer)
}

// rules lists all relations in the order in which objections are shown.
func rules() []rule {
	more := "the times of both rows, taken over the same work"
	repeat := "several runs of each row, in turn, with their spread"
	model := "the serial fraction measured at the largest number of workers that was run"
	return []rule{
		{"unlabelled rows", "a column for each setting that differs", unlabelled},
		{"unequal work", "the same epochs in every row, or time per epoch", epochsOf},
		{"unequal work", "the same global batch in every row", products},
		{"learning rate", "one learning rate for one global batch", learning},
		{"speed-up", more, speedups},
		{"speed-up", more, sides},
		{"efficiency", "speed-up / workers, both from the same row", efficiencies},
		{"above linear", "a measurement of the reason, such as cache misses", superlinear},
		{"Amdahl", model, amdahl},
		{"projection", "a measurement, or the word projected beside every such figure", guessed},
		{"projection", model, projections},
		{"sum", "all parts, of the same steps as the whole", sums},
		{"cost", "price × workers × time of the same run", costs},
		{"percentage", "the count divided by the total", fractions},
		{"rate", "samples / time of the same steps", rates},
		{"stated twice", "one value, or what tells the two apart", twice},
		{"ranks disagree", "one clock for all ranks, read when the last has finished the step", ranks},
		{"ranks disagree", "the waiting time of every rank", slowRank},
		{"loss", "the losses that the average is of, with their number", losses},
		{"loss at chance", "a loss well below that of guessing, and the accuracy", chance},
		{"loss and accuracy", "both of the same epoch and test set", order},
		{"even", "the range", uneven},
		{"bottleneck", "a run with a faster network", bottleneck},
		{"fastest", "the setting with the least time", fastest},
		{"linear", "the efficiency in place of the word", linear},
		{"unsupported", "the measurement that it follows from", supported},
		{"left out", "all runs of that kind", listing},
		{"share", "all shares of the whole", rests},
		{"part of an epoch", "the number of steps in place of the epoch", whole},
		{"compression", "bytes sent per item, and the number of workers", packed},
		{"one run", repeat, runsOnce},
		{"cores", "as many workers as there are cores", crowded},
	}
}
