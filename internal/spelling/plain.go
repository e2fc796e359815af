package spelling

import (
	"fmt"
	"strings"
	"unicode"
)

// Plain returns text that cannot move a terminal's cursor, change its colours or turn its direction:
// characters that are not shown become their numbers.
func Plain(text string) string {
	isPlain := func(r rune) bool { return r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r) }
	if !strings.ContainsFunc(text, func(r rune) bool { return !isPlain(r) || r == unicode.ReplacementChar }) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case isPlain(r) && r != unicode.ReplacementChar:
			b.WriteRune(r)
		case unicode.Is(unicode.Zs, r):
			b.WriteRune(' ')
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// PlainLines applies [Plain] to each line of a text.
func PlainLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		whole, isWhole := strings.CutSuffix(line, "\n")
		b.WriteString(Plain(whole))
		if isWhole {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
