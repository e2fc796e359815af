package report

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
	"lockstep/internal/spelling"
)

// WriteKernels writes k as results.json and report.md into folder. Each file appears complete or not
// at all.
func WriteKernels(folder string, k *compare.Kernels) error {
	for _, file := range []struct {
		name   string
		render func(io.Writer, *compare.Kernels) error
	}{{ResultsFile, compare.EncodeKernels}, {MarkdownFile, KernelsMarkdown}} {
		var b bytes.Buffer
		if err := file.render(&b, k); err != nil {
			return err
		}
		if err := replace(filepath.Join(folder, file.name), b.Bytes()); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

// KernelsText writes the tables of k for a terminal, or only the first, which sums up the step.
func KernelsText(w io.Writer, k *compare.Kernels, isSummary bool) error {
	sections := kernelSections(k)
	if isSummary {
		sections = sections[:1]
	}
	var b bytes.Buffer
	out := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "%s\n%s\n%s\n", kernelsTitle(k), kernelsLimits(k), kernelsLegend(k))
	for _, caution := range kernelsCautions(k) {
		fmt.Fprintf(out, "%s\n", caution)
	}
	for _, s := range sections {
		fmt.Fprintf(out, "\n%s\n", s.title)
		for _, r := range s.rows {
			fmt.Fprintf(out, "  %s\n", strings.Join(r, "\t"))
		}
		for _, line := range s.summary {
			fmt.Fprintf(out, "%s\n", line)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("report: kernels: %w", err)
	}
	return writeText(w, b.String())
}

// KernelsMarkdown writes what KernelsText does as Markdown, and how to repeat it.
func KernelsMarkdown(w io.Writer, k *compare.Kernels) error {
	m := &markdown{}
	m.line("# %s", text(kernelsTitle(k)))
	m.line("%s", text(kernelsLimits(k)))
	m.line("%s", text(kernelsLegend(k)))
	for _, caution := range kernelsCautions(k) {
		m.item("%s", text(caution))
	}
	for _, s := range kernelSections(k) {
		m.line("## %s", text(s.title))
		var t table
		for i, texts := range s.rows {
			var r row
			for _, one := range texts {
				if i == 0 {
					t.Head = append(t.Head, heading{one, ""})
				} else {
					r.Cells = append(r.Cells, cell{Text: one})
				}
			}
			if i > 0 {
				t.Rows = append(t.Rows, r)
			}
		}
		m.table(t)
		for _, line := range s.summary {
			m.item("%s", text(line))
		}
		m.b.WriteString("\n")
	}
	m.line("## Repeat")
	m.line("```sh\n%s\n```", strings.ReplaceAll(shell(k.Command), "\n", " "))
	if k.GPU != nil {
		m.line("%s", text(strings.Join(k.GPU.Libraries, ", ")))
	}
	m.line("%s, %s, %s.", text(k.Host.CPU), spelling.Count(k.Host.Cores, "core"),
		k.Started.UTC().Format("2 January 2006, 15:04 UTC"))
	if err := m.writeTo(w); err != nil {
		return fmt.Errorf("report: kernels: %w", err)
	}
	return nil
}

// kernelsLegend says how to read the columns.
func kernelsLegend(k *compare.Kernels) string {
	if k.GPU != nil {
		return gpuLegend
	}
	return cpuLegend
}

const gpuLegend = `GFLOP/s are nominal, as if every product were computed. GB/s count every operand
once; what the GPU's cache holds may exceed the bandwidth. The bound is the time that the nearer
limit allows; lost is what a call takes beyond it. Times are those between two events of the driver,
which lie about a microsecond apart even with nothing between them. The step has none: it runs as in
training, from a recording where there is one, and waits for the GPU once; gradients of weights,
timed alone here, then run beside other ops.`

const cpuLegend = `GFLOP/s are nominal, as if every product were computed: Winograd
convolutions, Strassen's products and those that skip padding may exceed the peak. GB/s count
every operand once; their share is of the bandwidth of a working set of that size. The bound is
the time that the nearer limit allows; lost is what a call takes beyond it.`

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
			parts = append(parts, fmt.Sprintf("%s %s", byteCount(float64(b.Bytes)), giga(b.PerSecond)))
		}
	}
	products := ""
	if k.PartsFLOPs > 0 {
		products = fmt.Sprintf(", %s in products of %s", giga(k.PartsFLOPs), k.Math)
	}
	return fmt.Sprintf("Limits measured here: %s GFLOP/s%s; GB/s by working set: %s.",
		giga(k.PeakFLOPs), products, strings.Join(parts, ", "))
}

