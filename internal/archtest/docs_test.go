package archtest_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryPackageHasOneSentence(t *testing.T) {
	for dir, files := range load(t).packages() {
		doc := ""
		for _, f := range files {
			if f.ast.Doc != nil && filepath.Base(f.path) == "doc.go" {
				doc = f.ast.Doc.Text()
			}
		}
		if doc == "" {
			t.Errorf("%s: no doc.go with a package comment", dir)
			continue
		}
		name := files[0].ast.Name.Name
		sentence, _, _ := strings.Cut(strings.ReplaceAll(doc, "\n", " "), ". ")
		if name == "main" {
			continue
		}
		if !strings.HasPrefix(sentence, "Package "+name+" ") {
			t.Errorf("%s: package comment starts %q, want \"Package %s ...\"", dir, sentence, name)
		}
		if strings.Contains(sentence, " and ") {
			t.Errorf("%s: two purposes in %q", dir, sentence)
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	m := load(t)
	for dir, files := range m.packages() {
		if files[0].ast.Name.Name == "main" {
			continue
		}
		for _, f := range files {
			for _, decl := range f.ast.Decls {
				for _, at := range undocumented(decl) {
					t.Errorf("%s: %s: exported, no doc comment", dir, m.position(at))
				}
			}
		}
	}
}

// Every package that another module can import has an example. go test compiles it, and runs it if it
// states its output.
func TestEveryPublicPackageHasAnExample(t *testing.T) {
	m := load(t)
	shown := map[string]bool{}
	for _, f := range m.files {
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && f.isTest() && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Example") {
				shown[f.dir] = true
			}
		}
	}
	for dir, files := range m.packages() {
		isPublic := !strings.Contains("/"+dir+"/", "/internal/") && files[0].ast.Name.Name != "main"
		if isPublic && !shown[dir] {
			t.Errorf("%s: no Example function in its tests", dir)
		}
	}
}

// undocumented returns where decl declares exported names without a comment.
func undocumented(decl ast.Decl) []token.Pos {
	var found []token.Pos
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && isExportedReceiver(d) {
			found = append(found, d.Pos())
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
					found = append(found, s.Pos())
				}
			case *ast.ValueSpec:
				documented := d.Doc != nil || s.Doc != nil || s.Comment != nil
				if s.Names[0].IsExported() && !documented {
					found = append(found, s.Pos())
				}
			}
		}
	}
	return found
}

func isExportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	name, ok := typ.(*ast.Ident)
	return ok && name.IsExported()
}
