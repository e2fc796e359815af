package gradsync

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"lockstep/comm"
)

// Late is "ddp" whose sums may arrive during the next forward pass. It satisfies train.LateSync. A
// step ends with WaitRows, followed by WaitParam or WaitNext until every range is returned.
//
// After a few steps the buckets that backward does not hide change their order: they start in
// forward order, the same on all ranks.
type Late struct {
	*exchange
	isAway  []bool // by bucket: its sum has not been returned since WaitRows
	orderBy error  // the error of agree

	// How many buckets had begun when backward ended, in each of lateTrials steps after the first.
	begun []int
	step  int // since NewLate

	word [4]byte // rank 0's decision
}

// lateTrials is the number of steps that count begun before the buckets change their order.
const lateTrials = 9

// NewLate returns an exchange for workers that update weights during the next forward pass. It
// returns an error if c.Wire keeps residuals or is "auto".
func NewLate(c Config) (*Late, error) {
	if !c.Wire.IsFixed() {
		return nil, fmt.Errorf("gradsync: late: want no error feedback")
	}
	s, err := newExchange(c, comm.AllReduce, true)
	if err != nil {
		return nil, fmt.Errorf("gradsync: late: %w", err)
	}
	return &Late{exchange: s, isAway: make([]bool, len(s.buckets)),
		begun: make([]int, 0, lateTrials)}, nil
}

// Ready reports that the pieces of a parameter's gradient are final. Unlike a Strategy's, it starts
// the last bucket too.
func (s *Late) Ready(param int) {
	s.missing[s.bucketOf[param]]--
	s.startFirst(len(s.buckets))
}

// GatherRows starts the all-gather of rows.
func (s *Late) GatherRows(rows []float32) {
	s.orderBy = s.agree()
	s.gatherRows(rows, true)
}

// WaitRows blocks until the rows are complete. After a *comm.PeerError the exchange is unusable.
func (s *Late) WaitRows() error {
	s.waiting = time.Now()
	for i := range s.isAway {
		s.isAway[i] = true
	}
	if s.step > 0 && s.step <= lateTrials {
		s.begun = append(s.begun, 0)
	}
	s.step++
	if s.orderBy != nil || s.shared == nil {
		return s.orderBy
	}
	err := s.shared.handle.Wait()
	s.bookRows()
	return err
}

// WaitParam blocks until the global gradient of param is in Pieces[0]. It returns the range [lo,
// hi) that arrived with it, or lo = hi if that range was returned before.
func (s *Late) WaitParam(param int) (lo, hi int, err error) { return s.sum(s.bucketOf[param]) }

// WaitNext blocks until any further range is in Pieces[0]; lo = hi if all were returned.
func (s *Late) WaitNext() (lo, hi int, err error) {
	for _, i := range s.order {
		if lo, hi, err = s.sum(i); lo < hi || err != nil {
			return lo, hi, err
		}
	}
	return 0, 0, nil
}

// sum waits for bucket i, unless its sum was returned before.
func (s *Late) sum(i int) (lo, hi int, err error) {
	if !s.isAway[i] {
		return 0, 0, nil
	}
	s.isAway[i] = false
	b, h, wait := s.buckets[i], s.handles[i], time.Now()
	if err := h.Wait(); err != nil {
		return 0, 0, err
	}
	s.book(i, h, wait)
	s.count(i, h)
	if num := len(s.begun); num > 0 && h.Report().Began.Before(s.waiting) {
		s.begun[num-1]++
	}
	return b.Lo, b.Hi, nil
}

// Close waits for the exchanges in progress, as after a run that ended early.
func (s *Late) Close() error {
	for i := range s.isAway {
		_, _, _ = s.sum(i)
	}
	return s.exchange.Close()
}

// agree decides the order in which the buckets start, once a few steps have shown how many are
// exchanged during backward: that many, and at least one, in the order in which they become final,
// then the others in forward order. All ranks must use one order, so rank 0 decides. It is called
// while nothing is in progress.
func (s *Late) agree() error {
	if s.step != 1+lateTrials || len(s.begun) == 0 {
		return nil
	}
	slices.Sort(s.begun)
	word := s.word[:]
	binary.LittleEndian.PutUint32(word, uint32(s.begun[len(s.begun)/2]))
	s.begun = nil
	if err := s.config.Group.Broadcast(word, 0); err != nil {
		return err
	}
	s.order = LateOrder(len(s.order), int(binary.LittleEndian.Uint32(word)))
	return nil
}

// LateOrder returns the order in which the buckets of a Late start, by number, if backward hides the first
// hidden of them.
func LateOrder(buckets, hidden int) []int {
	order := make([]int, buckets)
	for i := range order {
		order[i] = i
	}
	slices.Reverse(order[min(buckets, max(1, hidden)):])
	return order
}
