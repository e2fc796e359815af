package spelling_test

import (
	"fmt"
	"testing"

	"lockstep/internal/spelling"
)

func ExampleHint() {
	fmt.Println("unknown model vgg12" + spelling.Hint("vgg12", []string{"lenet", "vgg11"}))
	// Output: unknown model vgg12; did you mean "vgg11"?
}

func TestNearest(t *testing.T) {
	names := []string{"single", "gather-scatter", "all-reduce", "ddp", "none"}
	for word, want := range map[string]string{
		"dpp":           "ddp", // exchanged neighbours are one edit
		"DDP":           "ddp",
		"gatherscatter": "gather-scatter",
		"allreduce":     "all-reduce",
		"nonsense":      "",
		"":              "",
		"bone":          "", // another first letter
		"dq":            "", // two edits of a short word
	} {
		if got := spelling.Nearest(word, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
