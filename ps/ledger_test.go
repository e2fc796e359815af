package ps_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lockstep/ps"
)

// history checks the decisions of a ledger while they are made.
type history struct {
	config   ps.LedgerConfig
	applied  []ps.Applied
	dropped  int
	batches  map[int]int  // lent and not yet applied: to which worker, for batches that count
	isUsed   map[int]bool // applied
	assigned map[int]int  // by batch: to which worker last
	views    []int        // their versions
}

func newHistory(c ps.LedgerConfig) *history {
	return &history{config: c, batches: map[int]int{}, isUsed: map[int]bool{},
		assigned: map[int]int{}}
}

// add checks one decision.
func (h *history) add(d ps.Decision) error {
	version := h.config.From + len(h.applied)
	switch d.Kind {
	case ps.Assign:
		h.assigned[d.Batch] = d.Worker
		if h.isUsed[d.Batch] {
			return fmt.Errorf("%+v is applied already", d)
		}
	case ps.Lend:
		h.batches[d.Batch] = d.Worker
		switch {
		case d.WasAssigned && h.assigned[d.Batch] != d.Worker:
			return fmt.Errorf("%+v was assigned to worker %d", d, h.assigned[d.Batch])
		case d.Version != version:
			return fmt.Errorf("lend of version %d, want %d", d.Version, version)
		case h.isUsed[d.Batch]:
			return fmt.Errorf("batch %d is lent again after it was applied", d.Batch)
		case !h.config.Continuous && h.config.Replay == nil &&
			d.Batch/h.config.PerEpoch != version/h.config.PerEpoch:
			return fmt.Errorf("batch %d is lent at version %d, in another epoch", d.Batch, version)
		}
	case ps.Apply:
		switch {
		case d.Update() != version:
			return fmt.Errorf("update %d after %d updates", d.Update(), version)
		case d.Staleness > h.config.Staleness:
			return fmt.Errorf("staleness %d, want at most %d", d.Staleness, h.config.Staleness)
		case h.isUsed[d.Batch]:
			return fmt.Errorf("batch %d is applied twice", d.Batch)
		case h.batches[d.Batch] != d.Worker:
			return fmt.Errorf("batch %d is applied for worker %d, who has not borrowed it", d.Batch, d.Worker)
		}
		h.isUsed[d.Batch] = true
		h.applied = append(h.applied, ps.Applied{Batch: d.Batch, Version: d.Version})
	case ps.Drop:
		h.dropped++
	case ps.View:
		h.views = append(h.views, d.Version)
		if d.Worker != 0 || d.Version != version || !h.config.Continuous {
			return fmt.Errorf("%+v at version %d", d, version)
		}
	case ps.Stop:
		if d.Version != version {
			return fmt.Errorf("stop at version %d, want %d", d.Version, version)
		}
		for b := h.config.From; b < version; b++ {
			if !h.isUsed[b] {
				return fmt.Errorf("stop at %d without batch %d", version, b)
			}
		}
	}
	return nil
}

// end checks that everything was done.
func (h *history) end() error {
	if got, want := len(h.applied), h.config.To-h.config.From; got != want {
		return fmt.Errorf("%d updates, want %d", got, want)
	}
	return nil
}

// party is a group of workers in simulated time.
type party struct {
	ledger  *ps.Ledger
	history *history
	random  *rand.Rand
	now     float64
	speed   []float64
	ahead   float64 // the part of a batch after which a worker asks for the next one
	pause   float64 // a stop or a view takes at most
	workers []laborer
	batches []int // that the workers compute
	events  []happening
	isOver  []bool
	isLost  []bool
	idle    []float64 // time each worker waited
	since   []float64
}

// happening is something that a worker does at a time: it asks for the next batch, or, unless batch is
// -1, commits one.
type happening struct {
	at            float64
	worker, batch int
}

// laborer is what a worker does: it computes a batch, and goes on with the answer it has got meanwhile.
type laborer struct {
	isBusy    bool
	has       *ps.Decision
	remaining float64 // time of the batch after the ask
}

func newParty(t testing.TB, c ps.LedgerConfig, random *rand.Rand) *party {
	t.Helper()
	l, err := ps.NewLedger(c)
	if err != nil {
		t.Fatal(err)
	}
	p := &party{ledger: l, history: newHistory(c), random: random, speed: make([]float64, c.Workers),
		isOver: make([]bool, c.Workers), isLost: make([]bool, c.Workers), idle: make([]float64, c.Workers),
		since: make([]float64, c.Workers), ahead: random.Float64(), pause: 1,
		workers: make([]laborer, c.Workers), batches: make([]int, c.Workers)}
	for i := range p.speed {
		p.speed[i] = 1
		p.events = append(p.events, happening{random.Float64(), i, -1})
	}
	return p
}

