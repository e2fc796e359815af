package peer_test

import (
	"context"
	"fmt"
	"strings"

	"lockstep/app/peer"
	"lockstep/cluster"
)

// Without a Python that has PyTorch there is nothing to compare with, and the error says how to get one.
func ExampleFind() {
	_, err := peer.Find(context.Background(), cluster.Environment{cluster.EnvPython: "/nowhere/python"}, 1)
	reason, _, _ := strings.Cut(err.Error(), "; want")
	fmt.Println(reason)
	// Output: no Python with torch: exec: "/nowhere/python": stat /nowhere/python: no such file or directory
}
