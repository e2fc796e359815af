package report

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/question"
	"lockstep/app/record"
)

// Text writes the short form for a terminal: per group the findings and a table of the main
// figures, then what was refused or needs caution.
func Text(w io.Writer, r *record.Results) error {
	c := compare.Compare(r)
	var b bytes.Buffer
	out := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i := range c.Groups {
		s := newSection(i, c)
		fmt.Fprintf(out, "%s: %s\n", s.Title, s.Work)
		fmt.Fprintln(out, "  row\tstep ms\tspread\tsamples/s\tspeed-up\tper core\t÷ none\tloss\t"+
			"test\tparameters")
		for _, v := range s.lines {
			fmt.Fprintf(out, "  %s\t", v.Label)
			if v.OK == 0 {
				fmt.Fprintf(out, "%s\n", v.missing())
				continue
			}
			speedup := ratioText(v.Speedup, twoDecimals)
			if v.isBaseline() {
				speedup = "1.00"
			}
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", millis(v.Step.Median),
				percent(v.RunMedian.Spread()), digits(v.PerSecond, 3),
				speedup, ratioText(v.Efficiency, percent),
				ratioText(v.OverFloor, twoDecimals), fixed(v.LossLast, 4),
				percent(v.TestAccuracy), v.parameters().Text)
		}
		for _, f := range s.Findings {
			fmt.Fprintf(out, "  %s\n", f)
		}
		fmt.Fprintln(out)
	}
	for _, a := range question.Answers(r.Inquiry, c) {
		fmt.Fprintf(out, "%s %s\n", a.Ask, answerText(a, r.Inquiry.Reference))
	}
	for _, n := range c.Notes {
		if n.Kind != compare.Fact {
			fmt.Fprintf(out, "%s: %s\n", n.Kind, n.Text)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("report: text: %w", err)
	}
	return writeText(w, b.String())
}

// writeText writes lines to a terminal.
func writeText(w io.Writer, lines string) error {
	if _, err := io.WriteString(w, compare.PlainLines(lines)); err != nil {
		return fmt.Errorf("report: text: %w", err)
	}
	return nil
}

func twoDecimals(v float64) string { return fixed(v, 2) }