// decide takes all decisions that can be made and schedules what follows from them.
func (p *party) decide() error {
	for d, ok := p.ledger.Decide(); ok; d, ok = p.ledger.Decide() {
		if err := p.history.add(d); err != nil {
			return err
		}
		if p.isLost[d.Worker] {
			return fmt.Errorf("%+v is about a lost worker", d)
		}
		if d.Kind == ps.Apply || d.Kind == ps.Drop || d.Kind == ps.Assign {
			continue
		}
		if w := &p.workers[d.Worker]; w.isBusy {
			w.has = &d
		} else {
			p.goOn(d)
		}
	}
	return nil
}

// goOn does what a worker was told.
func (p *party) goOn(d ps.Decision) {
	w := &p.workers[d.Worker]
	switch {
	case d.Kind == ps.Lend:
		p.idle[d.Worker] += p.now - p.since[d.Worker]
		time := (0.5 + p.random.Float64()) / p.speed[d.Worker]
		w.isBusy, w.has, w.remaining = true, nil, (1-p.ahead)*time
		p.events = append(p.events, happening{p.now + p.ahead*time, d.Worker, -1})
		p.batches[d.Worker] = d.Batch
	case d.Kind == ps.Stop && d.IsOver:
		p.isOver[d.Worker] = true
	default:
		p.events = append(p.events, happening{p.now + p.pause*p.random.Float64(), d.Worker, -1})
	}
}

// happen lets an event happen. A worker that is busy commits its batch after it has asked for the next.
func (p *party) happen(e happening) {
	p.now = e.at
	w := &p.workers[e.worker]
	if e.batch < 0 {
		p.ledger.Take(e.worker)
		if p.since[e.worker] = p.now; w.isBusy {
			p.since[e.worker] += w.remaining
			p.events = append(p.events, happening{p.now + w.remaining, e.worker, p.batches[e.worker]})
		}
		return
	}
	w.isBusy = false
	p.ledger.Commit(e.worker, e.batch)
	if w.has != nil {
		p.goOn(*w.has)
	}
}

// schedule chooses what happens next.
type schedule interface {
	// victim returns a worker that is lost now; 0 means none.
	victim(p *party) int
	// next returns the index of the event that happens now.
	next(p *party) int
}

// run simulates until nothing is left to happen.
func (p *party) run(s schedule) error {
	for len(p.events) > 0 {
		if v := s.victim(p); v > 0 && !p.isLost[v] {
			p.isLost[v] = true
			p.ledger.Lost(v)
			p.events = slices.DeleteFunc(p.events, func(e happening) bool { return e.worker == v })
			if err := p.decide(); err != nil {
				return err
			}
			continue
		}
		at := s.next(p)
		e := p.events[at]
		p.events = slices.Delete(p.events, at, at+1)
		p.happen(e)
		if err := p.decide(); err != nil {
			return err
		}
	}
	for i := range p.isOver {
		if !p.isOver[i] && !p.isLost[i] {
			return fmt.Errorf("worker %d waits for ever, after %d updates", i, p.ledger.Version())
		}
	}
	return p.history.end()
}

// clock is the schedule of workers whose batches take random times; each event is preceded, with
// probability loss, by the loss of a worker other than 0.
type clock struct{ loss float64 }

func (c clock) victim(p *party) int {
	if p.random.Float64() < c.loss {
		return p.random.IntN(len(p.speed))
	}
	return 0
}

func (clock) next(p *party) int {
	first := 0
	for i, e := range p.events {
		if e.at < p.events[first].at {
			first = i
		}
	}
	return first
}

// path is one of all possible schedules with at most one loss: a branch of the tree of choices.
type path struct {
	choices, widths []int
	at              int
	hasLost         bool
}

// pick returns this path's choice among n.
func (p *path) pick(n int) int {
	if p.at == len(p.choices) {
		p.choices, p.widths = append(p.choices, 0), append(p.widths, n)
	}
	p.at++
	return p.choices[p.at-1]
}

func (p *path) victim(g *party) int {
	if p.hasLost {
		return 0
	}
	v := p.pick(len(g.speed))
	p.hasLost = v > 0
	return v
}

func (p *path) next(g *party) int { return p.pick(len(g.events)) }

// advance makes p the next path, and reports whether there is one.
func (p *path) advance() bool {
	for i := len(p.choices) - 1; i >= 0; i-- {
		if p.choices[i]++; p.choices[i] < p.widths[i] {
			*p = path{choices: p.choices[:i+1], widths: p.widths[:i+1]}
			return true
		}
	}
	return false
}

