package spelling

import (
	"strings"
	"unicode"
)

// longestWord is more than the bytes of a path, at most 4096 in Linux, and of the signs around it.
const longestWord = 4200

// Brief returns text with dots in place of the ends of words that no path can be: an error that quotes them
// would hide what it says.
func Brief(text string) string {
	if len(text) <= longestWord {
		return text
	}
	var b strings.Builder
	for text != "" {
		n := strings.IndexFunc(text, unicode.IsSpace)
		if n < 0 {
			n = len(text)
		}
		b.WriteString(head(text[:n]))
		rest := strings.TrimLeftFunc(text[n:], unicode.IsSpace)
		b.WriteString(text[n : len(text)-len(rest)])
		text = rest
	}
	return b.String()
}

// head returns a word, or the start of one that is too long.
func head(word string) string {
	const most = 80 // runes that are left
	if len(word) <= longestWord {
		return word
	}
	n := 0
	for i := range word {
		if n++; n > most {
			return word[:i] + "…"
		}
	}
	return word
}
