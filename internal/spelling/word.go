package spelling

import (
	"regexp"
	"strings"
)

// plainWord matches what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[\w./:=,+@%-]+$`)

// Word returns text as one word of a shell, in quotes if it needs them.
func Word(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
