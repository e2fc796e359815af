package record_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lockstep/app/record"
)

var update = flag.Bool("update", false, "write docs/record.md")

const page = "../../docs/record.md"

// docs/record.md says what the fields and their comments say.
func TestPageIsOfTheseTypes(t *testing.T) {
	p := newPages(t)
	fmt.Fprintf(&p.text, "# Record of a run\n\nSchema %d. Generated from the types of `app/record` by "+
		"`go test ./app/record -update`.\n", record.Schema)
	p.file("steps.jsonl", record.Step{})
	p.file("evaluations.jsonl", record.Evaluation{})
	p.file("updates.jsonl, first line", record.Order{})
	p.file("updates.jsonl", record.Update{})
	p.file("summary.json", record.Summary{})
	p.file("host.json", record.RunHost{})
	p.file("results.json", record.Results{})
	if *update {
		if err := os.WriteFile(page, p.text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(page)
	if err != nil || !bytes.Equal(written, p.text.Bytes()) {
		t.Errorf("%s is not of these types: %v; go test ./app/record -update", page, err)
	}
}

// pages writes a section for every type that a file holds.
type pages struct {
	t        *testing.T
	text     bytes.Buffer
	comments map[string]string // by type, or by type and field
	written  []reflect.Type
}

func newPages(t *testing.T) *pages {
	p := &pages{t: t, comments: map[string]string{}}
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				p.read(g)
			}
		}
	}
	return p
}

// read takes the comments of a type and of its fields.
func (p *pages) read(g *ast.GenDecl) {
	spec := g.Specs[0].(*ast.TypeSpec)
	p.comments[spec.Name.Name] = plain(g.Doc.Text())
	s, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			p.comments[spec.Name.Name+"."+name.Name] = plain(f.Comment.Text() + f.Doc.Text())
		}
	}
}

func plain(comment string) string { return strings.Join(strings.Fields(comment), " ") }

// file describes a file and all types that are only in it, or first.
func (p *pages) file(name string, value any) {
	fmt.Fprintf(&p.text, "\n## %s\n", name)
	p.section(reflect.TypeOf(value))
}

// section describes a type, then those of its fields.
func (p *pages) section(of reflect.Type) {
	if slices.Contains(p.written, of) {
		return
	}
	p.written = append(p.written, of)
	fmt.Fprintf(&p.text, "\n### %s\n\n%s\n\n| field | kind | unit | meaning |\n|---|---|---|---|\n",
		of.Name(), p.comments[of.Name()])
	var parts []reflect.Type
	for _, f := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		owner := of
		for _, i := range f.Index[:len(f.Index)-1] {
			owner = owner.Field(i).Type
		}
		meaning := p.comments[owner.Name()+"."+f.Name]
		if meaning == "" {
			p.t.Errorf("%s.%s has no comment", owner.Name(), f.Name)
		}
		kind, part := kindOf(f.Type)
		fmt.Fprintf(&p.text, "| `%s` | %s | %s | %s |\n", name, kind, unitOf(name, kind),
			strings.ReplaceAll(meaning, "|", `\|`))
		if part != nil {
			parts = append(parts, part)
		}
	}
	for _, part := range parts {
		p.section(part)
	}
}

// kindOf names the kind of a field in JSON, and returns the type of this package that describes it.
func kindOf(of reflect.Type) (kind string, part reflect.Type) {
	isOurs := strings.HasSuffix(of.PkgPath(), "app/record") || of == reflect.TypeFor[record.Probe]()
	switch {
	case isOurs && of.Kind() == reflect.Struct:
		return of.Name(), of
	case of.Kind() == reflect.Pointer:
		kind, part = kindOf(of.Elem())
		return kind + " or null", part
	case of.String() == "json.RawMessage":
		return "object", nil
	case of.Kind() == reflect.Slice:
		kind, part = kindOf(of.Elem())
		return "list of " + kind, part
	case of.Kind() == reflect.Map:
		kind, part = kindOf(of.Elem())
		return "by name, " + kind, part
	case of.String() == "time.Time":
		return "time", nil
	case of.Kind() == reflect.Float64 || of.Kind() == reflect.Float32:
		return "number", nil
	case of.Kind() == reflect.String:
		return "text", nil
	case of.Kind() == reflect.Bool:
		return "true or false", nil
	case of.Kind() == reflect.Struct:
		return "`" + of.String() + "`", nil
	}
	return "whole number", nil
}

// unitOf returns the unit that a name says, as names with a unit end, or begin, with it.
func unitOf(name, kind string) string {
	switch {
	case !strings.Contains(kind, "number"):
		return ""
	case strings.HasSuffix(name, "per_second"):
		return "1/s"
	case strings.HasSuffix(name, "seconds"), name == "wall":
		return "s"
	case strings.HasSuffix(name, "_ms"):
		return "ms"
	case strings.HasPrefix(name, "bytes"), strings.HasSuffix(name, "bytes"):
		return "bytes"
	}
	return ""
}
