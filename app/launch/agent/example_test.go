package agent_test

import (
	"fmt"

	"lockstep/app/launch/agent"
)

func ExampleParseHosts() {
	hosts, err := agent.ParseHosts("node01:2,node02:2,me@big:8")
	fmt.Println(hosts, err)
	_, err = agent.ParseHosts("a:2,b:0")
	fmt.Println(err)
	// Output:
	// [{node01 2} {node02 2} {me@big 8}] <nil>
	// --hosts: "0" slots: want a whole number from 1 to 1024
}
