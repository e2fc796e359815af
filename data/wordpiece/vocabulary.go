package wordpiece

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names of the files of a tokenizer, as Hugging Face's programs write them: its words, all of it, and what
// that of words needs beside them.
const (
	VocabularyFile = "vocab.txt"
	TokenizerFile  = "tokenizer.json"
	ConfigFile     = "tokenizer_config.json"
)

// Bounds of a vocabulary; BERT's have 21,128 to 119,547 tokens of at most 72 bytes.
const (
	maxTokens     = 1 << 20
	maxTokenBytes = 1 << 10
)

// Tokenizer splits texts into the tokens of one vocabulary.
type Tokenizer struct {
	words map[string]int32 // whole tokens
	tails map[string]int32 // tokens that continue a word, without "##"
	// longestWord and longestTail are the maximum lengths in bytes.
	longestWord, longestTail int
	special                  []token // names of special tokens in the vocabulary
	isCased                  bool    // keeps upper case and accents
	unknown, first, last     int32   // [UNK], [CLS], [SEP]

	counts map[string]int // of each word that was encoded; nil: they are not counted
}

type token struct {
	name string
	id   int32
}

// LineError reports a wrong line of a vocabulary.
type LineError struct {
	// Line counts from 1; 0 if the fault has no line.
	Line int
	// Reason says what was found and what was expected.
	Reason string
	// Err is the error of the reader, or nil.
	Err error
}

// Error names the line and the reason.
func (e *LineError) Error() string {
	text := "wordpiece: vocabulary"
	if e.Line > 0 {
		text = fmt.Sprintf("%s, line %d", text, e.Line)
	}
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", text, e.Reason, e.Err)
	}
	return text + ": " + e.Reason
}

// Unwrap returns the error of the reader.
func (e *LineError) Unwrap() error { return e.Err }

// Read reads a vocabulary in the format of vocab.txt: one token per line, numbered by line from 0.
// Tokens that continue a word start with "##". [UNK], [CLS] and [SEP] are required. The tokenizer
// keeps upper case and accents if a token outside brackets contains upper case.
//
// It reads r to its end unless a line is wrong; memory grows with what is read. Every error is a
// *LineError.
func Read(r io.Reader) (*Tokenizer, error) {
	t := &Tokenizer{words: map[string]int32{}, tails: map[string]int32{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxTokenBytes)
	n := 0
	for ; lines.Scan(); n++ {
		line := trimmed(lines.Text())
		if n == 0 {
			line = strings.TrimPrefix(line, "\ufeff") // a byte order mark
		}
		if err := t.add(line, n); err != nil {
			return nil, err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, &LineError{Line: n + 1,
			Reason: fmt.Sprintf("longer than %d bytes, want one token a line", maxTokenBytes)}
	case err != nil:
		return nil, &LineError{Line: n + 1, Reason: "cannot be read", Err: err}
	}
	return t, t.complete(n)
}

// New returns the tokenizer of a vocabulary whose tokens are numbered by their order. Every error is a
// *LineError, in which a token's line is its number and one more, as it is in vocab.txt.
func New(tokens []string) (*Tokenizer, error) {
	t := &Tokenizer{words: map[string]int32{}, tails: map[string]int32{}}
	for n, name := range tokens {
		if trimmed(name) != name || strings.Contains(name, "\n") {
			return nil, &LineError{Line: n + 1,
				Reason: fmt.Sprintf("%.80q ends in a space or has two lines", name)}
		}
		if err := t.add(name, n); err != nil {
			return nil, err
		}
	}
	return t, t.complete(len(tokens))
}

// trimmed returns a line without the spaces at its end.
func trimmed(line string) string { return strings.TrimRight(line, " \t\r") }

// complete finds the special tokens among n tokens.
func (t *Tokenizer) complete(n int) error {
	for _, name := range []string{"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"} {
		if id, ok := t.words[name]; ok {
			t.special = append(t.special, token{name, id})
		}
	}
	for i, id := range []*int32{&t.unknown, &t.first, &t.last} {
		want := []string{"[UNK]", "[CLS]", "[SEP]"}[i]
		found, ok := t.words[want]
		if !ok {
			return &LineError{Reason: fmt.Sprintf("%d tokens without %s", n, want)}
		}
		*id = found
	}
	return nil
}

// add adds the token of line n, counted from 0.
func (t *Tokenizer) add(name string, n int) error {
	table, longest := t.words, &t.longestWord
	piece, isTail := strings.CutPrefix(name, "##")
	if isTail && piece != "" {
		table, longest = t.tails, &t.longestTail
	} else {
		piece = name
	}
	reason := ""
	switch {
	case n >= maxTokens:
		reason = fmt.Sprintf("more than %d tokens", maxTokens)
	case name == "":
		reason = "empty, want one token a line"
	case !utf8.ValidString(name):
		reason = "not UTF-8"
	default:
		if before, ok := table[piece]; ok {
			reason = fmt.Sprintf("%.80q again, after line %d", name, before+1)
		}
	}
	if reason != "" {
		return &LineError{Line: n + 1, Reason: reason}
	}
	table[piece] = int32(n)
	t.isCased = t.isCased || name[0] != '[' && strings.ContainsFunc(name, isCapital)
	*longest = max(*longest, len(piece))
	return nil
}

// isCapital reports whether c has a lower-case form. By that rule the sign of the real numbers,
// which is in BERT's uncased vocabulary, is no capital, although Unicode lists it as upper case.
func isCapital(c rune) bool { return unicode.ToLower(c) != c }

// IsCased reports whether the tokenizer keeps upper case and accents.
func (t *Tokenizer) IsCased() bool { return t.isCased }

// SetCased sets whether the tokenizer keeps upper case and accents. It must not be called while
// another goroutine encodes.
func (t *Tokenizer) SetCased(isCased bool) { t.isCased = isCased }

// Number returns the number of a whole token such as [PAD], and false if there is none.
func (t *Tokenizer) Number(name string) (int, bool) {
	id, ok := t.words[name]
	return int(id), ok
}

// Text returns the vocabulary in the format of Read.
func (t *Tokenizer) Text() []byte {
	lines := make([]string, t.Len())
	for name, id := range t.words {
		lines[id] = name
	}
	for name, id := range t.tails {
		lines[id] = "##" + name
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// Len returns the number of tokens.
func (t *Tokenizer) Len() int { return len(t.words) + len(t.tails) }
