package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report/plot"
	"lockstep/internal/regular"
	"lockstep/internal/spelling"
)

// Measured is what `lockstep commbench` found: collectives, and the machine, the time and the command of
// their measurement.
type Measured struct {
	Kind        string          `json:"kind"` // [compare.CollectivesKind]
	Command     []string        `json:"command"`
	Started     time.Time       `json:"started"`
	Host        record.Machine  `json:"host"`
	Hosts       *record.Hosts   `json:"preflight,omitempty"` // that the ranks were on; null: one
	Collectives json.RawMessage `json:"collectives"`         // a list
}

// WriteCollectives writes measured collectives as results.json, report.md and report.html into folder.
// Each file appears complete or not at all.
func WriteCollectives(folder string, m Measured) error {
	m.Kind = compare.CollectivesKind
	all, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	p, err := collectivesPage(m)
	if err != nil {
		return err
	}
	if err := replace(filepath.Join(folder, ResultsFile), append(all, '\n')); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return (&Report{p}).Write(folder)
}

// ReadCollectives returns the collectives in folder; nil if its results are of another kind, or not readable.
func ReadCollectives(folder string) *Measured {
	f, err := regular.Open(filepath.Join(folder, ResultsFile))
	if err != nil {
		return nil
	}
	defer f.Close()
	var m Measured
	if record.ReadJSON(f, &m) != nil || m.Kind != compare.CollectivesKind {
		return nil
	}
	return &m
}

// CollectivesHTML writes the report of measured collectives as one page with the properties of [HTML].
func CollectivesHTML(w io.Writer, m Measured) error {
	p, err := collectivesPage(m)
	if err != nil {
		return err
	}
	return writePage(w, p)
}

// Collectives lays out the report of measured collectives.
func Collectives(m Measured) (*Report, error) {
	p, err := collectivesPage(m)
	return &Report{p}, err
}

// collectivesPage lays out the report of measured collectives.
func collectivesPage(m Measured) (page, error) {
	all, err := compare.DecodeCollectives(bytes.NewReader(m.Collectives))
	if err != nil {
		return page{}, fmt.Errorf("report: %w", err)
	}
	if err := m.Hosts.Validate(); err != nil {
		return page{}, fmt.Errorf("report: %w", err)
	}
	p := page{Kind: "report of collectives", Title: "Collectives by size of the vector",
		Command: onHosts(m.Command, m.Hosts), Answer: collectiveAnswer(all), Source: "results.json",
		Lede: strings.Join(slices.DeleteFunc([]string{m.Started.UTC().Format("2 January 2006, 15:04 UTC"),
			m.Host.CPU, spelling.Count(m.Host.Cores, "core")},
			func(s string) bool { return s == "" }), " · "),
		Parts: present([]part{{ID: "machine", Title: "Machine", Pairs: hostPairs(m.Host)},
			hostsPart(m.Hosts)})}
	var notes []compare.Note
	for _, c := range all {
		if c.Doubt != "" {
			notes = append(notes, compare.Note{Kind: compare.Caution, Topic: "prediction",
				Text: c.Doubt})
		}
	}
	p.More = noteLists(notes)
	p.Notes, p.Cautions = p.More, firstCautions(p.More)
	for i, operation := range operationsOf(all) {
		s := section{ID: fmt.Sprintf("o%d", i+1), Title: operation, Work: "Time of one call, of the " +
			"slowest rank. Bands reach from the 10th to the 90th percentile of the samples. Bus bandwidth " +
			"is the vector over the median, times the share of it that every rank must send at least.",
			Figures: collectiveFigures(i, operation, all),
			Tables: []block{{Title: "Measurements", Caption: "Predicted: from the latency and the speed of " +
				"the links, as the group measured them before.", Table: collectiveTable(operation, all),
				IsOpen: true}}}
		if i == 0 {
			s.Figures[0].within(operation)
			p.Picture, s.Figures = &s.Figures[0], s.Figures[1:]
		}
		p.Sections = append(p.Sections, s)
	}
	return p, nil
}

