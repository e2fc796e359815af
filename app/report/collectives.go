package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockstep/app/record"
	"lockstep/app/report/plot"
	"lockstep/internal/regular"
	"lockstep/internal/spelling"
)

// CollectivesKind is the kind of a results.json that holds collectives.
const CollectivesKind = "collectives"

// Measured is what `lockstep commbench` found: collectives, and the machine, the time and the command of
// their measurement.
type Measured struct {
	Kind        string              `json:"kind"` // [CollectivesKind]
	Command     []string            `json:"command"`
	Started     time.Time           `json:"started"`
	Host        record.Machine      `json:"host"`
	Hosts       *record.Hosts       `json:"preflight,omitempty"` // that the ranks were on; null: one
	Collectives []record.Collective `json:"collectives"`
}

// WriteCollectives writes measured collectives as results.json, report.md and report.html into folder.
// Each file appears complete or not at all.
func WriteCollectives(folder string, m Measured) error {
	m.Kind = CollectivesKind
	all, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	r, err := Collectives(m)
	if err != nil {
		return err
	}
	if err := regular.Write(filepath.Join(folder, ResultsFile), append(all, '\n')); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return r.Write(folder)
}

// ReadCollectives returns the collectives in folder; nil if its results are of another kind, or not readable.
func ReadCollectives(folder string) *Measured {
	f, err := regular.Open(filepath.Join(folder, ResultsFile))
	if err != nil {
		return nil
	}
	defer f.Close()
	var m Measured
	if record.ReadJSON(f, &m) != nil || m.Kind != CollectivesKind {
		return nil
	}
	return &m
}

// Collectives lays out the report of measured collectives.
func Collectives(m Measured) (*Report, error) {
	if err := m.Hosts.Validate(); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	all := m.Collectives
	p := page{Kind: "report of collectives", Title: "Collectives by size of the vector",
		Command: onHosts(m.Command, m.Hosts), Answer: collectiveAnswer(all), Source: "results.json",
		Lede: joined(" · ", moment(m.Started), m.Host.CPU,
			spelling.Count(m.Host.Cores, "core")),
		Parts: present(part{ID: "machine", Title: "Machine", Pairs: hostPairs(m.Host)}, hostsPart(m.Hosts))}
	var operations []string
	for _, c := range all {
		operations = addNew(operations, c.Operation)
	}
	for i, operation := range operations {
		own := ofOperation(operation, all)
		s := section{ID: fmt.Sprintf("o%d", i+1), Title: operation, Work: "Time of one call, of the " +
			"slowest rank. Bus bandwidth is the vector over the median, times the share of it that every " +
			"rank must send at least.", Figures: collectiveFigures(i, operation, own), Tables: []block{{
			Title: "Measurements", Caption: "Predicted: from the latency and the speed of the links, as " +
				"the group measured them before.", Table: collectiveTable(operation, own), IsOpen: true}}}
		if i == 0 {
			s.Figures = p.lead(s.Figures)
		}
		p.Sections = append(p.Sections, s)
	}
	return &Report{p}, nil
}

// ofOperation returns the measurements of an operation.
func ofOperation(operation string, all []record.Collective) []record.Collective {
	isOther := func(c record.Collective) bool { return c.Operation != operation }
	return slices.DeleteFunc(slices.Clone(all), isOther)
}

