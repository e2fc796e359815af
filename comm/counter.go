package comm

import "time"

// Count is the traffic with one peer in one kind of operation. Bytes are those of vectors, encoded
// if there is a codec, without frame headers, so that they can be compared with a schedule's Cost.
type Count struct {
	Sent, Received int64 // bytes
	Vector         int64 // size of the sent vectors before encoding
	Frames         int64 // sent; each has a header of 32 bytes, which the other fields leave out
	// Time is from the start of each step until the peer's transfers were done; of messages it is
	// their time on the link.
	Time time.Duration
}

// Less returns n without an earlier o.
func (n Count) Less(o Count) Count {
	return Count{n.Sent - o.Sent, n.Received - o.Received, n.Vector - o.Vector, n.Frames - o.Frames,
		n.Time - o.Time}
}

// Counters is a snapshot of a group's traffic.
type Counters struct {
	Peers []([numOps]Count) // [peer][Op]
	Calls [numOps]int64     // collectives completed
	Busy  [numOps]time.Duration
}

// Add adds o to n.
func (n *Count) Add(o Count) {
	n.Sent += o.Sent
	n.Received += o.Received
	n.Vector += o.Vector
	n.Frames += o.Frames
	n.Time += o.Time
}

// Total sums the traffic over peers and operations.
func (c Counters) Total() Count {
	var t Count
	for _, ops := range c.Peers {
		for _, n := range ops {
			t.Add(n)
		}
	}
	return t
}
