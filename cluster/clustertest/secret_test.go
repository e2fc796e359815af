package clustertest_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lockstep/cluster/clustertest"
	"lockstep/cluster/pass"
)

func TestLeaksAreFound(t *testing.T) {
	token, err := pass.NewToken(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"clean": "the " + token.String(), "log": "x=" + token.Reveal(),
		"welcome": `{"secret":"AAAA"}`, "other": "hunter2"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{filepath.Join(dir, "log"), filepath.Join(dir, "other"), filepath.Join(dir, "welcome")}
	if got := clustertest.Leaks([]string{dir}, "hunter2"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := clustertest.Leaks([]string{filepath.Join(dir, "nothing")}); len(got) != 1 {
		t.Errorf("a folder that is not there: %q", got)
	}
}
