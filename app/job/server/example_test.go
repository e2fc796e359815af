package server_test

import (
	"fmt"

	"lockstep/app/job/server"
	"lockstep/app/setting"
)

// An asynchronous run can go on without any worker but the first and those with a server.
func ExampleMayLose() {
	c := setting.Default()
	c.Workers, c.Strategy, c.Servers = 4, "ps-async", 2
	mayLose := server.MayLose(c.Complete())
	for rank := range c.Workers {
		fmt.Println(rank, mayLose(rank))
	}
	// Output:
	// 0 false
	// 1 false
	// 2 true
	// 3 true
}