// Every order of arrivals with at most one lost worker, for small numbers.
func TestEverySchedule(t *testing.T) {
	paths := 0
	for _, c := range []ps.LedgerConfig{
		{Workers: 2, PerEpoch: 3, To: 4, Staleness: 0},
		{Workers: 2, PerEpoch: 3, To: 5, Staleness: 1},
		{Workers: 2, PerEpoch: 4, To: 4, Staleness: 3, Every: 3},
		{Workers: 3, PerEpoch: 3, To: 3, Staleness: 1},
		{Workers: 2, PerEpoch: 2, To: 4, Staleness: 3, Continuous: true},
		{Workers: 3, PerEpoch: 2, To: 3, Staleness: 2},
		{Workers: 2, PerEpoch: 3, To: 3, Staleness: 1, Backup: 1},
		{Workers: 3, PerEpoch: 3, To: 3, Staleness: 2, Backup: 1},
	} {
		s := &path{}
		for isMore := true; isMore; isMore = s.advance() {
			s.at, s.hasLost = 0, false
			paths++
			p := newParty(t, c, rand.New(rand.NewPCG(1, 1)))
			if err := p.run(s); err != nil {
				t.Fatalf("%+v, choices %v: %v", c, s.choices, err)
			}
		}
	}
	if paths < 10_000 {
		t.Errorf("%d schedules, want more", paths)
	}
}

// randomConfig returns a ledger of up to 8 workers over up to 4 epochs.
func randomConfig(r *rand.Rand) ps.LedgerConfig {
	c := ps.LedgerConfig{Workers: 1 + r.IntN(8), PerEpoch: 1 + r.IntN(30), Staleness: r.IntN(20),
		Every: r.IntN(12), Continuous: r.IntN(2) > 0}
	c.To = r.IntN(4 * c.PerEpoch)
	c.From = r.IntN(c.To + 1)
	if b := r.IntN(c.Workers); r.IntN(3) == 0 && c.Staleness >= c.Workers-b-1 {
		c.Backup = b
	}
	return c
}

// Among 10,000 random schedules with random losses, none exceeds the bound, loses a batch, applies
// one twice or stands still; and a replay with another number of workers makes the same updates.
func TestRandomSchedules(t *testing.T) {
	losses, drops, stalest := 0, 0, 0
	for seed := range uint64(10_000) {
		r := rand.New(rand.NewPCG(seed, 0))
		c := randomConfig(r)
		p := newParty(t, c, r)
		for i := range p.speed {
			p.speed[i] = 0.1 + r.Float64()
		}
		if err := p.run(clock{[]float64{0, 0.01, 0.1}[r.IntN(3)]}); err != nil {
			t.Fatalf("seed %d, %+v: %v", seed, c, err)
		}
		for _, isLost := range p.isLost {
			if isLost {
				losses++
			}
		}
		drops += p.history.dropped
		for i, a := range p.history.applied {
			stalest = max(stalest, c.From+i-a.Version)
		}
		if err := replay(t, c, p.history.applied, r); err != nil {
			t.Fatalf("seed %d, %+v: replay: %v", seed, c, err)
		}
	}
	if losses == 0 || drops == 0 || stalest < 10 {
		t.Errorf("%d losses, %d gradients dropped, largest staleness %d: the schedules are too tame",
			losses, drops, stalest)
	}
}

// replay repeats the updates with another number of workers of other speeds.
func replay(t *testing.T, c ps.LedgerConfig, applied []ps.Applied, r *rand.Rand) error {
	again := c
	again.Workers, again.Backup, again.Every = 1+r.IntN(8), 0, r.IntN(5)
	again.Continuous = r.IntN(2) > 0
	again.Replay = make([]ps.Applied, c.From, c.To)
	for i := range again.Replay {
		again.Replay[i] = ps.Applied{Batch: i, Version: i}
	}
	again.Replay = append(again.Replay, applied...)
	p := newParty(t, again, r)
	if err := p.run(clock{}); err != nil {
		return err
	}
	if !slices.Equal(p.history.applied, applied) {
		return fmt.Errorf("updates %v, want %v", p.history.applied, applied)
	}
	return nil
}

