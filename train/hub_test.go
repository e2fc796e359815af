package train_test

import (
	"sync"

	"lockstep/shard"
	"lockstep/train"
)

// hub is the simplest exact exchange between goroutines of one process. Its barrier is entered
// twice in each exchange, and the last one to enter the first computes.
type hub struct {
	plan  shard.Plan
	ranks []*spoke // by run of the plan

	mu      sync.Mutex
	wake    sync.Cond
	arrived int
	round   int
}

// spoke is one worker's GradSync.
type spoke struct {
	*hub
	rank   int
	loop   *train.Loop
	rows   []float32
	counts []int64
	ready  []int // parameters passed to Ready in this step
}

func newHub(plan shard.Plan) *hub {
	h := &hub{plan: plan, ranks: make([]*spoke, plan.Workers())}
	h.wake.L = &h.mu
	return h
}

func (h *hub) join(rank int, l *train.Loop) (train.Updater, error) {
	s := &spoke{hub: h, rank: rank, loop: l}
	h.mu.Lock()
	h.ranks[rank] = s
	h.mu.Unlock()
	return train.NewWhole(l, s)
}

// meet waits for all ranks; the last one to enter runs once first.
func (h *hub) meet(once func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.arrived++
	if h.arrived == len(h.ranks) {
		once()
		h.arrived = 0
		h.round++
		h.wake.Broadcast()
		return
	}
	for round := h.round; h.round == round; {
		h.wake.Wait()
	}
}

func (s *spoke) Begin(int)                  { s.ready = s.ready[:0] }
func (s *spoke) Ready(param int)            { s.ready = append(s.ready, param) }
func (s *spoke) GatherRows(rows train.Rows) { s.rows = rows }

func (s *spoke) Wait() error {
	s.meet(s.hub.reduce)
	return nil
}

// reduce adds all pieces in tree order and gathers the rows.
func (h *hub) reduce() {
	var nodes []shard.Node
	var pieces [][]float32
	for run, s := range h.ranks {
		nodes = append(nodes, h.plan.Pieces(run)...)
		pieces = append(pieces, s.loop.Pieces()...)
	}
	sums, _ := shard.Reduce(nodes, h.plan.Shards())
	for _, sum := range sums {
		for i, x := range pieces[sum.From] {
			pieces[sum.Into][i] += x
		}
	}
	rowLen := len(h.ranks[0].rows) / h.plan.Shards()
	for run, s := range h.ranks {
		copy(s.loop.Pieces()[0], pieces[0])
		lo, hi := h.plan.Run(run)
		for _, other := range h.ranks {
			copy(other.rows[lo*rowLen:hi*rowLen], s.rows[lo*rowLen:hi*rowLen])
		}
	}
}

func (s *spoke) Sum(counts []int64) error {
	s.counts = counts
	s.meet(func() {
		total := make([]int64, len(counts))
		for _, r := range s.ranks {
			for i, n := range r.counts {
				total[i] += n
			}
		}
		for _, r := range s.ranks {
			copy(r.counts, total)
		}
	})
	return nil
}
