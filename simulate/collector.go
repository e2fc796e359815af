package simulate

// call is a collective of one rank.
type call struct {
	stages  []stage
	meeting *meeting // of a large world, in place of stages
	isBegun bool
	isDone  bool
	wake    func() // of who waits for it
}

// stage is a step of a schedule: core seconds of coding before it, transfers, core seconds of decoding and
// sums.
type stage struct {
	before   float64
	sends    []batch
	receives []batch
	after    float64
}

// meeting is a collective of a large world, in which all ranks begin when the last one comes and end
// together.
type meeting struct {
	cost
	threads []*thread
}

// cost is what a collective takes of equal ranks that begin at once.
type cost struct {
	seconds float64
	cpu     float64 // core seconds of a rank
	bytes   float64 // in and out of a rank
}

// collector executes the collectives of a rank in the order in which they were issued.
type collector struct {
	queue   []*call
	current *call
	at      int // stage of the current call
	phase   phase
	missing int    // transfers of the stage under way
	arrived []int  // by peer: transfers that came before their stage
	awaited []bool // by peer
}

// phase is what comes next in a stage.
type phase int

const (
	coding phase = iota
	moving
	adding
	ending
)

// issue starts a collective of a rank after those issued before.
func (w *world) issue(t *thread, c *call) {
	t.queue = append(t.queue, c)
	if t.current == nil {
		w.advance(t)
	}
}

// advance executes what a thread can do without waiting.
func (w *world) advance(t *thread) {
	for {
		if t.current == nil {
			if len(t.queue) == 0 {
				return
			}
			t.current, t.queue = t.queue[0], t.queue[1:]
			t.at, t.phase, t.current.isBegun = 0, coding, true
			if t.current.meeting != nil {
				w.meet(t)
				return
			}
		}
		if t.at == len(t.current.stages) {
			w.finish(t)
			continue
		}
		s := &t.current.stages[t.at]
		t.phase++
		switch t.phase - 1 {
		case coding:
			if s.before > 0 {
				w.compute(t.machine, s.before, 1, false, func() { w.advance(t) })
				return
			}
		case moving:
			if w.transfer(t, s); t.missing > 0 {
				return
			}
		case adding:
			if s.after > 0 {
				w.compute(t.machine, s.after, 1, false, func() { w.advance(t) })
				return
			}
		case ending:
			t.at, t.phase = t.at+1, coding
		}
	}
}

// finish ends the current call and wakes who waits for it.
func (w *world) finish(t *thread) {
	c := t.current
	t.current, c.isDone = nil, true
	if c.wake != nil {
		w.wake(c.wake)
	}
}

// transfer begins the transfers of a stage.
func (w *world) transfer(t *thread, s *stage) {
	t.missing = 1 // until all have begun
	for _, b := range s.receives {
		if t.arrived[b.peer] > 0 {
			t.arrived[b.peer]--
		} else {
			t.awaited[b.peer] = true
			t.missing++
		}
	}
	var messages [2]int
	for _, b := range s.sends {
		messages[w.kind(t.rank, b.peer)] += b.messages
	}
	for _, b := range s.sends {
		t.missing++
		to := w.threads[b.peer]
		w.send(t, b, messages[w.kind(t.rank, b.peer)], func() { w.moved(t) }, func() {
			if to.awaited[t.rank] {
				to.awaited[t.rank] = false
				w.moved(to)
			} else {
				to.arrived[t.rank]++
			}
		})
	}
	t.missing--
}

// moved notes that a transfer of the stage is over.
func (w *world) moved(t *thread) {
	if t.missing--; t.missing == 0 {
		w.advance(t)
	}
}

// meet waits for all threads, and then lets the collective take its time.
func (w *world) meet(t *thread) {
	m := t.current.meeting
	m.threads = append(m.threads, t)
	if len(m.threads) < w.Plan.Workers() {
		return
	}
	seconds := m.seconds
	finish := func() {
		for _, t := range m.threads {
			w.carried[t.rank] += m.bytes
			w.finish(t)
		}
		for _, t := range m.threads {
			w.advance(t)
		}
	}
	if seconds <= 0 {
		finish()
		return
	}
	f := &flow{threads: m.threads, cpu: m.cpu / seconds, share: 1}
	w.add(&f.activity, seconds, func() {
		w.end(f)
		finish()
	})
	w.begin(f)
}
