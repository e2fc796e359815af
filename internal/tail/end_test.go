package tail_test

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/internal/tail"
)

// An End keeps no more than its last lines, and tells the last that says something.
func TestEnd(t *testing.T) {
	var e tail.End
	for i := range 10000 {
		fmt.Fprintf(&e, "line %d\r\n", i)
	}
	fmt.Fprint(&e, "\n \n")
	if e.LastLine() != "line 9999" || len(e.String()) > 8<<10 || !strings.Contains(e.String(), "line 9990") {
		t.Errorf("%q, of %d bytes", e.LastLine(), len(e.String()))
	}
	if last := tail.LastLine(" \n"); last != "" {
		t.Errorf("%q", last)
	}
}
