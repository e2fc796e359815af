package claim_test

import (
	"strings"
	"testing"

	"lockstep/app/claim"
)

// TestFormsFitTheirExamples reads the example of every form: the form itself must be the first one that fits,
// so none is hidden by another one before it.
func TestFormsFitTheirExamples(t *testing.T) {
	const table = "| strategy | workers | step ms |\n|---|---|---|\n" +
		"| solo | 1 | 20 |\n| ddp | 2 | 12 |\n| ps | 4 | 8 |\n"
	d, err := claim.Read(strings.NewReader(table+"\nThese are steps.\n"), "table.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range claim.FormExamples() {
		if got := claim.FirstForm(d, example); got != example {
			t.Errorf("%q is judged by the form of %q, want its own", example, got)
		}
	}
}

// TestHeadingsFitTheirExamples does the same with the headings of columns.
func TestHeadingsFitTheirExamples(t *testing.T) {
	for _, example := range claim.HeadingExamples() {
		if got := claim.FirstHeading(example); got != example {
			t.Errorf("the heading %q is read as %q, want as its own", example, got)
		}
	}
}
