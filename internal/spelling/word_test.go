package spelling

import (
	"os/exec"
	"strings"
	"testing"
	"unicode"
)

// A shell reads a word back as it was.
func TestWord(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	for _, text := range []string{"runs/a", "runs/a b", "it's", "$HOME", "a;b", "", `"x"\`, "é ü",
		"a\x1b[31mb\nc", "it's\ta 100 % \\ \\n é", "\u0085x"} {
		got, err := exec.Command(sh, "-c", "printf %s "+Word(text)).Output()
		if strings.ContainsFunc(Word(text), unicode.IsControl) {
			t.Errorf("%q has control characters", Word(text))
		}
		if err != nil || string(got) != text {
			t.Errorf("%q as %s is read as %q, %v", text, Word(text), got, err)
		}
	}
	if got := Word("runs/a"); got != "runs/a" {
		t.Errorf("plain word %s", got)
	}
}
