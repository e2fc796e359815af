package original_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/original"
	"lockstep/app/record"
)

// measured returns the results of a real benchmark, labelled as that of a recipe.
func measured(t *testing.T, recipe string) *record.Results {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "results", "r3", "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := record.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	r.Recipe = recipe
	return r
}

// Every recipe has a page, whatever rows there are: the original's figures, its sentences, the objections.
func TestPages(t *testing.T) {
	for _, name := range original.Names() {
		page, ok := original.Page(measured(t, name))
		if !ok || len(page.Tables) != 3 || len(page.Findings) != 2 {
			t.Fatalf("%s: %v, %d tables, findings %q", name, ok, len(page.Tables), page.Findings)
		}
		for _, table := range page.Tables {
			if len(table.Rows) == 0 {
				t.Errorf("%s: %s is empty", name, table.Title)
			}
			for _, row := range table.Rows {
				if len(row) != len(table.Head) {
					t.Errorf("%s: %s: row %q", name, table.Title, row)
				}
			}
		}
	}
	if _, ok := original.Page(measured(t, "r4-strategies")); ok {
		t.Error("a page for a recipe without an original")
	}
}

// Every question is about a sentence that the original has.
func TestQuestionsHaveSentences(t *testing.T) {
	for _, name := range original.Names() {
		page, _ := original.Page(measured(t, name))
		for _, sentence := range original.Sentences(name) {
			isThere := func(row []string) bool { return strings.HasPrefix(row[0], sentence) }
			if !slices.ContainsFunc(page.Tables[1].Rows, isThere) {
				t.Errorf("%s: no sentence begins with %q", name, sentence)
			}
		}
	}
}

// Ours decide what they can: four workers of a real benchmark on two cores.
func TestPageOfR3(t *testing.T) {
	page, _ := original.Page(measured(t, "r3"))
	var text strings.Builder
	for _, table := range page.Tables {
		for _, row := range table.Rows {
			text.WriteString(strings.Join(row, " | ") + "\n")
		}
	}
	for _, want := range []string{
		"gather-scatter: s/iteration | 1.745 (ranks 1 to 3), 1.174 (rank 0) | ",
		"a step of all-reduce 4×1 takes ",
		"ranks that exchange gradients wait for one another",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}
