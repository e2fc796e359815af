package cluster_test

import (
	"fmt"
	"log"
	"strings"
	"time"

	"lockstep/cluster"
	"lockstep/cluster/pass"
)

// A worker learns its place from the environment that its launcher gave it.
func ExampleEnvironment_ResolveMember() {
	token, err := pass.NewToken(time.Hour)
	if err != nil {
		log.Fatal(err)
	}
	e := cluster.Environment{
		cluster.EnvRank: "1", cluster.EnvWorld: "4", cluster.EnvToken: token.Reveal(),
		cluster.EnvMasterAddr: "127.0.0.1", cluster.EnvMasterPort: "29500",
	}
	m, err := e.ResolveMember()
	fmt.Println(m.Rank, m.World, m.Address, err)
	delete(e, cluster.EnvToken)
	_, err = e.ResolveMember()
	fmt.Println(strings.ReplaceAll(err.Error(), ": ", ":\n"))
	// Output:
	// 1 4 127.0.0.1:29500 <nil>
	// environment:
	// MASTER_ADDR=127.0.0.1:
	// the processes are on several hosts and need a token, the same for all:
	// export LOCKSTEP_TOKEN=$(lockstep token) before they start, or LOCKSTEP_TOKEN_FILE=FILE
}
