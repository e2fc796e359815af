package archtest_test

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	forbidden := []string{"util", "utils", "common", "base", "helpers", "misc", "shared", "types",
		"manager", "core", "pkg"}
	for dir := range load(t).packages() {
		if slices.Contains(forbidden, path.Base(dir)) {
			t.Errorf("%s: a name that says nothing about what is inside", dir)
		}
	}
}

func TestNoTodoWithoutAnIssue(t *testing.T) {
	m := load(t)
	for _, f := range m.files {
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(f.path, "internal/archtest/") {
					continue
				}
				if strings.Contains(c.Text, "TODO") || strings.Contains(c.Text, "FIXME") {
					t.Errorf("%s: open end in a comment", m.position(c.Pos()))
				}
			}
		}
	}
}

// Callers hold all state. Package variables are tables, errors and embedded files, never written after
// their declaration, and importing a package has no effect.
func TestNoHiddenState(t *testing.T) {
	m := load(t)
	for dir, files := range m.packages() {
		names := map[string]bool{}
		for _, f := range files {
			for _, decl := range f.ast.Decls {
				switch d := decl.(type) {
				case *ast.FuncDecl:
					if d.Name.Name == "init" && d.Recv == nil {
						t.Errorf("%s: init function", m.position(d.Pos()))
					}
				case *ast.GenDecl:
					checkVars(t, m, d, names)
				}
			}
		}
		for _, f := range files {
			checkWrites(t, m, f, names)
			checkEnvironment(t, m, dir, f)
		}
	}
}

// Files for processors with our assembly, or without, export nothing: so a package that imports one with such
// files compiles on both paths if it does on one, and make plain vets those with such files alone.
func TestPathsOfKernelsExportNothing(t *testing.T) {
	m := load(t)
	for _, f := range m.files {
		tag, _, _ := strings.Cut(f.src, "\npackage ")
		if f.isTest() || !strings.Contains(tag, "//go:build") || !strings.Contains(tag, "purego") {
			continue
		}
		if !slices.Contains([]string{"compute", "internal/kernel/asm"}, f.dir) {
			t.Errorf("%s: is for one path of the kernels; let make plain vet its package", f.path)
		}
		for _, decl := range f.ast.Decls {
			if names := declared(decl); slices.ContainsFunc(names, (*ast.Ident).IsExported) {
				t.Errorf("%s: exports on one path of the kernels alone", m.position(decl.Pos()))
			}
		}
	}
}

// declared returns the names of functions, methods, types, constants and variables that a declaration has.
func declared(decl ast.Decl) (names []*ast.Ident) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{d.Name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name)
			case *ast.ValueSpec:
				names = append(names, s.Names...)
			}
		}
	}
	return names
}

// What a program reads whole has a bound. A file of records goes through internal/regular, which has one for
// each kind; io.ReadAll is for a limited reader, and os.ReadFile for files of the kernel and of this source.
func TestReadsAreBounded(t *testing.T) {
	m := load(t)
	for _, f := range m.files {
		isOurs := strings.HasSuffix(f.path, "_linux.go") || slices.ContainsFunc(
			[]string{"results/", "internal/", "graph/gpu/generate/", "graph/gpu/emulate/",
				"cluster/clustertest/"},
			func(folder string) bool { return strings.HasPrefix(f.path, folder) })
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, isCall := n.(*ast.CallExpr)
			if !isCall || len(call.Args) == 0 {
				return true
			}
			var from string
			switch a := call.Args[0].(type) {
			case *ast.CallExpr:
				from = nameOf(a.Fun)
			case *ast.BasicLit:
				from = a.Value
			}
			isBad := nameOf(call.Fun) == "io.ReadAll" && from != "io.LimitReader" ||
				nameOf(call.Fun) == "os.ReadFile" && !strings.HasPrefix(from, `"/proc/`) && !isOurs
			if isBad && !strings.HasSuffix(f.path, "_test.go") {
				t.Errorf("%s: %s without a bound; want regular.ReadFile, or io.ReadAll of an io.LimitReader",
					m.position(n.Pos()), nameOf(call.Fun))
			}
			return true
		})
	}
}

// nameOf returns package and name of a function of another package; "" for others.
func nameOf(e ast.Expr) string {
	if s, is := e.(*ast.SelectorExpr); is {
		if x, is := s.X.(*ast.Ident); is {
			return x.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// checkVars records package variables and refuses those that start empty, to be written later.
func checkVars(t *testing.T, m *module, d *ast.GenDecl, names map[string]bool) {
	if d.Tok != token.VAR {
		return
	}
	for _, spec := range d.Specs {
		s := spec.(*ast.ValueSpec)
		isEmbedded := d.Doc != nil && strings.Contains(d.Doc.List[len(d.Doc.List)-1].Text, "go:embed")
		if len(s.Values) == 0 && !isEmbedded && s.Names[0].Name != "_" {
			t.Errorf("%s: package variable %s without a value", m.position(s.Pos()), s.Names[0].Name)
		}
		for _, name := range s.Names {
			names[name.Name] = true
		}
	}
}

// checkWrites reports assignments to package variables. A name that the function declares itself
// counts as local throughout it.
func checkWrites(t *testing.T, m *module, f *file, names map[string]bool) {
	for _, decl := range f.ast.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		locals := declaredIn(fn)
		report := func(target ast.Expr) {
			if name := rootOf(target); name != nil && names[name.Name] && !locals[name.Name] {
				t.Errorf("%s: writes package variable %s", m.position(name.Pos()), name.Name)
			}
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch s := n.(type) {
			case *ast.AssignStmt:
				for _, target := range s.Lhs {
					report(target)
				}
			case *ast.IncDecStmt:
				report(s.X)
			}
			return true
		})
	}
}

// rootOf returns the variable that an assignment to target changes, or nil.
func rootOf(target ast.Expr) *ast.Ident {
	for {
		switch e := target.(type) {
		case *ast.IndexExpr:
			target = e.X
		case *ast.SelectorExpr:
			target = e.X
		case *ast.StarExpr:
			target = e.X
		case *ast.Ident:
			return e
		default:
			return nil
		}
	}
}

// declaredIn returns every name that fn or a function inside it declares.
func declaredIn(fn *ast.FuncDecl) map[string]bool {
	locals := map[string]bool{}
	add := func(list ...ast.Expr) {
		for _, e := range list {
			if name, ok := e.(*ast.Ident); ok {
				locals[name.Name] = true
			}
		}
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.Field:
			for _, name := range s.Names {
				add(name)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				add(name)
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				add(s.Lhs...)
			}
		case *ast.RangeStmt:
			if s.Tok == token.DEFINE {
				add(s.Key, s.Value)
			}
		}
		return true
	})
	return locals
}

// checkEnvironment refuses reads of the environment outside cluster/env.go. internal/cuda looks where
// NVIDIA's libraries lie when it loads them, as the system's loader does with variables of its own.
func checkEnvironment(t *testing.T, m *module, dir string, f *file) {
	if f.path == "cluster/env.go" || f.path == "internal/cuda/library.go" || strings.HasPrefix(dir, "cmd/") {
		return
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := sel.X.(*ast.Ident)
		if ok && pkg.Name == "os" &&
			slices.Contains([]string{"Getenv", "LookupEnv", "Environ", "Setenv"}, sel.Sel.Name) {
			t.Errorf("%s: reads the environment outside cluster/env.go", m.position(sel.Pos()))
		}
		return true
	})
}
