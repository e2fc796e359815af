package archtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages returns the Markdown files that people wrote, by path below the root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/howto/*.md", "docs/design/*.md",
		"results/*.md", "results/*/README.md"} {
		paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: no page, error %v", pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			found[filepath.ToSlash(rel)] = string(text)
		}
	}
	return found
}

// Every link, and every path of a source file below the root, names an existing file.
func TestPagesNameWhatIsThere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	source := regexp.MustCompile("`([a-z][\\w./-]*/[\\w.-]+\\.(?:go|md|py|sh|html|jsonl|svg))`")
	isThere := func(path string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(path)))
		return err == nil
	}
	for page, text := range pages(t) {
		folder := filepath.ToSlash(filepath.Dir(page))
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(m[1], "://") && !isThere(folder+"/"+m[1]) {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
		for _, m := range source.FindAllStringSubmatch(text, -1) {
			if !isThere(m[1]) && !isThere(folder+"/"+m[1]) {
				t.Errorf("%s names %s, which is not there", page, m[1])
			}
		}
	}
}

// Every design record has a status, and the index lists every record and every unused number.
func TestDesignRecordsHaveAStatus(t *testing.T) {
	all := pages(t)
	index := all["docs/design/README.md"]
	name := regexp.MustCompile(`^docs/design/(\d{4})-[a-z0-9-]+\.md$`)
	for page, text := range all {
		number := name.FindStringSubmatch(page)
		if number == nil {
			continue
		}
		if !strings.HasPrefix(text, "# "+number[1]+" ") {
			t.Errorf("%s: the title does not start with the number", page)
		}
		_, status, _ := strings.Cut(text, "\n\n**Status:** ")
		if !strings.HasPrefix(status, "in force") && !strings.HasPrefix(status, "superseded by ") &&
			!strings.HasPrefix(status, "describes what is gone") {
			t.Errorf("%s: no status below the title", page)
		}
		if !strings.Contains(index, "("+filepath.Base(page)+")") {
			t.Errorf("docs/design/README.md has no line for %s", page)
		}
	}
	for i := range strings.Count(index, "\n| 0") {
		if !strings.Contains(index, fmt.Sprintf("\n| %04d |", i+1)) {
			t.Errorf("docs/design/README.md has no line for number %04d", i+1)
		}
	}
}
