package report

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/internal/spelling"
)

// rawLine is a row with the samples behind its numbers.
type rawLine struct {
	ID, Title string
	Table     table
	Steps     []rawSteps
}

// rawSteps are the step times of one run as text.
type rawSteps struct{ Title, Values string }

// A page holds so many step times of a run at most, and of all runs together if that leaves each enough of
// them to see how it began; results.json has all.
const (
	mostSteps  = 2000
	leastSteps = 50
	mostOfAll  = 40000
)

// stepsShown returns how many step times of each run a page of so many runs holds.
func stepsShown(runs int) int { return min(mostSteps, max(leastSteps, mostOfAll/max(1, runs))) }

// rawLines lists the runs of every row of a section, with the first step times of each, at most so many.
func rawLines(s *section, most int) []rawLine {
	var out []rawLine
	for _, v := range s.lines {
		one := rawLine{ID: v.raw, Title: s.Title + ": " + v.key + "  " + v.Label,
			Table: table{Name: "Runs of " + v.Label, Head: runHead()}}
		for _, run := range v.Runs() {
			one.Table.Rows = append(one.Table.Rows, v.runRow(run))
			one.Steps = append(one.Steps, stepTexts(run, most))
		}
		for i, text := range v.Failures {
			one.Table.Rows = append(one.Table.Rows, row{Cells: []cell{{Text: fmt.Sprintf("failed %d", i+1)},
				{Text: text, Span: len(one.Table.Head) - 1}}})
		}
		out = append(out, one)
	}
	return out
}

// runHead is the head of the table of runs.
func runHead() []heading {
	return []heading{{"round", ""}, {"seed", ""}, {"step", "ms"}, {"first step", "ms"}, {"samples/s", ""},
		{"total", "s"}, {"loss", "last"}, {"accuracy", "test"}, {"sent", ""}, {"parameters", "SHA-256"},
		{"cores taken", ""}}
}

// runRow is the row of a run in the table of runs.
func (v *lineView) runRow(run compare.RunLine) row {
	accuracy, taken, hash := dash, compare.TakenText(run.Taken), run.ParameterSHA256
	if run.TestAccuracy != nil {
		accuracy = percent(*run.TestAccuracy)
	}
	if taken != "" {
		taken = percent(run.Taken.Stolen+run.Taken.Others) + ", left out"
	}
	seed := run.Seed
	if seed == 0 {
		seed = v.Setting.Seed
	}
	return row{Cells: []cell{{Text: fmt.Sprint(run.Round + 1)}, {Text: fmt.Sprint(seed)},
		{Text: digits(1e3*run.Step, 5)}, {Text: digits(1e3*run.First, 4)}, {Text: digits(run.PerSecond, 4)},
		{Text: digits(run.Seconds, 4)}, {Text: fixed(run.LossLast, 4)}, {Text: accuracy},
		{Text: byteCount(float64(run.BytesSent))}, {Text: orDash(hash[:min(10, len(hash))]), Code: hash},
		{Text: orDash(taken)}}}
}

// stepTexts lists the step times of a run in milliseconds, at most so many.
func stepTexts(run compare.RunLine, most int) rawSteps {
	times := run.Times[:min(len(run.Times), most)]
	var texts []string
	for _, t := range times {
		texts = append(texts, digits(1e3*t, 4))
	}
	title := fmt.Sprintf("Round %d, %s, ms", run.Round+1, spelling.Count(len(run.Times), "step"))
	if len(times) < len(run.Times) {
		title += fmt.Sprintf(": the first %d; results.json has all", most)
	}
	return rawSteps{title, strings.Join(slices.Clip(texts), " ")}
}
