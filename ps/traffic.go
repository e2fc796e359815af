package ps

// Traffic is the bytes of vectors and other messages between processes, without frame headers.
type Traffic struct{ Sent, Received int64 }

// Traffic returns what the process of a rank sends and receives in one step whose messages have no
// codec. With n_s elements on server s, k pieces of the gradient at a worker, V shards and rows of R
// elements, a worker sends 4k n_s + 24 bytes to each server in another process and receives 4 n_s;
// if server 0 is one, it also sends 4R bytes for each of its shards and receives 4RV. A server
// sends and receives the same, the other way round, with every worker in another process.
func (l *Layout) Traffic(rank int) Traffic {
	var t Traffic
	for s, home := range l.Homes {
		for w := range l.Workers {
			if w == home {
				continue
			}
			flow := l.flow(s, w)
			if w == rank {
				t.Sent, t.Received = t.Sent+flow.Sent, t.Received+flow.Received
			}
			if home == rank {
				t.Sent, t.Received = t.Sent+flow.Received, t.Received+flow.Sent
			}
		}
	}
	return t
}

// ServerTraffic returns what a server sends to other processes and receives from them in one step. It
// is the server's part of its process's Traffic.
func (l *Layout) ServerTraffic(server int) Traffic {
	var t Traffic
	for w := range l.Workers {
		if w != l.Homes[server] {
			flow := l.flow(server, w)
			t.Sent, t.Received = t.Sent+flow.Received, t.Received+flow.Sent
		}
	}
	return t
}

// flow returns what worker w exchanges with a server in another process in one step.
func (l *Layout) flow(server, w int) Traffic {
	elems := 0
	for _, s := range l.Parts[server].Spans {
		elems += s.Hi - s.Lo
	}
	pieces := len(l.config.Plan.Pieces(w))
	t := Traffic{Sent: 4*int64(pieces*elems) + announcementBytes, Received: 4 * int64(elems)}
	if server == 0 {
		lo, hi := l.rowBounds(w)
		t.Sent += 4 * int64(hi-lo)
		t.Received += 4 * int64(l.numRows())
	}
	return t
}

// Traffic returns what the server has sent to other processes and received from them so far, with
// what loads it and reads its state. It may be called from any goroutine.
func (s *Server) Traffic() Traffic {
	return Traffic{Sent: s.sent.Load(), Received: s.received.Load()}
}