// kernelsCautions says what makes times longer than the kernels are, and limits lower.
func kernelsCautions(k *compare.Kernels) (cautions []string) {
	if taken := compare.TakenText(k.Taken); taken != "" {
		cautions = append(cautions, "Caution: "+taken+"; measure again when the machine is idle.")
	}
	if k.Threads > 1 && len(k.CoreLatency) > 0 && slices.Max(k.CoreLatency) >= record.FarLatency {
		cautions = append(cautions, fmt.Sprintf("Caution: a cache line took %.0f ns to another core and "+
			"back; cores that share a cache take 50 to 100, and calls that threads share are faster there.",
			slices.Max(k.CoreLatency)))
	}
	if most := stat.Quantile(k.PeakSamples, 1); k.GPU == nil && most > steadyPeak*k.PeakFLOPs {
		cautions = append(cautions, fmt.Sprintf("Caution: multiply-adds in registers reached %s GFLOP/s at "+
			"least, %s at most, and bounds are by the median, %s: something took cores meanwhile.",
			giga(stat.Quantile(k.PeakSamples, 0)), giga(most), giga(k.PeakFLOPs)))
	}
	sum, _ := compare.Total(k.Layers)
	if step := stat.Median(k.StepSeconds); sum > 0 && step > steadyStep*sum {
		cautions = append(cautions, fmt.Sprintf("Caution: a step took %.1f times as long as its ops, which "+
			"are timed in other steps: the two were not disturbed alike.", step/sum))
	}
	return cautions
}

// kernelSection is one table, its headings first, and what it comes to.
type kernelSection struct {
	title   string
	rows    [][]string
	summary []string
}

// furthest is how many timings are named as the furthest from their bounds.
const furthest = 3

func kernelSections(k *compare.Kernels) []kernelSection {
	sections := []kernelSection{kernelSummary(k), {
		title: "Every op of a training step, in order, in place", rows: timingRows(k.Layers)}}
	if len(k.Shapes) > 0 {
		sections = append(sections, kernelSection{
			title: "Kernels of fixed shapes, by themselves", rows: timingRows(k.Shapes)})
	}
	return sections
}

// Bounds of what is called steady.
const (
	steadyPeak = 1.15 // the highest peak over the median
	steadyStep = 1.25 // a step over the sum of its ops
)

// kernelSummary says where the time of a step goes, and which ops lose most of it.
func kernelSummary(k *compare.Kernels) kernelSection {
	sum, least := compare.Total(k.Layers)
	s := kernelSection{title: "Where a step goes, by kind of op, most lost first",
		rows: kindRows(compare.ByKind(k.Layers), sum),
		summary: []string{fmt.Sprintf("A step takes %s ms; its ops add up to %s ms, to %s ms if none took "+
			"longer than its bound.", millis(stat.Median(k.StepSeconds)), millis(sum), millis(least))}}
	for i, t := range compare.Furthest(k.Layers, furthest) {
		name := strings.TrimSpace(t.Op + " " + t.Layer)
		s.summary = append(s.summary, fmt.Sprintf(
			"Furthest from its bound, %d: %s, %s: %s ms lost of %s ms.", i+1, name, t.Shape,
			exactMillis(t.Lost()), exactMillis(t.Median)))
	}
	return s
}

// kindRows returns the table of the kinds of a step whose ops take all seconds together.
func kindRows(kinds []compare.Work, all float64) [][]string {
	rows := [][]string{{"kind", "calls", "ms", "of all ops", "bound ms", "of bound", "lost ms",
		"lost of all ops"}}
	for _, k := range kinds {
		rows = append(rows, []string{k.Kind, fmt.Sprint(k.Calls), exactMillis(k.Median),
			percent(k.Median / all), exactMillis(k.Bound), percent(k.Bound / k.Median),
			exactMillis(k.Lost), percent(k.Lost / all)})
	}
	return rows
}

// timingRows returns the table of list. Kernels by themselves belong to no layer and have no such
// column.
func timingRows(list []compare.Timing) [][]string {
	columns := []struct {
		heading string
		value   func(t *compare.Timing) string
	}{
		{"op", func(t *compare.Timing) string { return t.Op }},
		{"layer", func(t *compare.Timing) string { return orDash(t.Layer) }},
		{"shape", func(t *compare.Timing) string { return t.Shape }},
		{"ms", func(t *compare.Timing) string { return exactMillis(t.Median) }},
		{"GFLOP/s", func(t *compare.Timing) string { return giga(t.FLOPsPerSecond) }},
		{"of peak", func(t *compare.Timing) string { return percent(t.OfPeak) }},
		{"GB/s", func(t *compare.Timing) string { return giga(t.BytesPerSecond) }},
		{"of bandwidth", func(t *compare.Timing) string { return percent(t.OfBandwidth) }},
		{"bound by", func(t *compare.Timing) string { return t.BoundBy }},
		{"bound ms", func(t *compare.Timing) string { return exactMillis(t.Bound) }},
		{"of bound", func(t *compare.Timing) string { return percent(t.OfBound) }},
	}
	hasLayers := slices.ContainsFunc(list, func(t compare.Timing) bool { return t.Layer != "" })
	rows := make([][]string, 1+len(list))
	for _, c := range columns {
		if c.heading == "layer" && !hasLayers {
			continue
		}
		rows[0] = append(rows[0], c.heading)
		for i := range list {
			rows[i+1] = append(rows[i+1], c.value(&list[i]))
		}
	}
	return rows
}

func giga(v float64) string { return digits(v/1e9, 3) }

// exactMillis formats seconds as milliseconds down to a tenth of a microsecond.
func exactMillis(seconds float64) string { return fixed(1e3*seconds, 4) }
