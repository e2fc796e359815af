package foreign_test

import (
	"fmt"

	"lockstep/cluster"
	"lockstep/cluster/foreign"
)

func ExamplePlace() {
	p, err := foreign.Place(cluster.Environment{"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"})
	fmt.Println(p.Launcher, p.Rank, p.World, err)
	// Output:
	// Open MPI 1 4 <nil>
}
