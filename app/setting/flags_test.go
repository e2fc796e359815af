package setting_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"lockstep/app/setting"
)

var update = flag.Bool("update", false, "rewrite docs/flags.md")

// flagsPage is the text before the table of docs/flags.md.
const flagsPage = "# Flags of other programs\n\n" +
	"A common flag of torchrun, of scripts around torch, of Lightning, of Hugging Face's Trainer, of " +
	"Horovod,\nDeepSpeed or Megatron is answered with ours. With dashes or with underscores, it is the " +
	"same flag. Names that\nare the same here and there (`--epochs`, `--lr`, `--momentum`, `--seed`) are " +
	"not listed.\n\n" +
	"`--batch` counts the samples of a step over all workers, where the others count those of one worker:\n" +
	"`--workers 4 --batch 256` is their 4 processes of 64. `--lr` is for that batch. `--nnodes` is a flag " +
	"of\n`lockstep run`. There is no `--num-workers`: a worker prepares its batches by itself, beside the " +
	"step.\n\n" +
	"`go test ./app/setting -update` writes this page from the names that `lockstep train` answers.\n\n" +
	"| here | there |\n|---|---|\n"

// docs/flags.md is the table of the settings.
func TestFlagsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(flagsPage)
	for name, theirs := range setting.ElsewhereLines("settings") {
		names := slices.Sorted(strings.FieldsSeq(theirs))
		fmt.Fprintf(&b, "| `--%s` | `%s` |\n", name, strings.Join(names, "` `"))
	}
	const path = "../../docs/flags.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != b.String() {
		t.Errorf("docs/flags.md is not that of the settings (%v): go test ./app/setting -update", err)
	}
}

// A line of elsewhere.txt has a setting, a value of one, or a remark, to which its names lead, and no name of
// others has two lines.
func TestElsewhereIsHere(t *testing.T) {
	seen := make(map[string]string)
	once := func(of, ours, theirs string) {
		for name := range strings.FieldsSeq(theirs) {
			if other := seen[of+" "+name]; other != "" {
				t.Errorf("%s is %s and %s", name, other, ours)
			}
			seen[of+" "+name] = ours
		}
	}
	for name, theirs := range setting.ElsewhereLines("settings") {
		if setting.Elsewhere(name) != name {
			t.Errorf("there is no setting %s", name)
		}
		once("", name, theirs)
	}
	for ours, theirs := range setting.ElsewhereLines("values") {
		name, value, _ := strings.Cut(ours, " ")
		once(name, value, theirs)
		for their := range strings.FieldsSeq(theirs) {
			c, err := setting.Default().With([]setting.Value{{Name: name, Text: their}})
			if err == nil {
				err = c.Validate()
			}
			want := fmt.Sprintf("unknown %s %q; did you mean %q?", name, their, value)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("--%s %s: %v, want %q", name, their, err, want)
			}
		}
	}
	for theirs, remark := range setting.ElsewhereLines("remarks") {
		for their := range strings.FieldsSeq(theirs) {
			if hint := setting.Hint(their, nil); remark == "" || !strings.Contains(hint, remark) {
				t.Errorf("--%s: %q, want %q", their, hint, remark)
			}
		}
	}
}
