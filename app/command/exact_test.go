package command

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/comm"
)

// The help and the page of exactness name everything that makes the result depend on more than its own
// settings, and no strategy that does not.
func TestExceptionsAreWhole(t *testing.T) {
	page, err := os.ReadFile("../../docs/exactness.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "These are the exceptions:\n\n")
	list, _, _ = strings.Cut(list, "\n\n")
	word := regexp.MustCompile(`[a-z0-9-]+`)
	for place, text := range map[string]string{"train --help": exceptions, "the page": list} {
		words := word.FindAllString(text, -1)
		want := func(name string, isThere bool) {
			t.Helper()
			if slices.Contains(words, name) != isThere {
				t.Errorf("%s: %q is there: %v, want %v", place, name, !isThere, isThere)
			}
		}
		for _, s := range strategy.All() {
			if s.Name != setting.Auto {
				want(s.Name, s.Inexact != "")
			}
		}
		for _, name := range comm.Algorithms() {
			want(name, !comm.IsExact(name))
		}
		for _, name := range []string{"lossy", "--wire", "bf16", "auto", "--for", "--replay"} {
			want(name, true)
		}
	}
	var lossless []string
	for _, s := range setting.Settings(nil) {
		for _, name := range s.Values {
			if s.Name == "wire" && name != setting.Auto && !setting.IsLossy(name) {
				lossless = append(lossless, "`"+name+"`")
			}
		}
	}
	want := "lossless wires (" + strings.Join(lossless, ", ") + ")"
	if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), want) {
		t.Errorf("the page does not say %q", want)
	}
}
