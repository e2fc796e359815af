package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/app/record"
)

// Note is a statement a reader must know before believing a number of the report.
type Note struct {
	Kind  Kind
	Topic string   // a stable word for the rule that wrote it
	Text  string   // one or two sentences
	Rows  []string // that the text lists, with commas between; nil: it lists none

	Answer string // what would answer a refusal or a caution; empty for facts
}

// Kind says what a note does to the numbers.
type Kind uint8

// The kinds, in the order notes are shown.
const (
	Refused Kind = iota // a row failed, or a number is withheld because it would be wrong
	Caution             // a number is shown and could be misread
	Fact                // how the numbers came about
)

// String returns the kind as shown.
func (k Kind) String() string { return [...]string{"refused", "caution", "fact"}[k] }

// rule writes the notes of one topic; the topics are independent of one another.
type rule struct {
	topic  string
	kind   Kind
	write  func(r *record.Results, c *Comparison) []string
	answer string
}

// rules lists every statement the package knows how to make.
func rules() []rule {
	return []rule{
		{"seal", Refused, changed, "the file as lockstep bench wrote it"},
		{"incomplete", Refused, incomplete, "run the benchmark to its end"},
		{"failed", Refused, failed,
			"correct the cause and run those rows again"},
		{"unequal work", Refused, unequalWork,
			"give all rows the same batch, shards, steps, seed, optimizer and kernels"},
		{"unequal runs", Refused, unequalRuns, "run the row again with one configuration"},
		{"ranks disagree", Refused, rankSkew,
			"one clock for all ranks, read when the last of them has finished the step"},
		{"losses disagree", Refused, lossSkew,
			"find the rank whose weights differ: lockstep checkpoint diff compares two"},
		{"another program", Refused, otherWork, "the same network, weights and samples on both sides"},
		{"phases", Refused, phaseGap,
			"run it again; a gap that stays is time that no phase counts"},
		{"diverged", Refused, diverged,
			"a lower learning rate, a warm-up or clipping"},
		{"contention", Caution, contention,
			"as many workers × threads as there are cores"},
		{"not encrypted", Caution, inTheClear, "leave out --insecure"},
		{"budget", Caution, cutShort, "more time: lockstep bench --resume with a --budget"},
		{"one repeat", Caution, oneRepeat, "--repeats 6"},
		{"few repeats", Caution, fewRepeats, "--repeats 6, or 12 where others took cores from some of six"},
		{"precision", Caution, imprecise, "more time: lockstep bench --resume with a --budget"},
		{"noise", Caution, noise, "more repeats on an idle machine"},
		{"busy machine", Caution, busyMachine, "run it when the machine is idle"},
		{"taken cores", Caution, takenCores, "run it when the machine is idle"},
		{"short runs", Caution, unlikeShort, "more steps of all rows"},
		{"resumed", Caution, otherSittings, "one benchmark on one machine by one program"},
		{"speed of the cores", Caution, slowCores, "run it when the machine is idle, at a fixed frequency"},
		{"distance of the cores", Caution, distance,
			"cores of one cache: on the host of a virtual machine, pin its cores; or more repeats"},
		{"warm-up", Caution, warming, "more steps: --steps 100"},
		{"above 100 %", Caution, superlinear,
			"run it again; if it stays, compare the sizes of caches and of a worker's part"},
		{"copies", Caution, copiesDiffer, "more repeats: --repeats 12"},
		{"few steps", Caution, fewSteps, "--steps 20"},
		{"diverged", Caution, lossGrew, "a lower learning rate, a warm-up or clipping"},
		{"not learned", Caution, notLearned,
			"train for longer before judging accuracy or convergence"},
		{"generated data", Caution, generated, "--data with a collected set"},
		{"no exchange", Caution, noExchange, ""},
		{"ring", Caution, ring,
			"--algorithm auto for bits that do not depend on the number of workers"},
		{"mixed precision", Caution, mixedMath,
			"--seeds 1,2,3 and --eval-every 1, for accuracies to compare"},
		{"shared GPU", Caution, sharedGPU, "hosts with a GPU for each worker"},
		{"another result", Caution, anotherResult,
			"several seeds of the lossy and of the exact row"},
		{"one machine", Caution, oneMachine, "lockstep lab, or hosts of their own"},
		{"parameters", Caution, parametersDiffer,
			"lockstep checkpoint diff of two of the runs"},
		{"parameters", Fact, parametersAgree, ""},
		{"speed-up", Fact, speedup, ""},
		{"weak scaling", Fact, weakScaling, ""},
		{"serial fraction", Fact, serialFraction, ""},
		{"told apart", Fact, toldApart, ""},
		{"copies", Fact, copies, ""},
		{"first step", Fact, firstStep, ""},
		{"epoch", Fact, epochNotMeasured, ""},
		{"one bucket", Fact, oneBucket, ""},
		{"encryption", Fact, encrypted, ""},
		{"interleaved", Fact, interleaved, ""},
		{"short runs", Fact, allShort, ""},
		{"another program", Fact, sameWork, ""},
		{"other batches", Fact, repeatedBatches, ""},
		{"resumed", Fact, sittings, ""},
		{"repeated", Fact, replaced, ""},
		{"precision", Fact, precise, ""},
		{"skipped", Fact, skipped, ""},
	}
}