// With one of four workers three times slower, a bound of four times the number of workers lets the
// others go on: together they reach the sum of their own rates, whatever the length of an epoch. Only the
// end of the run is idle time.
func TestASlowWorkerDelaysNobody(t *testing.T) {
	for _, perEpoch := range []int{7, 16, 200} {
		p := newParty(t, ps.LedgerConfig{Workers: 4, PerEpoch: perEpoch, To: 800, Staleness: 16,
			Continuous: true}, rand.New(rand.NewPCG(7, 7)))
		p.speed[3], p.ahead, p.pause = 1.0/3, 0.8, 0
		if err := p.run(clock{}); err != nil {
			t.Fatal(err)
		}
		if want := 800 / (3 + 1.0/3); p.now > want/0.98 {
			t.Errorf("%d batches to the epoch: %.1f units of time for 800 batches, want at most %.1f",
				perEpoch, p.now, want/0.98)
		}
		for i, at := range p.history.views {
			if end := (i + 1) * perEpoch; at < end || at > end+16 {
				t.Errorf("%d batches to the epoch: view %d at version %d", perEpoch, i+1, at)
			}
		}
		if n := (800 - 1) / perEpoch; len(p.history.views) != n {
			t.Errorf("%d batches to the epoch: %d views, want %d", perEpoch, len(p.history.views), n)
		}
	}
}

// A worker that asks ahead is told its next batch, and gets it with the weights of its own update. The
// batch is not lost with the worker.
func TestAskingAhead(t *testing.T) {
	l, err := ps.NewLedger(ps.LedgerConfig{Workers: 2, PerEpoch: 50, To: 50, Staleness: 8})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want ...string) {
		t.Helper()
		var got []string
		for d, ok := l.Decide(); ok; d, ok = l.Decide() {
			got = append(got, fmt.Sprintf("%d: worker %d, batch %d of %d", d.Kind, d.Worker, d.Batch,
				d.Version))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	l.Take(0)
	l.Take(1)
	expect("0: worker 0, batch 0 of 0", "0: worker 1, batch 1 of 0")
	l.Take(0)
	l.Take(1)
	expect("5: worker 0, batch 2 of 0", "5: worker 1, batch 3 of 0")
	l.Commit(1, 1)
	expect("1: worker 1, batch 1 of 0", "0: worker 1, batch 3 of 1")
	l.Lost(0)
	l.Commit(1, 3)
	l.Take(1)
	expect("1: worker 1, batch 3 of 1", "0: worker 1, batch 0 of 2")
	l.Take(1)
	expect("5: worker 1, batch 2 of 2")
}

// A halted run ends after the batches that were lent, and not as if it were complete.
func TestHalt(t *testing.T) {
	for _, to := range []int{30, 100} {
		l, err := ps.NewLedger(ps.LedgerConfig{Workers: 2, PerEpoch: 50, To: to, Staleness: 4})
		if err != nil {
			t.Fatal(err)
		}
		l.Take(0)
		l.Take(1)
		l.Decide()
		l.Decide()
		l.Halt()
		l.Commit(1, 1)
		l.Take(1)
		l.Commit(0, 0)
		l.Take(0)
		var last []ps.Decision
		for d, ok := l.Decide(); ok; d, ok = l.Decide() {
			last = append(last, d)
		}
		if n := len(last); n != 4 || last[3].Kind != ps.Stop || last[3].Version != 2 ||
			!last[3].IsOver || !last[3].IsHalted {
			t.Errorf("to %d: decisions %+v, want two updates and two stops of a halted run", to, last)
		}
	}
}

func TestLedgerConfig(t *testing.T) {
	good := ps.LedgerConfig{Workers: 4, PerEpoch: 3, To: 5, Staleness: 2}
	replayed := func(a ...ps.Applied) func(*ps.LedgerConfig) {
		return func(c *ps.LedgerConfig) { c.To, c.Replay = 3, a }
	}
	for _, test := range []struct {
		change func(*ps.LedgerConfig)
		want   string
	}{
		{func(c *ps.LedgerConfig) { c.Workers = 0 }, "0 workers"},
		{func(c *ps.LedgerConfig) { c.From = 6 }, "batches [6, 5)"},
		{func(c *ps.LedgerConfig) { c.Staleness = -1 }, "staleness -1"},
		{func(c *ps.LedgerConfig) { c.Backup = 4 }, "4 backup workers of 4"},
		{func(c *ps.LedgerConfig) { c.Backup, c.Staleness = 1, 1 }, "staleness 1 with 3 gradients"},
		{replayed(ps.Applied{}), "replay of 1 updates, the run has 3"},
		{replayed(ps.Applied{0, 0}, ps.Applied{0, 1}, ps.Applied{2, 2}), "update 1 is of batch 0"},
		{replayed(ps.Applied{0, 0}, ps.Applied{1, 2}, ps.Applied{2, 2}), "update 1 reads version 2"},
		{replayed(ps.Applied{0, 0}, ps.Applied{3, 1}, ps.Applied{2, 2}), "update 1 is of batch 3"},
	} {
		c := good
		test.change(&c)
		if _, err := ps.NewLedger(c); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want %q", c, err, test.want)
		}
	}
}
