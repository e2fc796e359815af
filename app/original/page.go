package original

import (
	"fmt"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report"
)

// Names returns the recipes that have an original.
func Names() []string { return []string{"r0", "r1", "r2", "r3", "r4"} }

// Page returns the section of a report by a recipe, whose rows c compares; ok is false for a recipe without
// an original.
func Page(r *record.Results, c *compare.Comparison) (page report.Extra, ok bool) {
	about, ok := reports()[r.Recipe]
	if !ok {
		return page, false
	}
	ours := &results{record: r, Comparison: c}
	page = report.Extra{ID: "original", Title: "The original report " + strings.ToUpper(r.Recipe),
		Work: about.title + ". Its machines were others and its work is not repeated in full, so figures " +
			"are beside each other to be read, not to be divided by each other.",
		Tables: []report.ExtraTable{about.figures(ours), about.answers(ours)}}
	page.Findings, page.Facts = findings(page.Tables[1].Rows)
	return page, true
}

// findings counts the answers, in a sentence and in short.
func findings(rows [][]string) (sentences []string, short [][2]string) {
	here := map[string]int{}
	for _, row := range rows {
		verdict, _, _ := strings.Cut(row[1], ":")
		here[verdict]++
	}
	counts := fmt.Sprintf("%d hold, %d do not, %d not decided, %d not measured", here[holds], here[fails],
		here[undecided], here[unmeasured])
	return []string{fmt.Sprintf("Questions that the original leaves open: %d. By these runs %s.",
			len(rows), counts)},
		[][2]string{{"tried here", counts}}
}

// figures puts the original's figures beside ours.
func (o original) figures(ours *results) report.ExtraTable {
	t := report.ExtraTable{Title: "Its figures beside ours", Caption: "Ours are medians over runs; the " +
		"interval of a ratio is over rounds. A dash: not measured here. Each of ours leads to its runs.",
		Head: []string{"quantity", "original", "ours", "our row"}}
	for _, f := range o.quantities {
		value, row, at := "–", "–", report.Place{Row: -1}
		if g, l := ours.find(f.is); l != nil {
			value, row, at = f.ours(g, l), ours.name(g, l), ours.place(g, l)
		}
		t.Rows = append(t.Rows, []string{f.what, f.theirs, value, row})
		t.Places = append(t.Places, at)
	}
	return t
}

// answers lists what the original leaves open and what ours say.
func (o original) answers(ours *results) report.ExtraTable {
	t := report.ExtraTable{Title: "What it leaves open",
		Caption: "Statements that the original's figures cannot " +
			"decide, and what ours say.", Head: []string{"statement", "by ours"}}
	for _, q := range o.questions {
		t.Rows = append(t.Rows, []string{q.statement, q.answer(ours)})
	}
	return t
}
