package spelling_test

import (
	"lockstep/internal/spelling"
	"testing"
)

// Text that moves a cursor, or turns the direction of others, becomes the numbers of its characters.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{"a × b": "a × b", "\x1b[31m": `\u001b[31m`,
		"a\u202eb": `a\u202eb`,
		"a\nb":     `a\u000ab`, "a\u00a0b": "a b"} {
		if got := spelling.Plain(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := spelling.PlainLines("a\r\n\x1bb\n"); got != "a\\u000d\n\\u001bb\n" {
		t.Errorf("%q", got)
	}
}
