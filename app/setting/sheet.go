package setting

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Line is a key of a YAML file: a name with one text, with several, with lists of lines below it, or with
// what [Line.Decode] reads.
type Line struct {
	Name  string
	Texts []string // one, or those of a list
	Parts [][]Line // of a list of mappings; empty, not nil, for one that is to be decoded
	Where string   // path:line:column

	node ast.Node
}

// Decode reads the value into what v points to, a type with tags for JSON. The error is a *UsageError.
func (l Line) Decode(v any) error {
	if err := yaml.NodeToValue(l.node, v, yaml.Strict()); err != nil {
		text, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
		return Refuse("%s: %s: %s", l.Where, l.Name, text)
	}
	return nil
}

// maxNested bounds lists and mappings in a file: the parser's memory grows with the square of their depth.
const maxNested = 400

// ReadSheet reads a YAML mapping of names to values, to lists of values, and to lists of mappings of the
// same kind, without anchors, aliases and tags. path names the text in errors, which are *UsageErrors of one
// line.
func ReadSheet(path string, text []byte) ([]Line, error) {
	s := sheet(path)
	for _, mark := range []string{"[", "{", "- "} {
		if bytes.Count(text, []byte(mark)) > maxNested {
			return nil, Refuse("%s: more than %d times %q, want lines of the form key: value", path,
				maxNested, mark)
		}
	}
	file, err := parser.ParseBytes(text, 0)
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil {
		return nil, s.refuse(syntax.Token.Position, "%s", syntax.Message)
	}
	if err != nil {
		return nil, s.refuse(&token.Position{Line: 1, Column: 1}, "%v", err)
	}
	var lines []Line
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue // an empty file, or comments alone
		}
		if lines != nil {
			return nil, s.refuse(doc.Body.GetToken().Position, "a second document, want one: leave out ---")
		}
		if lines, err = s.mapping(doc.Body); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

func (s sheet) refuse(at *token.Position, format string, args ...any) error {
	return Refuse("%s:%d:%d: %s", s, at.Line, at.Column, fmt.Sprintf(format, args...))
}

// sheet reads the file of a path.
type sheet string

// mapping reads the lines of a mapping.
func (s sheet) mapping(n ast.Node) ([]Line, error) {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		return nil, s.refuse(n.GetToken().Position, "want lines of the form key: value")
	}
	var lines []Line
	for _, pair := range values {
		l, err := s.line(pair)
		if err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// line reads a name and its value.
func (s sheet) line(pair *ast.MappingValueNode) (Line, error) {
	key := pair.Key.GetToken()
	l := Line{Name: key.Value, Where: fmt.Sprintf("%s:%d:%d", s, key.Position.Line, key.Position.Column)}
	l.node = pair.Value
	list, isList := pair.Value.(*ast.SequenceNode)
	if !isList {
		switch pair.Value.(type) {
		case *ast.MappingNode, *ast.MappingValueNode:
			l.Parts = [][]Line{}
			return l, nil
		}
		text, isScalar := textOf(pair.Value)
		if !isScalar {
			return l, s.refuse(key.Position, "%s: want a value, or a list of values, without "+
				"anchors, aliases and tags", l.Name)
		}
		l.Texts = []string{text}
		return l, nil
	}
	for _, item := range list.Values {
		if text, isScalar := textOf(item); isScalar {
			l.Texts = append(l.Texts, text)
			continue
		}
		part, err := s.mapping(item)
		if err != nil {
			return l, err
		}
		l.Parts = append(l.Parts, part)
	}
	if l.Texts != nil && l.Parts != nil {
		return l, s.refuse(key.Position, "%s: a list of values and of mappings; want one of the two", l.Name)
	}
	return l, nil
}

// textOf returns the text of a single value.
func textOf(n ast.Node) (text string, isScalar bool) {
	switch n := n.(type) {
	case *ast.LiteralNode:
		return n.Value.GetToken().Value, true
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return "", false
	case ast.ScalarNode:
		return n.GetToken().Value, true
	}
	return "", false
}
