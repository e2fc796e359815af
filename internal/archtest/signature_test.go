package archtest_test

import (
	"go/ast"
	"strconv"
	"strings"
	"testing"
)

// Exported signatures name no internal type, since programs of other modules cannot import internal
// packages.
func TestExportedSignaturesNeedNoInternalType(t *testing.T) {
	m := load(t)
	for dir, files := range m.packages() {
		if strings.Contains("/"+dir+"/", "/internal/") || files[0].ast.Name.Name == "main" {
			continue
		}
		for _, f := range files {
			internal := internalImports(f.ast)
			for _, decl := range f.ast.Decls {
				for _, exported := range signatures(decl) {
					ast.Inspect(exported, func(n ast.Node) bool {
						s, ok := n.(*ast.SelectorExpr)
						if !ok {
							return true
						}
						if name, ok := s.X.(*ast.Ident); ok && internal[name.Name] {
							t.Errorf("%s: exported with %s.%s, an internal type", m.position(s.Pos()),
								name.Name, s.Sel.Name)
						}
						return false
					})
				}
			}
		}
	}
}

// internalImports returns the names under which a file knows internal packages.
func internalImports(f *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, spec := range f.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if !strings.Contains(path, "/internal/") {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = true
	}
	return names
}

// signatures returns the parts of decl that its users see: types of functions and methods, of exported
// fields, constants and variables.
func signatures(decl ast.Decl) []ast.Node {
	var parts []ast.Node
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && isExportedReceiver(d) {
			parts = append(parts, d.Type)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					parts = append(parts, visible(s.Type)...)
				}
			case *ast.ValueSpec:
				if s.Names[0].IsExported() && s.Type != nil {
					parts = append(parts, s.Type)
				}
			}
		}
	}
	return parts
}

// visible returns the types of the exported fields or methods of a type, or the type itself.
func visible(typ ast.Expr) []ast.Node {
	var fields *ast.FieldList
	switch t := typ.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return []ast.Node{typ}
	}
	var parts []ast.Node
	for _, f := range fields.List {
		if len(f.Names) == 0 || f.Names[0].IsExported() {
			parts = append(parts, f.Type)
		}
	}
	return parts
}
