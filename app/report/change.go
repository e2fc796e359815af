package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/change"
	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/internal/spelling"
)

// SummaryFile is the file of a benchmark's folder with what changed since an earlier one, as Markdown for the
// page of a CI job.
const SummaryFile = "summary.md"

// Changed says in a sentence or two what changed since an earlier benchmark.
func Changed(c *change.Change) string {
	when := c.Then.UTC().Format("2 January 2006")
	slower := c.Slower()
	var parts []string
	for _, r := range slower {
		parts = append(parts, fmt.Sprintf("%s is slower than on %s: %s ms a step against %s, %s%s.", r.Name,
			when, millis(r.Now.Step.Median), millis(r.Then.Step.Median), times(r.Step), grown(r)))
	}
	switch {
	case len(c.Rows) == 0:
		return fmt.Sprintf("No row did the work of one of the benchmark of %s: nothing is compared.", when)
	case len(slower) == 0:
		parts = append(parts, fmt.Sprintf("No row is told apart as more than %.4g %% slower than on %s: %s, "+
			"%.2f× in the middle.", 100*c.Over, when, spelling.Count(len(c.Rows), "row"), c.Common))
	}
	if c.LeastRounds < stat.LeastRounds {
		parts = append(parts, fmt.Sprintf("Fewer than %d rounds decide nothing: --repeats %d.",
			stat.LeastRounds, compare.EnoughRounds))
	}
	if math.Abs(c.Common-1) > c.Over && len(c.Rows) > 1 {
		parts = append(parts, fmt.Sprintf("All rows together take %.2f× as long, by what they share or by "+
			"another hour of the machine%s.", c.Common, peak(c.Peak)))
	}
	if n := len(c.Other) + len(c.New) + len(c.Gone); n > 0 {
		all := slices.Concat(c.Other, c.New, c.Gone)
		parts = append(parts, fmt.Sprintf("Not compared: %s.", strings.Join(all, "; ")))
	}
	return spelling.Plain(strings.Join(parts, " "))
}

// peak words what the machine itself could do.
func peak(ratio float64) string {
	if !known(ratio) {
		return ""
	}
	return fmt.Sprintf(", whose multiply-adds reached %.2f× of what they did", ratio)
}

// grown names the terms that have most of what a step became longer.
func grown(r change.Row) string {
	more := r.Now.Step.Median - r.Then.Step.Median
	var parts []string
	for _, t := range r.Terms[:min(2, len(r.Terms))] {
		if t.MS > 200*more { // a fifth
			parts = append(parts, fmt.Sprintf("%s %s ms", t.Name, millis(t.MS/1e3)))
		}
	}
	if parts == nil {
		return ""
	}
	return "; of it " + strings.Join(parts, ", ") + " (unconfirmed)"
}

// ChangedMarkdown is the summary of what changed: a sentence, a table of rows, and what slower ones are made
// of.
func ChangedMarkdown(c *change.Change) string {
	var b strings.Builder
	slower := c.Slower()
	title := "no row is told apart as slower"
	if len(slower) > 0 {
		title = fmt.Sprintf("%s slower", spelling.Count(len(slower), "row"))
	}
	fmt.Fprintf(&b, "## lockstep bench: %s\n\n%s\n\n", title, text(Changed(c)))
	if len(c.Rows) > 0 {
		b.WriteString("| row | ms then | ms now | change | beside the other rows | verdict |\n" +
			"|---|---:|---:|---|---|---|\n")
	}
	for _, r := range c.Rows {
		beside := dash
		if r.Beside.Known() {
			beside = times(r.Beside)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", text(r.Name), millis(r.Then.Step.Median),
			millis(r.Now.Step.Median), times(r.Step), beside, verdictOf(r))
	}
	for _, r := range slower {
		if r.Terms != nil {
			fmt.Fprintf(&b, "\n### Where the time of %s went\n\nUnconfirmed: by the recorded runs alone.\n\n"+
				"| term | ms more | from | to |\n|---|---:|---:|---:|\n", text(r.Name))
		}
		for _, t := range r.Terms {
			fmt.Fprintf(&b, "| %s | %+.3g | %+.3g | %+.3g |\n", t.Name, t.MS, t.Low, t.High)
		}
	}
	return spelling.PlainLines(b.String())
}

// verdictOf words what is told of a row.
func verdictOf(r change.Row) string {
	switch {
	case r.IsSlower:
		return "**slower**"
	case r.IsFaster:
		return "faster"
	case r.Now.Disturbed || r.Then.Disturbed:
		return "disturbed"
	}
	return notTold
}

// WriteChanged writes [SummaryFile] into a folder, whole or not at all.
func WriteChanged(folder string, c *change.Change) error {
	return writeFiles(folder, []rendering{{SummaryFile, func(w io.Writer) error {
		_, err := io.WriteString(w, ChangedMarkdown(c))
		return err
	}}})
}
