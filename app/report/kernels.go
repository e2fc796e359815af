package report

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/finding"
	"lockstep/app/evidence/stat"
	"lockstep/internal/regular"
	"lockstep/internal/spelling"
)

// WriteKernels writes k as results.json, report.md and report.html into folder. Each file appears complete or
// not at all.
func WriteKernels(folder string, k *compare.Kernels) error {
	text, err := json.Marshal(k)
	if err == nil {
		err = regular.Write(filepath.Join(folder, ResultsFile), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return Kernels(k, false).Write(folder)
}

// Kernels lays out the report of timed kernels: where a step goes, then, unless only the summary is wanted,
// every op.
func Kernels(k *compare.Kernels, isSummary bool) *Report {
	p := page{Kind: "report of kernels", Title: kernelsTitle(k), Lede: kernelsLimits(k),
		Source: "results.json", Command: spelling.Line(k.Command...), Sections: []section{kernelSummary(k)}}
	sum, least := compare.Total(k.Layers)
	p.Answer.Text = fmt.Sprintf("A step takes %s ms; its ops add up to %s ms, to %s ms if none took "+
		"longer than its bound.", millis(stat.Median(k.StepSeconds)), millis(sum), millis(least))
	var notes []note
	for _, text := range kernelsCautions(k) {
		notes = append(notes, noteOf(finding.Caution, unsorted, text))
	}
	p.note(notes)
	if !isSummary {
		p.Sections = append(p.Sections, timingSection("ops", "Every op of a training step, in order, in "+
			"place", k.Layers))
	}
	machine := append(hostPairs(k.Host), pair{"started", moment(k.Started)})
	if k.GPU != nil {
		machine = append(machine, pair{"libraries", strings.Join(k.GPU.Libraries, ", ")})
	}
	p.Parts = present(part{ID: "machine", Title: "Machine", Pairs: machine})
	return &Report{p}
}

// kernelsLegend says how to read the columns.
const kernelsLegend = "GFLOP/s are nominal, as if every product were computed: convolutions that compute " +
	"fewer may exceed the peak. GB/s count every operand once. The bound is the time that the nearer limit " +
	"allows; lost is what a call takes beyond it."

func kernelsTitle(k *compare.Kernels) string {
	model := k.Model
	if k.Size > 0 {
		model = fmt.Sprintf("%s on images of %dx%d pixels", k.Model, k.Size, k.Size)
	}
	computes := spelling.Count(k.Threads, "thread") + ", " + k.ISA
	if k.GPU != nil {
		computes = k.GPU.Name
	}
	return fmt.Sprintf("%s, batch %d, %s, math %s: medians of %d", model, k.Batch, computes, k.Math,
		k.Repeats)
}

func kernelsLimits(k *compare.Kernels) string {
	var parts []string
	for i, b := range k.Bandwidth {
		if i%2 == 0 || i == len(k.Bandwidth)-1 {
			parts = append(parts, fmt.Sprintf("%s %s", wholeSize(b.Bytes), giga(b.PerSecond)))
		}
	}
	products := ""
	if k.PartsFLOPs > 0 {
		products = fmt.Sprintf(", %s in products of %s", giga(k.PartsFLOPs), k.Math)
	}
	return fmt.Sprintf("Limits measured here: %s GFLOP/s%s; GB/s by working set: %s.",
		giga(k.PeakFLOPs), products, strings.Join(parts, ", "))
}

// kernelsCautions says what makes times longer than the kernels are.
func kernelsCautions(k *compare.Kernels) (cautions []string) {
	if taken := takenText(k.Taken); taken != "" {
		cautions = append(cautions, taken+"; measure again when the machine is idle.")
	}
	sum, _ := compare.Total(k.Layers)
	if step := stat.Median(k.StepSeconds); sum > 0 && step > steadyStep*sum {
		cautions = append(cautions, fmt.Sprintf("A step took %.1f times as long as its ops, which "+
			"are timed in other steps: the two were not disturbed alike.", step/sum))
	}
	return cautions
}

// furthest is how many timings are named as the furthest from their bounds.
const furthest = 3

// steadyStep bounds a step over the sum of its ops.
const steadyStep = 1.25

// kernelSummary says where the time of a step goes, and which ops lose most of it.
func kernelSummary(k *compare.Kernels) section {
	type work = compare.Work
	sum, _ := compare.Total(k.Layers)
	s := section{ID: "kinds", Title: "Where a step goes, by kind of op, most lost first",
		Work: kernelsLegend}
	for i, t := range compare.Furthest(k.Layers, furthest) {
		s.Findings = append(s.Findings, fmt.Sprintf("Furthest from its bound, %d: %s, %s: %s ms lost of %s "+
			"ms.", i+1, joined(" ", t.Op, t.Layer), t.Shape, exactMillis(t.Lost()), exactMillis(t.Median)))
	}
	t := tableOf(s.Title, compare.ByKind(k.Layers),
		col("kind", "", func(w work) string { return w.Kind }),
		col("calls", "", func(w work) string { return fmt.Sprint(w.Calls) }),
		col("ms", "", func(w work) string { return exactMillis(w.Median) }),
		col("of all ops", "", func(w work) string { return percent(w.Median / sum) }),
		col("bound ms", "", func(w work) string { return exactMillis(w.Bound) }),
		col("of bound", "", func(w work) string { return percent(w.Bound / w.Median) }),
		col("lost ms", "", func(w work) string { return exactMillis(w.Lost) }),
		col("lost of all ops", "", func(w work) string { return percent(w.Lost / sum) }))
	s.Tables = []block{{Table: t, IsOpen: true}}
	return s
}

// timingSection has the table of timings. Kernels by themselves belong to no layer and have no such column.
func timingSection(id, title string, list []compare.Timing) section {
	type timing = compare.Timing
	t := tableOf(title, list,
		col("op", "", func(t timing) string { return t.Op }),
		col("layer", "", func(t timing) string { return orDash(t.Layer) }),
		col("shape", "", func(t timing) string { return t.Shape }),
		col("ms", "", func(t timing) string { return exactMillis(t.Median) }),
		col("GFLOP/s", "", func(t timing) string { return giga(t.FLOPsPerSecond) }),
		col("of peak", "", func(t timing) string { return percent(t.OfPeak) }),
		col("GB/s", "", func(t timing) string { return giga(t.BytesPerSecond) }),
		col("of bandwidth", "", func(t timing) string { return percent(t.OfBandwidth) }),
		col("bound by", "", func(t timing) string { return t.BoundBy }),
		col("bound ms", "", func(t timing) string { return exactMillis(t.Bound) }),
		col("of bound", "", func(t timing) string { return percent(t.OfBound) }))
	return section{ID: id, Title: title, Tables: []block{{Table: t, IsOpen: true}}}
}

// exactMillis formats seconds as milliseconds down to a tenth of a microsecond.
func exactMillis(seconds float64) string { return fixed(1e3*seconds, 4) }

func giga(v float64) string { return digits(v/1e9, 3) }
