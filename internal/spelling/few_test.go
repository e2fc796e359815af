package spelling_test

import (
	"strings"
	"testing"

	"lockstep/internal/spelling"
)

func TestFew(t *testing.T) {
	if got := spelling.Few([]string{"a", strings.Repeat("b", 50)}); got != "a, "+strings.Repeat("b", 40) {
		t.Error(got)
	}
	if got := spelling.Few(strings.Split("abcdefghijklmn", "")); !strings.HasSuffix(got, "k, l, and 2 more") {
		t.Error(got)
	}
}
