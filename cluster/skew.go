package cluster

import (
	"encoding/binary"
	"time"
)

// Note: clocks
//
// The answer to a pulse has the launcher's time when it came and when the answer left. With the worker's own
// times of both datagrams this gives by how much the worker's clock is ahead: the mean of what it is ahead
// when the pulse leaves and when the answer comes. The way there and the way back may take different times,
// so half of what they took together bounds the error. The round trip that took least counts, as long as no
// later one is better than it is by now: clocks drift apart.

// Skew says how a worker's clock stands to its launcher's.
type Skew struct {
	Offset time.Duration // what the worker's clock shows beyond the launcher's
	Error  time.Duration // by how much that may be wrong
}

// drift is by how much clocks of two hosts may drift apart in a second.
const drift = 50 * time.Microsecond

// stampBytes is the length of the times in an answer.
const stampBytes = 16

// stamp appends the times at which a pulse came and its answer leaves.
func stamp(b []byte, came, leaves time.Time) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(came.UnixNano()))
	return binary.LittleEndian.AppendUint64(b, uint64(leaves.UnixNano()))
}

// skewOf returns what a round trip tells; false: the answer has no times.
func skewOf(sent, heard time.Time, stamps []byte) (s Skew, ok bool) {
	if len(stamps) != stampBytes {
		return s, false
	}
	came, left := int64(binary.LittleEndian.Uint64(stamps)), int64(binary.LittleEndian.Uint64(stamps[8:]))
	there, back := sent.UnixNano()-came, heard.UnixNano()-left
	s.Offset = time.Duration(there/2 + back/2)
	s.Error = (heard.Sub(sent) - time.Duration(left-came)) / 2
	return s, s.Error >= 0
}

// skewed keeps the best round trip.
type skewed struct {
	best  Skew
	at    time.Time
	isSet bool
}

// now returns the skew with what may have been added to its error since it was measured.
func (k *skewed) now(now time.Time) Skew {
	s := k.best
	s.Error += time.Duration(now.Sub(k.at).Seconds() * float64(drift))
	return s
}

// add takes the skew that a round trip told.
func (k *skewed) add(s Skew, now time.Time) {
	if !k.isSet || s.Error <= k.now(now).Error {
		*k = skewed{s, now, true}
	}
}

// Skew returns how this worker's clock stands to the launcher's, by the round trips so far. On the launcher's
// host it is the same clock. It is false where no datagram has come back, so that nothing is known.
func (s *Session) Skew() (Skew, bool) {
	if s.pulser == nil {
		return Skew{}, s.Welcome.Pulse == nil && !s.line.isElsewhere()
	}
	s.pulser.mu.Lock()
	defer s.pulser.mu.Unlock()
	return s.pulser.skew.now(time.Now()), s.pulser.skew.isSet
}