func notes(r *record.Results, c *Comparison) []Note {
	var out []Note
	for _, rule := range rules() {
		c.listed = nil
		for _, text := range rule.write(r, c) {
			out = append(out, Note{Kind: rule.kind, Topic: rule.topic, Text: text, Rows: c.listedIn(text),
				Answer: rule.answer})
		}
	}
	slices.SortStableFunc(out, func(a, b Note) int { return int(a.Kind) - int(b.Kind) })
	return out
}

// lines calls f for every line that has a successful run.
func (c *Comparison) lines(f func(g *Group, l *Line)) {
	for i := range c.Groups {
		for _, l := range c.Groups[i].Lines {
			if l.OK > 0 {
				f(&c.Groups[i], l)
			}
		}
	}
}

// where returns the names of the lines that satisfy is, and whether there are any. Where all
// lines of a group do, or all lines there are, it says so instead of listing them.
func (c *Comparison) where(is func(l *Line) bool) (names string, any bool) {
	var list []string
	isAll := true
	for i := range c.Groups {
		g := &c.Groups[i]
		var found []string
		total := 0
		for _, l := range g.Lines {
			if l.OK == 0 {
				continue
			}
			total++
			if is(l) {
				found = append(found, c.name(g, l))
			}
		}
		isAll = isAll && len(found) == total
		if len(found) > 1 && len(found) == total {
			found = []string{"every row of " + c.Title(g)}
		}
		list = append(list, found...)
	}
	if isAll && len(list) > 0 {
		return "every row", true
	}
	c.listed = append(c.listed, list)
	return strings.Join(list, ", "), len(list) > 0
}

// listedIn returns the longest list of [Comparison.where] that a text has; nil if it has none.
func (c *Comparison) listedIn(text string) (rows []string) {
	for _, list := range c.listed {
		if len(list) > len(rows) && strings.Contains(text, strings.Join(list, ", ")) {
			rows = list
		}
	}
	return rows
}

// name is the line's label, with its group where there are several.
func (c *Comparison) name(g *Group, l *Line) string {
	if len(c.Groups) == 1 {
		return l.Label
	}
	return c.Title(g) + " " + l.Label
}

// Title names a group by what tells it from the others: the model, and the data, the batch or the condition
// where groups share the model.
func (c *Comparison) Title(g *Group) string {
	title := g.Model
	var data, batch, condition bool
	for i := range c.Groups {
		if o := &c.Groups[i]; o.Model == g.Model {
			data = data || o.Data != g.Data
			batch = batch || o.Batch != g.Batch || o.PerWorker != g.PerWorker
			condition = condition || o.Condition != g.Condition
		}
	}
	if data {
		title += " " + g.Data
	}
	if batch {
		title += fmt.Sprintf(" batch %d", g.Batch)
		if g.PerWorker > 0 {
			title += fmt.Sprintf(", %d of each worker", g.PerWorker)
		}
	}
	if condition {
		title += ", " + cmp.Or(g.Condition, "equal workers")
	}
	return title
}

func one(format string, args ...any) []string { return []string{fmt.Sprintf(format, args...)} }

func percent(v float64) string {
	if math.Abs(v) < 0.0995 {
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}
