package setting

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// entry is one line of a configuration file.
type entry struct{ name, text, where string }

// parseFile reads a YAML mapping of setting names to values. A list is its values with commas between.
func parseFile(path string, text []byte) ([]entry, error) {
	lines, err := ReadSheet(path, text)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for _, l := range lines {
		if l.Parts != nil {
			return nil, Refuse("%s: %s: want a value, or a list of values", l.Where, l.Name)
		}
		entries = append(entries, entry{name: l.Name, text: strings.Join(l.Texts, ","), where: l.Where})
	}
	return entries, nil
}

// maxNested bounds the lists, mappings, anchors, aliases and tags of a file. The parser's memory grows with
// the square of their depth.
const maxNested = 400

// tooNested returns the place of the first such token above the most; nil if there are fewer.
func tooNested(tokens token.Tokens) *token.Position {
	n := 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceEntryType, token.SequenceStartType, token.MappingStartType, token.MappingKeyType,
			token.AnchorType, token.AliasType, token.TagType:
			n++
		}
		if n > maxNested {
			return t.Position
		}
	}
	return nil
}

// YAML returns the configuration as a file that --config accepts, each value with its origin as a
// comment. It leaves out open settings and the run directory: the file describes the run, not the place of
// its results.
func (c Config) YAML(origins Origins) []byte {
	return c.yaml(origins, func(Setting, string) bool { return true })
}

// Changes is YAML without the settings that equal Default, so that its result does not change when a later
// version adds a setting.
func (c Config) Changes() []byte {
	initial := Default()
	return c.yaml(nil, func(s Setting, value string) bool { return value != s.format(&initial) })
}

// yaml writes the settings that are wanted.
func (c Config) yaml(origins Origins, isWanted func(s Setting, value string) bool) []byte {
	var b bytes.Buffer
	if c.Resume == "" {
		b.WriteString("# lockstep train --config <this file> repeats the run.\n")
	} else {
		b.WriteString("# The settings of the last part of the run, which was resumed. " +
			"lockstep train --config <this file> makes\n# all of its steps with them.\n")
	}
	for _, s := range Settings(nil) {
		value := s.format(&c)
		if s.Name == "out" || s.Name == "resume" || value == "" || s.isOpen(&c) || !isWanted(s, value) {
			continue
		}
		if s.Type != "" && needsQuotes(value) {
			value = fmt.Sprintf("%q", value)
		}
		line := s.Name + ": " + value
		if origin := origins[s.Name]; origin != "" {
			if origin == fromDefault && c.Averages() && c.whyIdle(s) != "" { // such as an outer rate
				origin += ", not used by " + c.Strategy
			}
			line = fmt.Sprintf("%-28s # %s", line, origin)
		}
		b.WriteString(line + "\n")
	}
	return b.Bytes()
}

// needsQuotes reports whether YAML could read a plain value as something else.
func needsQuotes(value string) bool {
	isPlain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("/._+=-", c)
	}
	return strings.HasPrefix(value, "-") || strings.Trim(value, ".=") == "" ||
		strings.ContainsFunc(value, func(c rune) bool { return !isPlain(c) })
}