// collectiveAnswer says which of the measured ways is the fastest for the largest vector of the first
// operation, and whether the bands of the two fastest overlap.
func collectiveAnswer(all []record.Collective) answer {
	if len(all) == 0 {
		return answer{Text: "Nothing was measured."}
	}
	same := ofOperation(all[0].Operation, all)
	largest := slices.MaxFunc(same, func(a, b record.Collective) int { return a.Bytes - b.Bytes }).Bytes
	same = slices.DeleteFunc(same, func(c record.Collective) bool {
		return c.Bytes != largest || c.Ranks != all[0].Ranks
	})
	slices.SortStableFunc(same, func(a, b record.Collective) int {
		return cmp.Compare(a.Seconds.Median, b.Seconds.Median)
	})
	if len(same) == 0 {
		return answer{Text: "Nothing was measured."}
	}
	best := same[0]
	what := fmt.Sprintf("%s of %s: %s", best.Operation, wholeSize(int64(largest)), lineName(best))
	shortest := best.Seconds.Median
	if len(same) == 1 {
		return answer{Text: fmt.Sprintf("%s takes %s.", what, roundTime(shortest))}
	}
	next := same[1]
	second := next.Seconds.Median
	a := answer{Verdict: notTold, Sign: signOf(notTold),
		Text: fmt.Sprintf("%s has the shortest median, %s; the next, %s, takes %s (%.2f×).", what,
			roundTime(shortest), lineName(next), roundTime(second), second/shortest),
		Why: "The bands from the 10th to the 90th percentile of their samples overlap."}
	if best.Seconds.P90 < next.Seconds.P10 {
		a.Verdict, a.Sign = "bands apart", "≠"
		a.Why = "The bands from the 10th to the 90th percentile of their samples do not overlap. One group " +
			"measured each; another start may differ."
	}
	return a
}

// collectiveFigures plots the time of one operation against size, a curve for each way of doing it, then, if
// there are several sizes, the bandwidth.
func collectiveFigures(number int, operation string, all []record.Collective) []figure {
	size := func(at float64) string { return wholeSize(int64(at)) }
	time := plot.Lines{X: "size of the vector", Y: "time of a call", Place: size, IsFar: true, IsLog: true,
		Format: func(us float64) string { return roundTime(us / 1e6) }}
	bus := plot.Lines{X: time.X, Y: "bus bandwidth, GB/s", Place: size, IsFar: true}
	for _, c := range all {
		at := float64(c.Bytes)
		one := curveNamed(&time.Series, lineName(c))
		addPoint(one, at, 1e6*c.Seconds.Median)
		one.Lo, one.Hi = append(one.Lo, 1e6*c.Seconds.P10), append(one.Hi, 1e6*c.Seconds.P90)
		addPoint(curveNamed(&bus.Series, lineName(c)), at, c.Bus)
	}
	head := func(id, title string) plot.Head {
		return plot.Head{ID: fmt.Sprintf("o%d-%s", number+1, id), Title: title + " of " + operation}
	}
	figures := []figure{{head("time", "Time"), "Median with the band from the 10th to the 90th percentile, " +
		"on a logarithmic scale.", time}}
	if slices.ContainsFunc(all, func(c record.Collective) bool { return c.Bytes != all[0].Bytes }) {
		figures = append(figures, figure{head("bus", "Bus bandwidth"), "Of the medians.", bus})
	}
	return figures
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
func lineName(c record.Collective) string {
	count := func(n int, noun string) string {
		if n < 2 {
			return ""
		}
		return spelling.Count(n, noun)
	}
	encryption := c.Encryption
	if encryption != "" {
		encryption = "encryption " + encryption
	}
	return joined(", ", c.Link, encryption, count(c.Streams, "stream"), spelling.Count(c.Ranks, "rank"),
		count(c.Hosts, "host"), c.Asked, strings.TrimPrefix(c.Codec, "fp32"))
}

// collectiveTable lists all measurements of an operation.
func collectiveTable(operation string, all []record.Collective) table {
	type one = record.Collective
	time := func(name string, value func(one) float64) column[one] {
		return col(name, "", func(c one) string { return roundTime(value(c)) })
	}
	return tableOf(operation, all,
		col("size", "", func(c one) string { return wholeSize(int64(c.Bytes)) }),
		col("what", "", lineName),
		col("algorithm", "", func(c one) string { return orDash(c.Algorithm) }),
		time("median", func(c one) float64 { return c.Seconds.Median }),
		time("p10", func(c one) float64 { return c.Seconds.P10 }),
		time("p90", func(c one) float64 { return c.Seconds.P90 }),
		time("predicted", func(c one) float64 { return c.Predicted }),
		col("bus GB/s", "", func(c one) string { return digits(c.Bus, 3) }),
		col("sent", "", func(c one) string { return fmt.Sprint(c.Sent) }),
		col("formula", "", func(c one) string { return fmt.Sprint(c.Formula) }))
}
