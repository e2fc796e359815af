package spelling

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// plainWord matches what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[\w./:=,+@%-]+$`)

// Word returns text as one word of a shell, in quotes if it needs them. Control characters, which could move
// a terminal's cursor, are left to the shell's printf; a shell drops newlines at the end of what that prints.
func Word(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	if !strings.ContainsFunc(text, unicode.IsControl) {
		return quoted(text)
	}
	var b strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c >= 0x7f || c == '\\' { // a letter of several bytes may have a control character in it
			fmt.Fprintf(&b, `\0%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return `"$(printf %b ` + quoted(b.String()) + `)"`
}

// Line returns words as a command line for a shell.
func Line(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Word(word)
	}
	return strings.Join(quoted, " ")
}

// quoted returns text as a shell reads it without a change.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
