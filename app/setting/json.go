package setting

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MarshalJSON writes an object with the name of each setting as a key. Numbers and switches are JSON's own;
// what a flag takes as a text of several parts is that text. Open settings are left out: their zero value is
// none that the run has, as the 0 of beta1 is neither that of sgd, which has none, nor the 0.9 of adamw.
func (c Config) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	separator := byte('{')
	for _, s := range Settings(nil) {
		if s.isOpen(&c) {
			continue
		}
		var value any = s.format(&c)
		if s.value != nil {
			value = s.value(&c)
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
	for _, s := range Settings(nil) {
		value, isThere := values[s.Name]
		if !isThere {
			continue
		}
		if err := s.read(c, value); err != nil {
			return fmt.Errorf("setting %s: %w", s.Name, err)
		}
	}
	return nil
}

// read takes the setting's value in JSON.
func (s Setting) read(c *Config, value []byte) error {
	if s.value != nil {
		return json.Unmarshal(value, s.value(c))
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return err
	}
	return s.parse(c, text)
}
