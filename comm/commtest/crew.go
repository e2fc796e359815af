package commtest

import (
	"sync/atomic"
	"time"

	"lockstep/comm"
)

// crew lets a rank see whether others wait in a collective.
type crew struct {
	groups []atomic.Pointer[comm.Group]
}

func newCrew(workers int) *crew { return &crew{make([]atomic.Pointer[comm.Group], workers)} }

// join makes g's rank visible.
func (c *crew) join(g *comm.Group) { c.groups[g.Rank()].Store(g) }

// untilWaits returns when rank has joined and waits for a peer.
func (c *crew) untilWaits(rank int) {
	for ; ; time.Sleep(time.Millisecond) {
		if g := c.groups[rank].Load(); g != nil && g.Standing().Wait != nil {
			return
		}
	}
}

// untilOthersWait returns when every rank but self has joined and has waited for a peer.
func (c *crew) untilOthersWait(self int) {
	for rank := range c.groups {
		if rank != self {
			c.untilWaits(rank)
		}
	}
}
