package archtest_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	maxPackageLines = 3000
	maxPackageFiles = 20
	maxRoofPercent  = 36 // of all lines of source, those below app/; it may only fall
)

// weight is how much source a package has, without tests and generated files.
type weight struct{ lines, files int }

// weigh returns the weights of all packages.
func weigh(t *testing.T) map[string]weight {
	t.Helper()
	weights := map[string]weight{}
	for _, f := range load(t).files {
		if f.isTest() || f.isGenerated() {
			continue
		}
		dir := filepath.ToSlash(filepath.Dir(f.path))
		w := weights[dir]
		weights[dir] = weight{w.lines + strings.Count(f.src, "\n"), w.files + 1}
	}
	return weights
}

// readBudget returns the packages of testdata/budget.txt that may be heavier, and how heavy each may be.
func readBudget(t *testing.T) map[string]weight {
	t.Helper()
	text, err := os.ReadFile("testdata/budget.txt")
	if err != nil {
		t.Fatal(err)
	}
	heavier := map[string]weight{}
	for line := range strings.Lines(string(text)) {
		entry, reason, _ := strings.Cut(line, "#")
		if strings.TrimSpace(entry) == "" {
			continue
		}
		var dir string
		var w weight
		_, err := fmt.Sscan(entry, &dir, &w.lines, &w.files)
		if err != nil || strings.TrimSpace(reason) == "" {
			t.Errorf("budget.txt: %q: want a package, lines, files and a reason, error %v", line, err)
		}
		heavier[dir] = w
	}
	return heavier
}

// A package can be read in a sitting, and the roof does not outweigh the house. Whoever raises a bound
// deletes as much elsewhere, or says why in the commit.
func TestBudget(t *testing.T) {
	weights, heavier := weigh(t), readBudget(t)
	all, roof := 0, 0
	for _, dir := range slices.Sorted(maps.Keys(weights)) {
		w := weights[dir]
		t.Logf("%-30s %6d lines %3d files", dir, w.lines, w.files)
		if all += w.lines; strings.HasPrefix(dir, "app/") {
			roof += w.lines
		}
		most, isHeavy := heavier[dir]
		if !isHeavy {
			most = weight{maxPackageLines, maxPackageFiles}
		}
		if w.lines > most.lines || w.files > most.files {
			t.Errorf("%s has %d lines in %d files, want at most %d in %d", dir, w.lines, w.files, most.lines,
				most.files)
		}
		if isHeavy && w.lines <= maxPackageLines && w.files <= maxPackageFiles {
			t.Errorf("budget.txt: %s needs no exception any more", dir)
		}
	}
	if percent := 100 * roof / all; percent > maxRoofPercent {
		t.Errorf("app/ has %d of %d lines, %d %%, want at most %d", roof, all, percent, maxRoofPercent)
	}
	t.Logf("app/ has %d of %d lines", roof, all)
}
