package cluster_test

import (
	"fmt"

	"lockstep/cluster"
)

// A worker learns its place from the environment that its launcher gave it.
func ExampleEnvironment_ResolveMember() {
	e := cluster.Environment{
		cluster.EnvRank: "1", cluster.EnvWorld: "4", cluster.EnvToken: string(cluster.NewToken()),
		cluster.EnvMasterAddr: "127.0.0.1", cluster.EnvMasterPort: "29500",
	}
	m, err := e.ResolveMember()
	fmt.Println(m.Rank, m.World, m.Address, err)
	delete(e, cluster.EnvToken)
	_, err = e.ResolveMember()
	fmt.Println(err)
	// Output:
	// 1 4 127.0.0.1:29500 <nil>
	// environment: LOCKSTEP_TOKEN: want a token of 32 hexadecimal digits, got 0 characters
}
