package command

import (
	"slices"
	"strings"
	"testing"

	"lockstep/cluster"
)

// The help of a command with many flags fits on two screens, its long one has all flags, and every command is
// under a heading.
func TestHelpInTwoLengths(t *testing.T) {
	for _, command := range []string{"train", "bench", "predict", "recipe run"} {
		_, short, _ := execute(append(strings.Fields(command), "--help")...)
		_, long, _ := execute(append(strings.Fields(command), "--help-all")...)
		if n := strings.Count(short, "\n"); n > 60 || !strings.Contains(short, "\n      --out") {
			t.Errorf("%s: %d lines", command, n)
		}
		if strings.Count(long, "\n      --") < 2*strings.Count(short, "\n      --") {
			t.Errorf("%s: the long help is no longer", command)
		}
	}
	a := &app{environment: cluster.Environment{}}
	for _, c := range a.root().Commands() {
		isHeaded := slices.ContainsFunc(commandGroups(), func(h headed) bool {
			return slices.Contains(h.names, c.Name())
		})
		isMore := slices.Contains([]string{"version", "completion"}, c.Name())
		if c.IsAvailableCommand() && !isHeaded && !isMore {
			t.Errorf("%s is under no heading", c.Name())
		}
	}
}