// collectiveAnswer says which of the measured ways is the fastest for the largest vector of the first
// operation, and whether the bands of the two fastest overlap.
func collectiveAnswer(all []compare.Collective) answer {
	if len(all) == 0 {
		return answer{Text: "Nothing was measured."}
	}
	operation := all[0].Operation
	sizes := sizesOf(operation, all)
	largest := sizes[len(sizes)-1]
	same := slices.DeleteFunc(slices.Clone(all), func(c compare.Collective) bool {
		return c.Operation != operation || c.Bytes != largest || c.Ranks != all[0].Ranks
	})
	slices.SortStableFunc(same, func(a, b compare.Collective) int {
		return cmp.Compare(a.Seconds.Median, b.Seconds.Median)
	})
	if len(same) == 0 {
		return answer{Text: "Nothing was measured."}
	}
	best := same[0]
	a := answer{Text: fmt.Sprintf("%s of %s: %s takes %s.", operation, wholeSize(largest), lineName(best),
		roundTime(float64(best.Seconds.Median)))}
	if len(same) == 1 {
		return a
	}
	next := same[1]
	shortest, second := float64(best.Seconds.Median), float64(next.Seconds.Median)
	a.Text = fmt.Sprintf("%s of %s: %s has the shortest median, %s; the next, %s, takes %s (%.2f×).",
		operation, wholeSize(largest), lineName(best), roundTime(shortest), lineName(next),
		roundTime(second), second/shortest)
	a.Verdict, a.Sign = undecided, signOf(undecided)
	a.Why = "The bands from the 10th to the 90th percentile of their samples overlap."
	if best.Seconds.P90 < next.Seconds.P10 {
		a.Verdict, a.Sign = "bands apart", "≠"
		a.Why = "The bands from the 10th to the 90th percentile of their samples do not overlap. One group " +
			"measured each; another start may differ."
	}
	return a
}

// operationsOf lists the operations in the order of their measurements.
func operationsOf(all []compare.Collective) (names []string) {
	for _, c := range all {
		if !slices.Contains(names, c.Operation) {
			names = append(names, c.Operation)
		}
	}
	return names
}

