package setting_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/app/setting"
)

// The README's table of other programs' flags is that of the settings, no name more or less.
func TestReadmeKnowsTheFlagsOfOtherPrograms(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	plain := func(name string) string { return strings.ReplaceAll(name, "_", "-") }
	quoted := regexp.MustCompile("`([^`]+)`")
	table := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| `--") {
			continue
		}
		names := quoted.FindAllStringSubmatch(line, -1)
		ours := strings.TrimPrefix(names[0][1], "--")
		for _, n := range names[1:] {
			table[ours] = append(table[ours], plain(n[1]))
		}
	}
	for _, s := range setting.Settings(nil) {
		want, got := s.Elsewhere(), table[s.Name]
		slices.Sort(want)
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("the README has %q for --%s, want %q", got, s.Name, want)
		}
		delete(table, s.Name)
	}
	for name := range table {
		t.Errorf("the README's table has --%s, which is no setting", name)
	}
}
