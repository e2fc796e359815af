package claim

import (
	"fmt"

	"lockstep/app/analysis"
)

// Severity says what an objection does to a document.
type Severity string

// The severities.
const (
	Refused Severity = "refused" // a statement or figure is wrong, or nothing in the document carries it
	Noted   Severity = "note"    // a figure may stand and could be misread
)

// Objection is what a rule has against a table or a sentence.
type Objection struct {
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"`   // a stable word
	Where    string   `json:"where"`  // table and row, or the sentence
	Text     string   `json:"text"`   // what is wrong, with the arithmetic
	Answer   string   `json:"answer"` // what would answer it
}

// rule is one reason to object to a table.
type rule struct {
	name, answer string
	write        func(t *table, say sayer)
}

// sayer takes an objection of a rule. where is empty for the whole table.
type sayer func(severity Severity, where, format string, args ...any)

// rules lists what is asked of every table, in the order in which objections are shown.
func rules() []rule {
	return []rule{
		{"out of range", "the figure as the run printed it, or an empty cell", outOfRange},
		{"interval", "the lower end first, and the interval of the figure that it stands beside", intervals},
		{"unlabelled rows", "a column for each setting that differs, or one name per row", unlabelled},
		{"unequal work", "the same samples, batch and epochs in every row, or samples per second beside each",
			unequalWork},
		{"total mixed with epoch",
			"total and epoch of the same runs, with the number of epochs; one of them for every ratio",
			totalAndEpoch},
		{"ranks disagree", "one clock for all ranks, read when the last of them has finished the step",
			ranks},
		{"wrong denominators", "the figures divided, with the row and the column that they are from",
			denominators},
		{"phases", "phases of the same steps as their whole", phases},
		{"projections", "a column source with measured or projected in every row, and a run in place of " +
			"each projection that is compared", projected},
		{"Amdahl", "the serial fraction measured at the largest number of workers that was run",
			amdahlFigures},
		{"above 100 %", "a measurement of the reason, such as cache misses, and the same row again",
			superlinear},
		{"contention", "as many workers × threads as there are cores, or no speed-up", contention},
		{"cores", "the cores that the machine has, and those that the run was given", countedCores},
		{"equal parameters", "the accuracies that the runs printed beside these hashes", otherAccuracies},
		{"loss at chance", "a loss well below that of guessing, and the accuracy", chance},
		{"one repeat", "six or more runs of each row, in turn with those it is compared with", repeated},
		{"winner", "more runs, in turn, until the whole interval of the ratio is more than " +
			analysis.Least() + " from 1", winners},
	}
}

// judge applies every rule to a table.
func (t *table) judge() []Objection {
	var out []Objection
	for _, r := range rules() {
		r.write(t, func(severity Severity, where, format string, args ...any) {
			place := fmt.Sprintf("table %d", t.number)
			if where != "" {
				place += ", " + where
			}
			out = append(out, Objection{severity, r.name, place, fmt.Sprintf(format, args...), r.answer})
		})
	}
	return out
}
