package comm_test

import (
	"testing"

	"lockstep/comm"
	"lockstep/comm/commtest"
)

func TestCombinedLinks(t *testing.T) { commtest.Run(t, combined) }

// combined links ranks in memory, two to a host.
func combined(_ testing.TB, size int) []comm.Mesh {
	t := commtest.Pairs(size)
	meshes := comm.NewLocal(size)
	for rank := range meshes {
		peers := t.Peers(rank)
		if peers[0] != rank {
			continue
		}
		for i, inside := range comm.NewLocal(len(peers)) {
			meshes[peers[i]] = comm.Combine(inside, meshes[peers[i]], t)
		}
	}
	return meshes
}
