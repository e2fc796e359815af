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

// State hangs off values that callers hold: package variables are tables, errors and embedded
// files, never written after their declaration, and nothing happens at import.
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

// checkWrites reports assignments to package variables.
func checkWrites(t *testing.T, m *module, f *file, names map[string]bool) {
	report := func(target ast.Expr) {
		for {
			switch e := target.(type) {
			case *ast.IndexExpr:
				target = e.X
				continue
			case *ast.SelectorExpr:
				target = e.X
				continue
			case *ast.StarExpr:
				target = e.X
				continue
			case *ast.Ident:
				if names[e.Name] && isPackageLevel(e) {
					t.Errorf("%s: writes package variable %s", m.position(e.Pos()), e.Name)
				}
			}
			return
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				for _, target := range s.Lhs {
					report(target)
				}
			}
		case *ast.IncDecStmt:
			report(s.X)
		}
		return true
	})
}

// isPackageLevel reports whether the identifier is not resolved to something local.
func isPackageLevel(e *ast.Ident) bool {
	if e.Obj == nil {
		return true
	}
	spec, ok := e.Obj.Decl.(*ast.ValueSpec)
	return ok && e.Obj.Kind == ast.Var && spec != nil && isTopLevel(e.Obj)
}

// isTopLevel reports whether the object was declared outside functions: the parser gives such
// objects the file scope, whose declarations carry no enclosing statement.
func isTopLevel(o *ast.Object) bool {
	_, isLocal := o.Decl.(*ast.AssignStmt)
	return !isLocal
}

// checkEnvironment refuses reads of the environment outside cluster/env.go.
func checkEnvironment(t *testing.T, m *module, dir string, f *file) {
	if f.path == "cluster/env.go" || strings.HasPrefix(dir, "cmd/") {
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
