package launch_test

import (
	"fmt"

	"lockstep/app/launch"
)

func ExampleParseHosts() {
	hosts, err := launch.ParseHosts("node[01-02]:2,me@big:8")
	fmt.Println(hosts, err)
	_, err = launch.ParseHosts("a:2,b:0")
	fmt.Println(err)
	// Output:
	// [{node01 2} {node02 2} {me@big 8}] <nil>
	// --hosts: "0" slots: want a whole number from 1 to 1024
}
