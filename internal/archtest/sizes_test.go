package archtest_test

import (
	"go/ast"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	maxFunctionLines = 80
	maxFileLines     = 600
	maxColumns       = 110 // tabs count four
	maxUnitLines     = 75  // of assembly
)

// readAllowed returns the entries of testdata/allow.txt, each with a reason behind a '#'.
func readAllowed(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/allow.txt")
	if err != nil {
		t.Fatal(err)
	}
	var entries []string
	for line := range strings.Lines(string(text)) {
		entry, reason, _ := strings.Cut(line, "#")
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		if strings.TrimSpace(reason) == "" {
			t.Errorf("allow.txt: %s has no reason", entry)
		}
		entries = append(entries, entry)
	}
	return entries
}

// unit is a function in assembly.
type unit struct {
	path, name string
	lines      int // instructions and labels
}

// assembly returns the units of the module's assembly.
func assembly(t *testing.T) []unit {
	t.Helper()
	var units []unit
	err := walk(func(path, rel string) error {
		if !strings.HasSuffix(path, ".s") {
			return nil
		}
		text, err := os.ReadFile(path)
		inside := false
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if rest, ok := strings.CutPrefix(line, "TEXT "); ok {
				name, _, _ := strings.Cut(strings.TrimPrefix(rest, "\u00b7"), "(")
				units, inside = append(units, unit{path: rel, name: name}), true
			} else if inside && line != "" && !strings.HasPrefix(line, "//") {
				units[len(units)-1].lines++
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(units) < 100 {
		t.Fatalf("found only %d functions in assembly below %s", len(units), root)
	}
	return units
}

func TestSizes(t *testing.T) {
	m, allowed := load(t), readAllowed(t)
	used := map[string]bool{}
	isAllowed := func(entry string) bool {
		used[entry] = true
		return slices.Contains(allowed, entry)
	}
	for _, f := range m.files {
		if f.isGenerated() {
			continue
		}
		lines := strings.Split(f.src, "\n")
		if len(lines) > maxFileLines && !f.isTest() && !isAllowed(f.path) {
			t.Errorf("%s has %d lines, want at most %d", f.path, len(lines), maxFileLines)
		}
		for i, line := range lines {
			if n := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")); n > maxColumns {
				t.Errorf("%s:%d has %d columns, want at most %d", f.path, i+1, n, maxColumns)
			}
		}
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || f.isTest() {
				continue
			}
			n := m.fset.Position(fn.End()).Line - m.fset.Position(fn.Pos()).Line + 1
			if n > maxFunctionLines && !isAllowed(f.path+" "+fn.Name.Name) {
				t.Errorf("%s: %s has %d lines, want at most %d",
					m.position(fn.Pos()), fn.Name.Name, n, maxFunctionLines)
			}
		}
	}
	for _, u := range assembly(t) {
		if u.lines > maxUnitLines && !isAllowed(u.path) && !isAllowed(u.path+" "+u.name) {
			t.Errorf("%s: %s has %d lines, want at most %d", u.path, u.name, u.lines, maxUnitLines)
		}
	}
	for _, entry := range allowed {
		if !used[entry] {
			t.Errorf("allow.txt: %s needs no exception any more", entry)
		}
	}
}