// sizesOf lists the sizes of an operation's vectors, in order.
func sizesOf(operation string, all []compare.Collective) (sizes []int64) {
	for _, c := range all {
		if c.Operation == operation {
			sizes = append(sizes, c.Bytes)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// collectiveCurves are the measurements of an operation, a curve for each way of doing it.
type collectiveCurves struct {
	number                int // of the operation
	operation             string
	sizes                 []int64        // of vectors, the places of the curves
	times, rates, overrun []plot.Series  // microseconds, GB/s, and measured over predicted time
	index                 map[string]int // of each way
}

// curvesOf collects the curves of an operation. What their names have in common is left out.
func curvesOf(number int, operation string, all []compare.Collective) *collectiveCurves {
	all = slices.DeleteFunc(slices.Clone(all), func(c compare.Collective) bool {
		return c.Operation != operation
	})
	k := &collectiveCurves{number: number, operation: operation, sizes: sizesOf(operation, all),
		index: map[string]int{}}
	common := words(all[0])
	for _, c := range all {
		common = slices.DeleteFunc(common, func(w string) bool { return !slices.Contains(words(c), w) })
	}
	for _, c := range all {
		own := slices.DeleteFunc(words(c), func(w string) bool { return slices.Contains(common, w) })
		k.add(c, cmp.Or(strings.Join(own, ", "), lineName(c)))
	}
	return k
}

// add appends a measurement to the curve with a name.
func (k *collectiveCurves) add(c compare.Collective, name string) {
	i, isThere := k.index[name]
	if !isThere {
		i = len(k.times)
		k.index[name] = i
		s := plot.Series{Keys: []string{key(i)}, Label: name, Style: plot.Style{Colour: i, Number: i}}
		k.times, k.rates, k.overrun = append(k.times, s), append(k.rates, s), append(k.overrun, s)
	}
	at := float64(slices.Index(k.sizes, c.Bytes) + 1)
	for _, one := range []struct {
		to *plot.Series
		v  record.Number
	}{{&k.times[i], 1e6 * c.Seconds.Median}, {&k.rates[i], c.Bus}, {&k.overrun[i], ratioOf(c)}} {
		one.to.At, one.to.Values = append(one.to.At, at), append(one.to.Values, float64(one.v))
	}
	k.times[i].Lo = append(k.times[i].Lo, 1e6*float64(c.Seconds.P10))
	k.times[i].Hi = append(k.times[i].Hi, 1e6*float64(c.Seconds.P90))
}

// collectiveFigures plots the time of one operation against size, then, if there are several sizes, the
// bandwidth, and the prediction, if there is one.
func collectiveFigures(number int, operation string, all []compare.Collective) []figure {
	k := curvesOf(number, operation, all)
	figures := []figure{k.timeFigure()}
	if len(k.sizes) > 1 {
		figures = append(figures, k.rateFigure())
	}
	if top(k.overrun) > 0 {
		figures = append(figures, k.predictionFigure())
	}
	return figures
}

// chart is a chart of the operation.
func (k *collectiveCurves) chart(id, title, y string, all []plot.Series) plot.Lines {
	return plot.Lines{Head: plot.Head{ID: fmt.Sprintf("o%d-%s", k.number+1, id),
		Title: k.operation + ", " + title, Description: "One curve per way. The values are in the table of " +
			"measurements."}, X: "size of the vector", Y: y, Series: all, Hi: top(all),
		Places: sizeNames(k.sizes)}
}

func (k *collectiveCurves) timeFigure() figure {
	p := k.chart("time", "time by size", "time of a call", k.times)
	p.IsLead, p.IsLog, p.Format = k.number == 0, true, wholeTime
	p.Lo, p.Hi = timeRange(k.times)
	return figure{ID: p.ID, Title: "Time of a call", Chart: p, Legend: legendOf(k.times),
		Caption: "Median with the band from the 10th to the 90th percentile, on a logarithmic scale.",
		Table: seriesTable("Median time of a call", p, func(us float64) string {
			return roundTime(us / 1e6)
		})}
}

func (k *collectiveCurves) rateFigure() figure {
	p := k.chart("bus", "bus bandwidth by size", "bus bandwidth, GB/s", k.rates)
	return figure{ID: p.ID, Title: "Bus bandwidth of " + k.operation, Caption: "Of the medians.", Chart: p,
		Legend: legendOf(k.rates), Table: seriesTable("Bus bandwidth, GB/s", p, threeDigits)}
}

func (k *collectiveCurves) predictionFigure() figure {
	p := k.chart("predicted", "measured over predicted time", "measured ÷ predicted", k.overrun)
	predicted := plot.Series{Label: "as predicted", IsReference: true,
		At: []float64{1, float64(len(k.sizes))}, Values: []float64{1, 1}}
	p.Series, p.Hi = slices.Insert(p.Series, 0, predicted), math.Max(p.Hi, 1)
	return figure{ID: p.ID, Title: "Prediction against measurement",
		Caption: "The measured median over the time predicted from the links’ latency and speed. Dashed: " +
			"as predicted.",
		Chart: p, Legend: legendOf(k.overrun),
		Table: seriesTable("Measured over predicted time", p, twoDecimals)}
}

// ratioOf is the measured time over the predicted one; NaN if there is no prediction.
func ratioOf(c compare.Collective) record.Number {
	if !(c.Predicted > 0) {
		return record.Number(math.NaN())
	}
	return c.Seconds.Median / c.Predicted
}

// timeRange returns the least and the greatest microseconds of bands that are above 0.
func timeRange(all []plot.Series) (lo, hi float64) {
	lo, hi = math.Inf(1), 0
	for _, s := range all {
		for _, v := range slices.Concat(s.Lo, s.Hi, s.Values) {
			if v > 0 {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	if hi == 0 {
		return 1, 10
	}
	return lo, hi
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
func roundTime(seconds float64) string {
	us := 1e6 * seconds
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
func lineName(c compare.Collective) string { return strings.Join(words(c), ", ") }

// words are the parts of a way's name.
func words(c compare.Collective) []string {
	words := []string{c.Link}
	if c.Encryption != "" {
		words = append(words, "encryption "+c.Encryption)
	}
	if c.Streams > 1 {
		words = append(words, spelling.Count(c.Streams, "stream"))
	}
	words = append(words, spelling.Count(c.Ranks, "rank"))
	if c.Hosts > 1 {
		words = append(words, spelling.Count(c.Hosts, "host"))
	}
	if c.Asked != "" {
		words = append(words, c.Asked)
	}
	if c.Codec != "" && c.Codec != "fp32" {
		words = append(words, c.Codec)
	}
	return words
}

// collectiveTable lists all measurements of an operation.
func collectiveTable(operation string, all []compare.Collective) table {
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
		in := c.Seconds
		for _, text := range []string{wholeSize(c.Bytes), lineName(c), orDash(c.Algorithm),
			roundTime(float64(in.Median)), roundTime(float64(in.P10)), roundTime(float64(in.P90)),
			roundTime(float64(c.Predicted)), digits(float64(c.Bus), 3), fmt.Sprint(c.Sent),
			fmt.Sprint(c.Formula)} {
			r.Cells = append(r.Cells, cell{Text: text})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}
