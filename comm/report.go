package comm

import "time"

// Report says when a collective was issued, began and ended, how many bytes this rank sent and
// received for it, and the size of the sent vectors before encoding.
type Report struct {
	Issued, Began, Ended   time.Time
	Sent, Received, Vector int64
	// Met is when the last of the peers began to send from which something was to come, and Last is
	// that peer. Met is zero of what waits for nobody, and of messages.
	Met  time.Time
	Last int
	// Split is the part of the time from Began to Ended in which no bytes had to move.
	Split
}

// Split says what the time of an exchange went into other than moving bytes, on this rank.
type Split struct {
	// Waited is how long it waited for the first byte of a peer, so for its turn. Messages have none.
	Waited time.Duration
	// Added is how long it added vectors, Coded how long it encoded and decoded them.
	Added, Coded time.Duration
}

// Add adds o to s.
func (s *Split) Add(o Split) {
	s.Waited += o.Waited
	s.Added += o.Added
	s.Coded += o.Coded
}

// Less returns s without an earlier o.
func (s Split) Less(o Split) Split {
	return Split{s.Waited - o.Waited, s.Added - o.Added, s.Coded - o.Coded}
}

// After returns the part of the split that lies after a time, such as when training began to wait. Of a
// collective that was in progress at that time it is in proportion: what was added and coded is taken
// to be spread evenly over the time after Met.
func (r Report) After(t time.Time) Split {
	switch {
	case !r.Began.Before(t):
		return r.Split
	case !r.Ended.After(t):
		return Split{}
	}
	s, met := r.Split, r.Began
	if r.Met.After(met) {
		met = r.Met
	}
	if met.After(t) {
		s.Waited = portion(s.Waited, met.Sub(t), met.Sub(r.Began))
		return s
	}
	of, all := r.Ended.Sub(t), r.Ended.Sub(met)
	return Split{Added: portion(s.Added, of, all), Coded: portion(s.Coded, of, all)}
}

// portion returns d times of/all, which is at most 1.
func portion(d, of, all time.Duration) time.Duration {
	return time.Duration(float64(d) * float64(of) / float64(all))
}
