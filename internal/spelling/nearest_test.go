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

// The beginning of some names means them, and not a name that happens to have as many letters.
func TestHintOfABeginning(t *testing.T) {
	names := []string{"lenet", "vgg11", "resnet20", "resnet56", "resnet50", "bert-mini"}
	for word, want := range map[string]string{
		"resnet": `; did you mean "resnet20", "resnet56" or "resnet50"?`,
		"ResNet": `; did you mean "resnet20", "resnet56" or "resnet50"?`,
		"bert":   `; did you mean "bert-mini"?`,
		"re":     "", // too short
		"lenett": `; did you mean "lenet"?`,
	} {
		if got := spelling.Hint(word, names); got != want {
			t.Errorf("Hint(%q) = %s, want %s", word, got, want)
		}
	}
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
