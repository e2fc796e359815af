package ps

import (
	"testing"

	"lockstep/comm"
)

// A worker that leaves while the last message of a gathering is on its way to another one is not
// expected to send again: the end of its link would count as a loss.
func TestAWorkerLeavesBeforeTheOthersHaveTheirSums(t *testing.T) {
	meshes := comm.NewLocal(3)
	posts := make([]*comm.Post, len(meshes))
	for rank, mesh := range meshes {
		posts[rank] = comm.NewPost(mesh, comm.PostConfig{})
		defer posts[rank].Close()
	}
	g := gathering{unsent: 2}
	for w := range 2 {
		m, err := posts[2].Receiver(comm.Letter{Name: "counts", Peer: w, Tag: 1, Buf: make([]byte, 8)})
		if err != nil {
			t.Fatal(err)
		}
		g.in = append(g.in, m)
	}
	sent := event{kind: kindSum, isOutgoing: true}
	g.handle(sent)
	g.leave(1)
	g.handle(sent)
	if g.in[1].Cancel() {
		t.Error("a message is expected of worker 1, which has left")
	}
}
