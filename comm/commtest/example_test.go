package commtest_test

import (
	"fmt"
	"testing"

	"lockstep/comm"
	"lockstep/comm/commtest"
)

// The tests of a transport call Run with a function that connects ranks.
func ExampleRun() {
	connect := func(t testing.TB, size int) []comm.Mesh { return comm.NewLocal(size) }
	_ = func(t *testing.T) { commtest.Run(t, connect) }
}

// Tree is the order of additions that all algorithms must follow, whoever has which shards.
func ExampleContributions_Tree() {
	c := commtest.NewContributions(4, 1)
	pairs := c[0][0] + c[1][0] + (c[2][0] + c[3][0])
	fmt.Println(c.Tree(0, 4)[0] == pairs)
	// Output: true
}
