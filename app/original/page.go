package original

import (
	"embed"
	"fmt"
	"strings"

	"lockstep/app/analysis"
	"lockstep/app/claim"
	"lockstep/app/record"
	"lockstep/app/report"
)

//go:embed text
var texts embed.FS

// Names returns the recipes that have an original.
func Names() []string { return []string{"r0", "r1", "r2", "r3", "r4"} }

// Page returns the section of a report by a recipe, whose rows c compares; ok is false for a recipe without
// an original.
func Page(r *record.Results, c *analysis.Comparison) (page report.Extra, ok bool) {
	about, ok := reports()[r.Recipe]
	if !ok {
		return page, false
	}
	judged := judge(r.Recipe)
	ours := &results{record: r, Comparison: c}
	page = report.Extra{ID: "original", Title: "The original report " + strings.ToUpper(r.Recipe),
		Work: about.title + ". Its machines were others and its work is not repeated in full, so figures " +
			"are beside each other to be read, not to be divided by each other.",
		Tables: []report.ExtraTable{about.figures(ours), about.sentences(judged, ours), objections(judged)}}
	page.Findings, page.Facts = findings(judged, page.Tables[1].Rows)
	return page, true
}

// judge checks an original by its own figures.
func judge(name string) *claim.Report {
	text, err := texts.ReadFile("text/" + name + ".md")
	if err != nil {
		panic(fmt.Sprintf("original: %v", err)) // it is embedded
	}
	d, err := claim.Read(strings.NewReader(string(text)), name+".md")
	if err != nil {
		panic(fmt.Sprintf("original: %s: %v", name, err)) // a test reads all of them
	}
	return claim.Check(d)
}

// findings counts what holds and what does not, in sentences and in short.
func findings(judged *claim.Report, rows [][]string) (sentences []string, short [][2]string) {
	byVerdict := map[claim.Verdict]int{}
	for _, s := range judged.Statements {
		byVerdict[s.Verdict]++
	}
	refused := 0
	for _, o := range judged.Objections {
		if o.Severity == claim.Refused {
			refused++
		}
	}
	here := map[string]int{}
	for _, row := range rows {
		verdict, _, _ := strings.Cut(row[3], ":")
		here[verdict]++
	}
	short = [][2]string{
		{"its sentences", fmt.Sprintf("by its own figures, of %d: %d hold, %d refused, %d open",
			len(judged.Statements), byVerdict[claim.Holds], byVerdict[claim.Wrong],
			byVerdict[claim.NotChecked])},
		{"tried here", fmt.Sprintf("by ours: %d hold, %d do not, %d not decided, %d not measured",
			here[holds], here[fails], here[undecided], here[unmeasured])},
	}
	return []string{
		fmt.Sprintf("Sentences that claim something: %d. By its own figures: %d right, %d refused, %d that "+
			"they cannot decide; objections in all that are refusals: %d.", len(judged.Statements),
			byVerdict[claim.Holds], byVerdict[claim.Wrong],
			byVerdict[claim.NotChecked], refused),
		fmt.Sprintf("By ours: %d right here, %d wrong here, %d not decided by these runs, %d not measured "+
			"by them.", here[holds], here[fails], here[undecided], here[unmeasured]),
	}, short
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

// sentences lists the original's sentences and what either side's figures say.
func (o original) sentences(judged *claim.Report, ours *results) report.ExtraTable {
	t := report.ExtraTable{Title: "Its sentences", Caption: "What the original's own figures say about " +
		"each sentence, by the rules of lockstep check, and what ours say.",
		Head: []string{"sentence", "by its figures", "why", "by ours"}}
	for _, s := range judged.Statements {
		verdict := unmeasured + ": no row of this recipe tells"
		for _, q := range o.questions {
			if strings.HasPrefix(s.Text, q.sentence) {
				verdict = q.answer(ours)
			}
		}
		t.Rows = append(t.Rows, []string{s.Text, string(s.Verdict), s.Why, verdict})
	}
	return t
}

// objections lists what the original's data cannot carry.
func objections(judged *claim.Report) report.ExtraTable {
	t := report.ExtraTable{Title: "What its data cannot carry",
		Caption: "Objections of lockstep check to the original, with their arithmetic.",
		Head:    []string{"rule", "where", "objection", "would answer it"}}
	for _, o := range judged.Objections {
		if o.Severity == claim.Refused {
			t.Rows = append(t.Rows, []string{o.Rule, o.Where, o.Text, o.Answer})
		}
	}
	return t
}
