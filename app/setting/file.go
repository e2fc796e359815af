package setting

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// YAML returns the configuration as a file that --config accepts, each value with its origin as a
// comment. It leaves out open settings and the run directory: the file describes the run, not the place of
// its results.
func (c Config) YAML(origins Origins) []byte {
	return c.yaml(origins, func(string) bool { return true })
}

// Changes is YAML without the settings that equal Default, so that its result does not change when a later
// version adds a setting.
func (c Config) Changes() []byte {
	changed := differing(c, Default())
	return c.yaml(nil, func(name string) bool { return slices.Contains(changed, name) })
}

// yaml writes the settings that are wanted.
func (c Config) yaml(origins Origins, isWanted func(name string) bool) []byte {
	var b bytes.Buffer
	b.WriteString("# lockstep train --config <this file> repeats the run.\n")
	for _, s := range c.table() {
		value := s.text()
		if s.Name == "out" || s.Name == "resume" || value == "" || s.isOpen() || !isWanted(s.Name) {
			continue
		}
		if s.Type != "" && needsQuotes(value) {
			value = fmt.Sprintf("%q", value)
		}
		line := s.Name + ": " + value
		if origin := origins[s.Name]; origin != "" {
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

// MarshalJSON writes an object with the name of each setting as a key. Numbers and switches are JSON's own;
// what a flag takes as a text of several parts is that text. Open settings are left out: their zero value is
// none that the run has, as the 0 of beta1 is neither that of sgd, which has none, nor the 0.9 of adamw.
func (c Config) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	separator := byte('{')
	for _, s := range c.table() {
		if s.isOpen() {
			continue
		}
		value := s.json
		if value == nil {
			value = s.text()
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("setting %s: %w", s.Name, err)
		}
		fmt.Fprintf(&b, "%c%q:%s", separator, s.Name, text)
		separator = ','
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON writes. Settings that are not there keep their values; keys that are
// no settings are skipped.
func (c *Config) UnmarshalJSON(text []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	for _, s := range c.table() {
		value, isThere := values[s.Name]
		if !isThere {
			continue
		}
		if err := s.readJSON(value); err != nil {
			return fmt.Errorf("setting %s: %w", s.Name, err)
		}
	}
	return nil
}

// readJSON takes the value in JSON.
func (v value) readJSON(value []byte) error {
	if v.json != nil {
		return json.Unmarshal(value, v.json)
	}
	var text string
	if json.Unmarshal(value, &text) == nil {
		return v.set(text)
	}
	var number json.Number // of a text that may be one: older files had it as one
	if err := json.Unmarshal(value, &number); err != nil {
		return err
	}
	return v.set(number.String())
}
