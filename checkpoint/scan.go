package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// scanner parses the JSON of headers and indices (objects, strings and whole numbers) in one pass.
// The input is untrusted; anything unexpected is an error with its position.
type scanner struct {
	text []byte // valid UTF-8
	at   int
}

// syntaxError is a fault in a scanner's text.
type syntaxError struct {
	at     int
	reason string
}

// Error implements error.
func (e *syntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.at, e.reason) }

func (s *scanner) fail(format string, args ...any) error {
	return &syntaxError{s.at, fmt.Sprintf(format, args...)}
}

// peek returns the next byte that is not white space, or 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// accept consumes the next byte if it is c.
func (s *scanner) accept(c byte) bool {
	if s.peek() != c || s.at == len(s.text) {
		return false
	}
	s.at++
	return true
}

// expect consumes the next byte, which must be c.
func (s *scanner) expect(c byte) error {
	if s.accept(c) {
		return nil
	}
	if s.at == len(s.text) {
		return s.fail("ends where %q should be", string(c))
	}
	return s.fail("%q where %q should be", string(s.text[s.at]), string(c))
}

// object parses an object and calls visit for each key, positioned at its value.
func (s *scanner) object(visit func(key string) error) error {
	if err := s.expect('{'); err != nil {
		return err
	}
	if s.accept('}') {
		return nil
	}
	for {
		key, err := s.string(maxKey)
		if err == nil {
			err = s.expect(':')
		}
		if err == nil {
			err = visit(key)
		}
		if err != nil {
			return err
		}
		if s.accept('}') {
			return nil
		}
		if err := s.expect(','); err != nil {
			return err
		}
	}
}

// maxKey bounds the bytes of a key: an escape takes up to six bytes for one of a name.
const maxKey = 6 * maxName

// string parses a string of at most limit bytes as written.
func (s *scanner) string(limit int) (string, error) {
	if err := s.expect('"'); err != nil {
		return "", err
	}
	begin, isPlain := s.at, true
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case s.at-begin > limit:
			return "", s.fail("string of more than %d bytes", limit)
		case c == '"':
			s.at++
			if isPlain {
				return string(s.text[begin : s.at-1]), nil
			}
			var text string
			if err := json.Unmarshal(s.text[begin-1:s.at], &text); err != nil {
				return "", s.fail("string with a wrong escape")
			}
			return text, nil
		case c == '\\':
			isPlain = false
			s.at++
		case c < ' ':
			return "", s.fail("control character in a string")
		}
	}
	s.at = len(s.text)
	return "", s.fail("ends within a string")
}

// whole parses a number of decimal digits that fits an int64.
func (s *scanner) whole() (int64, error) {
	first := s.peek()
	begin, n := s.at, int64(0)
	for ; s.at < len(s.text) && '0' <= s.text[s.at] && s.text[s.at] <= '9'; s.at++ {
		digit := int64(s.text[s.at] - '0')
		if n > (math.MaxInt64-digit)/10 {
			return 0, s.fail("number beyond 2^63")
		}
		n = 10*n + digit
	}
	if s.at == begin || first == '0' && s.at > begin+1 {
		return 0, s.fail("want a whole number of at least 0")
	}
	return n, nil
}

// wholes parses an array of numbers into list and returns their count.
func (s *scanner) wholes(list []int64) (n int, err error) {
	if err := s.expect('['); err != nil {
		return 0, err
	}
	if s.accept(']') {
		return 0, nil
	}
	for n < len(list) {
		if list[n], err = s.whole(); err != nil {
			return n, err
		}
		n++
		if s.accept(']') {
			return n, nil
		}
		if err := s.expect(','); err != nil {
			return n, err
		}
	}
	return n, s.fail("more than %d numbers", len(list))
}

// skip consumes any value.
func (s *scanner) skip() error {
	d := json.NewDecoder(bytes.NewReader(s.text[s.at:]))
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		return s.fail("%v", err)
	}
	s.at += int(d.InputOffset())
	return nil
}

// end fails unless nothing but white space is left.
func (s *scanner) end() error {
	s.peek()
	if s.at < len(s.text) {
		return s.fail("%q after the end of the object", string(s.text[s.at]))
	}
	return nil
}
