package command

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"lockstep/app/bench"
	"lockstep/app/explain"
	"lockstep/app/report"

	"github.com/spf13/cobra"
)

// explainCommand says why one run or row is slower than another.
func explainCommand(a *app) *cobra.Command {
	var isNoRuns bool
	c := &cobra.Command{
		Use:   "explain A B [flags]",
		Short: "Say why the steps of one run take longer than those of another",
		Long: `Say why the steps of one run take longer than those of another.

A and B are folders of training runs, or rows of a benchmark: FOLDER#N by their number, FOLDER#NAME by words
of their name.`,
		Example: "  lockstep explain runs/one runs/two\n" +
			"  lockstep explain runs/20261121-101500-bench#single runs/20261121-101500-bench#ddp",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("explain takes two runs or rows, got %d", len(args))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&isNoRuns, "no-runs", false, "decompose what was recorded, make no runs")
	return a.answering(c, func(_ *cobra.Command, args []string) (answer, error) {
		var sides []explain.Side
		for _, text := range args {
			s, err := a.subject(text)
			if err != nil {
				return answer{}, err
			}
			sides = append(sides, sideOf(text, s))
		}
		e, err := explain.Decompose(sides[0], sides[1])
		if none := (*explain.IncomparableError)(nil); errors.As(err, &none) {
			return answer{}, usagef("%v", err)
		}
		if err != nil {
			return answer{}, err
		}
		document := explained{e, report.Explain(e)}
		return answer{document, func(w io.Writer) error { return report.WriteExplanation(w, e) }}, nil
	})
}

// explained is what explain prints for machines.
type explained struct {
	*explain.Explanation
	Sentence string `json:"sentence"`
}

// sideOf returns a side of what a text names.
func sideOf(text string, s bench.Subject) explain.Side {
	side := explain.NewSide(s.Name, &s.Record, nil)
	if link := s.Row.Condition.Link; s.Row.Condition.IsApart() && s.Row.Workers > 1 {
		side.Link = &explain.Link{BytesPerSecond: link.Rate / 8, Delay: link.Delay.Seconds()}
	}
	return side
}

// subject returns the run or the row that a text names.
func (a *app) subject(text string) (bench.Subject, error) {
	folder, row, isRow := strings.Cut(text, "#")
	all, err := bench.Subjects(folder, &a.catalog)
	switch {
	case err != nil:
		return bench.Subject{}, err
	case len(all) == 1 && !isRow:
		return all[0], nil
	}
	var found []bench.Subject
	if n, err := strconv.Atoi(row); err == nil && n >= 1 && n <= len(all) {
		return all[n-1], nil
	}
	for _, s := range all {
		if isRow && isNamed(s.Name, row) {
			found = append(found, s)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	lines := ""
	for i, s := range all {
		lines += "\n  " + folder + "#" + strconv.Itoa(i+1) + "  " + s.Name
	}
	return bench.Subject{}, usagef("%s names %d rows; want one of%s", text, len(found), lines)
}

// isNamed reports whether each word of some is one of a name, or part of one.
func isNamed(name, some string) bool {
	plain := func(text string) string { return strings.NewReplacer("x", "×", "+", " ").Replace(text) }
	if plain(name) == plain(some) {
		return true
	}
	words := strings.Fields(plain(name))
	for _, w := range strings.Fields(plain(some)) {
		is := false
		for _, word := range words {
			is = is || word == w
		}
		if !is {
			return false
		}
	}
	return true
}
