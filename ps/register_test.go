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

// On a link go the pushes of a step, its pulls in the order of the next forward pass, and then the pushes
// of the next step. Everything else goes first.
func TestPrioritiesOnALink(t *testing.T) {
	const last, first = 0, maxSpans
	order := []int{urgent, PushPriority(0), PullPriority(0, first), PullPriority(0, last), PushPriority(1),
		PullPriority(1, first), PullPriority(1, last), PushPriority(1 << 30)}
	for i, p := range order[1:] {
		if p >= order[i] {
			t.Errorf("message %d of the order has priority %d, the one before it %d", i+1, p, order[i])
		}
	}
}
