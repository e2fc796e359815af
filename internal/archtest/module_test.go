package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const root = "../.."

// moduleName stands for the package at the module's root.
const moduleName = "lockstep"

// file is one parsed Go file of the module.
type file struct {
	path string // slash-separated, relative to the module root
	dir  string
	ast  *ast.File
	src  string
}

func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// isGenerated reports whether a program wrote the file.
func (f *file) isGenerated() bool {
	return strings.HasPrefix(filepath.Base(f.path), "z") && ast.IsGenerated(f.ast)
}

// module is the parsed tree, vendored and nested modules left out.
type module struct {
	fset  *token.FileSet
	files []*file
}

// load returns the module, which no test changes.
func load(t *testing.T) *module {
	t.Helper()
	m, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.files) < 20 {
		t.Fatalf("found only %d Go files below %s", len(m.files), root)
	}
	return m
}

var parsed = sync.OnceValues(parse)

func parse() (*module, error) {
	m := &module{fset: token.NewFileSet()}
	return m, walk(func(path, rel string) error {
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		tree, err := parser.ParseFile(m.fset, path, src, parser.ParseComments)
		if err != nil {
			return err
		}
		dir := moduleName
		if slash := strings.LastIndexByte(rel, '/'); slash >= 0 {
			dir = rel[:slash]
		}
		m.files = append(m.files, &file{path: rel, dir: dir, ast: tree, src: string(src)})
		return nil
	})
}

// walk calls f with every file of the module and its slash-separated path relative to the root.
func walk(f func(path, rel string) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if d.IsDir() {
			return skipFolder(path, rel)
		}
		return f(path, rel)
	})
}

// skipFolder leaves out hidden, vendored and testdata folders and nested modules.
func skipFolder(path, rel string) error {
	base := filepath.Base(path)
	if rel != root && (strings.HasPrefix(base, ".") && base != ".." || base == "vendor" ||
		base == "testdata" || base == "runs") {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != root {
		return filepath.SkipDir
	}
	return nil
}

// packages returns the production files of the module by folder.
func (m *module) packages() map[string][]*file {
	byDir := map[string][]*file{}
	for _, f := range m.files {
		if !f.isTest() {
			byDir[f.dir] = append(byDir[f.dir], f)
		}
	}
	return byDir
}

// position formats where p is, relative to the module root.
func (m *module) position(p token.Pos) string {
	at := m.fset.Position(p)
	at.Filename = filepath.ToSlash(strings.TrimPrefix(at.Filename, root+string(filepath.Separator)))
	at.Column = 0
	return at.String()
}
