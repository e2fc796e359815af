package comm

import "time"

// Count is the traffic with one peer in one kind of operation. Bytes are those of the vectors,
// without frame headers, so that they can be compared with a schedule's Cost; with a codec, those
// of its form.
type Count struct {
	Sent, Received int64         // bytes
	Vector         int64         // bytes that those sent stand for: more than Sent if a codec saves
	Frames         int64         // sent; each has a header of 32 bytes besides
	Time           time.Duration // from the start of each step until the peer's part of it was done
}

// Counters is a snapshot of what a group has done.
type Counters struct {
	Peers []([numOps]Count) // [peer][Op]
	Calls [numOps]int64     // collectives completed
	Busy  [numOps]time.Duration
}

// Total sums the traffic over peers and operations.
func (c Counters) Total() Count {
	var t Count
	for _, ops := range c.Peers {
		for _, n := range ops {
			t.Sent += n.Sent
			t.Received += n.Received
			t.Vector += n.Vector
			t.Frames += n.Frames
			t.Time += n.Time
		}
	}
	return t
}
