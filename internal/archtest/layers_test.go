package archtest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readLayers returns, for each package of ARCHITECTURE.md's layers table, what it may import.
func readLayers(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Layers\n")
	if !found {
		t.Fatal(`ARCHITECTURE.md has no section "## Layers"`)
	}
	layers := map[string][]string{}
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "## ") {
			break
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) < 2 || !strings.HasPrefix(strings.TrimSpace(cells[0]), "`") {
			continue
		}
		name := strings.Trim(strings.TrimSpace(cells[0]), "`")
		layers[name] = []string{}
		for _, word := range strings.Fields(cells[len(cells)-1]) {
			if strings.HasPrefix(word, "`") {
				layers[name] = append(layers[name], strings.Trim(word, "`,"))
			}
		}
	}
	return layers
}

func TestImportsFollowTheLayersTable(t *testing.T) {
	layers := readLayers(t)
	packages := load(t).packages()
	used := map[string]bool{} // "package arrow"
	for dir, files := range packages {
		allowed, listed := layers[dir]
		if !listed {
			t.Errorf("%s: not in the layers table of ARCHITECTURE.md", dir)
			continue
		}
		for _, f := range files {
			for _, spec := range f.ast.Imports {
				path, _ := strconv.Unquote(spec.Path.Value)
				name, isOurs := strings.CutPrefix(path, moduleName+"/")
				isOurs = isOurs || path == moduleName
				if !isOurs && strings.Contains(path, ".") {
					name, isOurs = path, true // a module outside the standard library
				}
				if !isOurs {
					continue
				}
				arrow := slices.IndexFunc(allowed, func(a string) bool {
					return a == name || strings.HasPrefix(name, a+"/") && strings.Contains(a, ".")
				})
				if arrow >= 0 {
					used[dir+" "+allowed[arrow]] = true
				} else {
					t.Errorf("%s imports %s; the layers table allows %v", f.path, name, allowed)
				}
			}
		}
	}
	for dir, allowed := range layers {
		if packages[dir] == nil {
			t.Errorf("layers table lists %s, which has no Go files", dir)
		}
		for _, a := range allowed {
			if !used[dir+" "+a] {
				t.Errorf("layers table lets %s import %s, which it does not", dir, a)
			}
		}
	}
}

// The columns of compute and of communication do not import each other; they meet only where a job is
// composed.
func TestColumnsNeverMeet(t *testing.T) {
	compute := []string{"compute", "internal/kernel/product", "graph", "graph/gpu", "checkpoint", "nn",
		"model",
		"optim", "data", "data/wordpiece", "train"}
	communication := []string{"comm", "comm/shm", "comm/tcp", "comm/commtest", "gradsync", "cluster",
		"simulate"}
	layers := readLayers(t)
	for _, pair := range [][2][]string{{compute, communication}, {communication, compute}} {
		for _, from := range pair[0] {
			for _, to := range pair[1] {
				if slices.Contains(layers[from], to) {
					t.Errorf("the layers table lets %s import %s across the columns", from, to)
				}
			}
		}
	}
}

// Imports point down: door, roof, columns, ground, as in ARCHITECTURE.md's map.
func TestFloors(t *testing.T) {
	const ground, columns, roof, door = 0, 1, 2, 3
	floor := func(name string) int {
		first, _, _ := strings.Cut(name, "/")
		switch first {
		case "tensor", "shard", "random", "trace", "compute", "internal":
			return ground
		case "app", "recipe":
			return roof
		case moduleName, "cmd":
			return door
		}
		return columns
	}
	for from, allowed := range readLayers(t) {
		for _, to := range allowed {
			if !strings.Contains(to, ".") && floor(from) < floor(to) {
				t.Errorf("the layers table lets %s import %s, a floor above", from, to)
			}
		}
	}
}
