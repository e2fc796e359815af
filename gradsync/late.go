package gradsync

import (
	"encoding/binary"
	"slices"
	"time"
)

// late is an exchange whose sums may come while the next forward pass goes on.
type late struct {
	isAway []bool // by bucket: its sum has not been returned since Wait
	err    error  // of taking turns

	// How many buckets had begun when backward ended, in each of the first steps but the very first.
	begun []int
	step  int // since New

	word [4]byte // rank 0's verdict
}

// lateTrials is in how many steps begun is counted, before the buckets take their turns.
const lateTrials = 9

// waitForRows is Wait of a late exchange.
func (s *exchange) waitForRows() error {
	if s.late.isAway == nil {
		s.late.isAway = make([]bool, len(s.buckets))
		s.late.begun = make([]int, 0, lateTrials)
	}
	for i := range s.late.isAway {
		s.late.isAway[i] = true
	}
	if s.late.step > 0 && s.late.step <= lateTrials {
		s.late.begun = append(s.late.begun, 0)
	}
	s.late.step++
	if s.late.err != nil || s.shared == nil {
		return s.late.err
	}
	return s.shared.handle.Wait()
}

func (s *exchange) Summed(param int) (lo, hi int, err error) {
	if param >= 0 {
		return s.summed(s.bucketOf[param])
	}
	for _, i := range s.turns {
		if lo, hi, err = s.summed(i); lo < hi || err != nil {
			return lo, hi, err
		}
	}
	return 0, 0, nil
}

// summed waits for bucket i, unless its sum has been returned.
func (s *exchange) summed(i int) (lo, hi int, err error) {
	if s.late.isAway == nil || !s.late.isAway[i] {
		return 0, 0, nil
	}
	s.late.isAway[i] = false
	b, h, wait := s.buckets[i], s.handles[i], time.Now()
	if err := h.Wait(); err != nil {
		return 0, 0, s.failed(i, err)
	}
	s.book(i, h, wait)
	s.count(i, h)
	if num := len(s.late.begun); num > 0 && h.Report().Began.Before(s.waiting) {
		s.late.begun[num-1]++
	}
	return b.Lo, b.Hi, nil
}

// takeTurns decides, once a few steps have shown how far the exchange comes during backward, in which
// order the buckets start: that many, and at least one, as they become final, then what the next forward
// pass reads first. All ranks must start them in one order, so rank 0 decides. It is called where nothing is
// under way.
func (s *exchange) takeTurns() error {
	if s.late.step != 1+lateTrials || len(s.late.begun) == 0 {
		return nil
	}
	slices.Sort(s.late.begun)
	word := s.late.word[:]
	binary.LittleEndian.PutUint32(word, uint32(s.late.begun[len(s.late.begun)/2]))
	s.late.begun = nil
	if err := s.config.Group.Broadcast(word, 0); err != nil {
		return err
	}
	first := min(uint32(len(s.turns)), max(1, binary.LittleEndian.Uint32(word)))
	slices.Reverse(s.turns[first:])
	return nil
}
