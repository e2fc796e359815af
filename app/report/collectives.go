package report

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"lockstep/app/analysis"
	"lockstep/app/record"
)

// WriteCollectives writes measured collectives, a JSON list, as results.json and report.html into folder.
// Each file appears complete or not at all.
func WriteCollectives(folder string, list []byte, command []string) error {
	all, err := analysis.DecodeCollectives(bytes.NewReader(list))
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	var b bytes.Buffer
	if err := CollectivesHTML(&b, all, command); err != nil {
		return err
	}
	for name, content := range map[string][]byte{ResultsFile: list, HTMLFile: b.Bytes()} {
		if err := replace(filepath.Join(folder, name), content); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

// CollectivesHTML writes the report of measured collectives as one page with the properties of [HTML].
func CollectivesHTML(w io.Writer, all []analysis.Collective, command []string) error {
	t, err := template.New("collectives").Parse(trainingTemplate)
	if err != nil {
		return fmt.Errorf("report: page template: %w", err)
	}
	p := figuresPage{Kind: "report of collectives", Title: "Collectives by size of the vector",
		Policy: policy(styleSheet), Style: template.CSS(styleSheet), Configuration: shell(command),
		Lede: "Time of one call, of the slowest rank. Bus bandwidth is the vector over that time, times " +
			"the share of it that every rank must send at least.",
		Source: "results.json"}
	for _, c := range all {
		if c.Doubt != "" {
			p.Facts = append(p.Facts, pair{"caution", c.Doubt})
		}
	}
	for _, operation := range operationsOf(all) {
		p.Figures = append(p.Figures, collectiveFigures(operation, all)...)
	}
	if err := t.Execute(w, p); err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	return nil
}

// operationsOf lists the operations in the order of their measurements.
func operationsOf(all []analysis.Collective) (names []string) {
	for _, c := range all {
		if !slices.Contains(names, c.Operation) {
			names = append(names, c.Operation)
		}
	}
	return names
}

// sizesOf lists the sizes of an operation's vectors, in order.
func sizesOf(operation string, all []analysis.Collective) (sizes []int64) {
	for _, c := range all {
		if c.Operation == operation {
			sizes = append(sizes, c.Bytes)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// collectiveFigures plots time, and bandwidth if vectors are sent, of one operation against size.
func collectiveFigures(operation string, all []analysis.Collective) []figure {
	sizes := sizesOf(operation, all)
	lines := map[string]int{}
	var times, rates []series
	var keys []legend
	for _, c := range all {
		if c.Operation != operation {
			continue
		}
		name := lineName(c)
		i, ok := lines[name]
		if !ok {
			i = len(times)
			lines[name] = i
			s := series{keys: []string{key(i)}, label: name, style: fmt.Sprintf("k%d d%d", i%6, i/6%6)}
			times, rates = append(times, s), append(rates, s)
			keys = append(keys, legend{Swatch: swatch(s.style), Key: key(i), Name: name})
		}
		at := float64(slices.Index(sizes, c.Bytes) + 1)
		times[i].at, times[i].values = append(times[i].at, at), append(times[i].values,
			math.Log10(1e6*float64(c.Seconds.Median)))
		rates[i].at, rates[i].values = append(rates[i].at, at), append(rates[i].values, float64(c.Bus))
	}
	table := collectiveTable(operation, all)
	time := decades(curves{id: operation + "-time", title: operation + ", time by size",
		description: "The values are in the table below the plot.",
		xLabel:      "size of the vector", series: times}, sizes)
	figures := []figure{{Title: "Time of " + operation, Plot: time.markup(), Legend: keys, Table: table,
		Caption: "Median time of a call, on a logarithmic scale."}}
	if len(sizes) < 2 {
		return figures
	}
	top := 0.0
	for _, s := range rates {
		top = max(top, slices.Max(s.values))
	}
	rate := curves{id: operation + "-bus", title: operation + ", bus bandwidth by size",
		description: "The values are in the table below the plot.", yLabel: "bus bandwidth, GB/s",
		xLabel: "size of the vector", series: rates, hi: top, format: trim, places: sizeNames(sizes)}
	return append(figures, figure{Title: "Bus bandwidth of " + operation, Caption: "Of the medians.",
		Plot: rate.markup(), Legend: keys, Table: table})
}

// decades gives a plot of logarithms of microseconds its scale, from the decade of the least to that of
// the largest.
func decades(p curves, sizes []int64) curves {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range p.series {
		for _, v := range s.values {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	p.lo, p.hi = math.Floor(lo), math.Max(math.Ceil(hi), math.Floor(lo)+1)
	p.format = func(v float64) string { return wholeTime(math.Pow(10, v)) }
	p.places = sizeNames(sizes)
	return p
}

// wholeTime words microseconds at a tick.
func wholeTime(us float64) string {
	switch {
	case us >= 1e6:
		return trim(us/1e6) + " s"
	case us >= 1e3:
		return trim(us/1e3) + " ms"
	}
	return trim(us) + " µs"
}

// roundTime words seconds with three digits.
func roundTime(s record.Number) string {
	us := 1e6 * float64(s)
	if !known(us) || us <= 0 {
		return dash
	}
	unit := math.Pow(10, math.Floor(math.Log10(us))-2)
	return wholeTime(math.Round(us/unit) * unit)
}

func sizeNames(sizes []int64) (names []string) {
	for _, n := range sizes {
		names = append(names, wholeSize(n))
	}
	return names
}

// wholeSize words a size that somebody chose, as a whole number of a unit if it is one.
func wholeSize(n int64) string {
	for shift, unit := range []string{"", " KiB", " MiB", " GiB"} {
		if v := n >> (10 * shift); v<<(10*shift) == n && (v%1024 != 0 || v == 0) {
			return fmt.Sprint(v) + unit
		}
	}
	return byteCount(float64(n))
}

// lineName says what distinguishes the measurements of one curve.
func lineName(c analysis.Collective) string {
	words := []string{c.Link, count(c.Ranks, "rank")}
	if c.Hosts > 1 {
		words = append(words, count(c.Hosts, "host"))
	}
	if c.Asked != "" {
		words = append(words, c.Asked)
	}
	if c.Codec != "" && c.Codec != "fp32" {
		words = append(words, c.Codec)
	}
	return strings.Join(words, ", ")
}

// collectiveTable lists all measurements of an operation.
func collectiveTable(operation string, all []analysis.Collective) table {
	t := table{Name: operation}
	for _, name := range []string{"size", "what", "algorithm", "median", "p10", "p90", "predicted",
		"bus GB/s", "sent", "formula"} {
		t.Head = append(t.Head, heading{name, ""})
	}
	for _, c := range all {
		if c.Operation != operation {
			continue
		}
		var r row
		for _, text := range []string{wholeSize(c.Bytes), lineName(c), orDash(c.Algorithm),
			roundTime(c.Seconds.Median), roundTime(c.Seconds.P10), roundTime(c.Seconds.P90),
			roundTime(c.Predicted), digits(float64(c.Bus), 3), fmt.Sprint(c.Sent), fmt.Sprint(c.Formula)} {
			r.Cells = append(r.Cells, cell{Text: text})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}
