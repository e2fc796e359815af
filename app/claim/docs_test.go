package claim_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"lockstep/app/claim"
)

// Every example of the page on the grammar is understood: it holds, is refused, or no figure decides it.
func TestThePagesSentencesAreUnderstood(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "check.md"))
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)\| form \| example \|\n(.*?)\n\n`).FindSubmatch(page)
	if table == nil {
		t.Fatal("the page has no table of forms")
	}
	rows := regexp.MustCompile(`(?m)^\|.*\| ([^|]+) \|$`).FindAllSubmatch(table[1], -1)
	if len(rows) < 15 {
		t.Fatalf("%d examples", len(rows))
	}
	const figures = "strategy,workers,step ms,loss,accuracy %,classes\n" +
		"single,1,100 ± 2,0.5,91,10\nddp,2,56 ± 1,0.5,91,10\n# "
	for _, row := range rows {
		r := check(t, "x.csv", figures+string(row[1])+".\n")
		if len(r.Statements) != 1 || r.Statements[0].Why == "outside the grammar" {
			t.Errorf("%s: %+v", row[1], r.Statements)
		}
	}
	r := check(t, "x.csv", figures+"ddp is a fine strategy.\n")
	if r.Statements[0].Verdict != claim.NotChecked {
		t.Errorf("a sentence outside the grammar: %+v", r.Statements)
	}
}
