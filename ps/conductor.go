package ps

import (
	"fmt"
	"slices"

	"lockstep/comm"
)

// Update is a record of what became of a gradient.
type Update struct {
	// Number of the update, from 0; of no meaning if it was dropped.
	Number int
	// Batch is counted from the start of the run.
	Batch int
	// Worker computed the gradient, from the weights of Version.
	Worker, Version int
	// Staleness is the number of updates since then.
	Staleness int
	// Samples is the size of the batch, 0 if the gradient was dropped.
	Samples int
	// IsDropped says that its round was over.
	IsDropped bool
}

// conductor is the part of server 0 that talks to the ledger, tells workers and servers what it
// decides, and passes on the rows of every update.
type conductor struct {
	server *AsyncServer
	ledger *Ledger

	asks, halts      []*comm.Mail // by worker
	answers, updates []*comm.Mail // by worker
	orders, arrivals []*comm.Mail // by server; of no use for server 0
	answered         [][]byte     // memory of answers, by worker
	ordered          [][]byte     // of orders, by server
	updated          [][]byte     // of updates, by worker
	toWorker         []outbox
	toServer         []outbox

	commits map[loanKey]*commit
	log     []done      // updates that some worker has not got
	first   int         // number of the first one in log
	seen    []int       // by worker: updates that it has got
	free    [][]float32 // memory of rows

	gone        int // servers that have no workers any more
	isDismissed bool
}

// commit is what has arrived of a gradient.
type commit struct {
	ask      ask
	rows     []float32 // nil: the worker has not told
	arrivals int       // servers that have all of it
}

// newConductor returns the conductor of s, with its messages registered.
func newConductor(s *AsyncServer, r *registry) (*conductor, error) {
	ledger, err := NewLedger(s.config.Ledger)
	if err != nil {
		return nil, err
	}
	l := s.config.Layout
	c := &conductor{server: s, ledger: ledger, seen: make([]int, l.Workers), commits: map[loanKey]*commit{},
		toWorker: make([]outbox, l.Workers), toServer: make([]outbox, len(l.Homes))}
	n, size := l.told()
	for w := range l.Workers {
		c.updated = append(c.updated, make([]byte, n*size))
		c.answered = append(c.answered, make([]byte, answerBytes+n*size))
		c.asks = append(c.asks, r.receive(kindAsk, w, w, 0,
			comm.Letter{Name: "ask", Buf: make([]byte, askBytes+4*l.config.RowLen)}))
		c.halts = append(c.halts, r.receive(kindHalt, w, w, 0,
			comm.Letter{Name: "halt", Buf: make([]byte, 1)}))
		c.answers = append(c.answers, r.send(kindAnswer, w, w, 0,
			comm.Letter{Name: "answer", Buf: c.answered[w]}))
		c.updates = append(c.updates, r.send(kindUpdate, w, w, 0,
			comm.Letter{Name: "updates", Buf: c.updated[w]}))
	}
	c.registerServers(r)
	return c, nil
}

// registerServers registers the messages to and from the other servers.
func (c *conductor) registerServers(r *registry) {
	for s, home := range c.server.config.Layout.Homes {
		c.ordered = append(c.ordered, make([]byte, orderBytes))
		if s == 0 {
			c.orders, c.arrivals = append(c.orders, nil), append(c.arrivals, nil)
			continue
		}
		c.orders = append(c.orders, r.send(kindOrder, home, s, 0,
			comm.Letter{Name: "order", Buf: c.ordered[s]}))
		c.arrivals = append(c.arrivals, r.receive(kindArrival, home, s, 0,
			comm.Letter{Name: "arrival", Buf: make([]byte, arrivalBytes)}))
	}
}

// start starts all receivers.
func (c *conductor) start() {
	for _, mails := range [][]*comm.Mail{c.asks, c.halts, c.arrivals[1:]} {
		for _, m := range mails {
			m.Start()
		}
	}
}

// begin begins with the first batch, when the servers are loaded.
func (c *conductor) begin(done int) error {
	if err := c.ledger.Resume(done); err != nil {
		return err
	}
	c.first = done
	for w := range c.seen {
		c.seen[w] = done
	}
	if loaded := c.server.config.OnLoad; loaded != nil {
		loaded(done)
	}
	return c.decide()
}

// handle acts on a message of the conductor.
func (c *conductor) handle(m *comm.Mail, e event) error {
	switch {
	case e.kind == kindOrder:
		c.toServer[e.index].sent()
		return nil
	case e.isOutgoing:
		c.toWorker[e.index].sent()
		return nil
	case e.kind == kindAsk:
		if err := c.asked(e.index, m.Bytes()); err != nil {
			return err
		}
		m.Start()
	case e.kind == kindArrival:
		var k loanKey
		if k.read(m.Bytes()); k == goodbye {
			c.gone++
			return nil
		}
		m.Start()
		c.arrived(k)
	case e.kind == kindHalt:
		c.ledger.Halt()
	}
	return c.decide()
}

// asked takes a worker's ask, and the rows of the batch whose gradient follows.
func (c *conductor) asked(worker int, told []byte) error {
	var a ask
	a.read(told)
	if a.isLast && c.server.config.Ledger.Replay == nil { // a replay is as long as its run
		c.ledger.Finish()
	}
	c.ledger.Take(worker)
	if a.batch < 0 {
		return nil
	}
	k := loanKey{worker, a.batch}
	m := c.commits[k]
	if m == nil || m.rows != nil {
		return fmt.Errorf("ps: rows of worker %d for batch %d, which it has not borrowed", worker, a.batch)
	}
	m.ask, m.rows = a, c.buffer()
	copy(comm.Bytes(m.rows), told[askBytes:])
	c.check(k)
	return nil
}

// buffer returns memory for the rows of a batch.
func (c *conductor) buffer() []float32 {
	if n := len(c.free); n > 0 {
		b := c.free[n-1]
		c.free = c.free[:n-1]
		return b
	}
	return make([]float32, c.server.config.Layout.config.RowLen)
}

// arrived notes that one more server has all of a gradient.
func (c *conductor) arrived(k loanKey) {
	if m := c.commits[k]; m != nil { // its worker is not lost
		m.arrivals++
		c.check(k)
	}
}

// check commits a gradient of which everything is there.
func (c *conductor) check(k loanKey) {
	if m := c.commits[k]; m.rows != nil && m.arrivals == len(c.server.config.Layout.Homes) {
		c.ledger.Commit(k.worker, k.batch)
	}
}

// decide tells everybody what the ledger decides.
func (c *conductor) decide() error {
	if !c.server.isLoaded {
		return nil
	}
	for d, ok := c.ledger.Decide(); ok; d, ok = c.ledger.Decide() {
		if err := c.pass(d); err != nil {
			return err
		}
	}
	c.trim()
	return nil
}

// pass tells the worker and the servers what was decided, and notes what became of a gradient.
func (c *conductor) pass(d Decision) error {
	k := loanKey{d.Worker, d.Batch}
	o := order{kind: d.Kind, worker: d.Worker, batch: d.Batch}
	switch d.Kind {
	case Assign, Lend:
		if !d.WasAssigned { // else the worker only waits for the weights
			c.commits[k] = &commit{}
			c.answer(d.Worker, answer{batch: d.Batch})
		}
	case View:
		c.answer(d.Worker, answer{batch: -1, isView: true})
	case Stop:
		c.answer(d.Worker, answer{batch: -1, isOver: d.IsOver, isHalted: d.IsHalted})
	case Apply:
		m := c.commits[k]
		o.rate, o.samples = m.ask.rate, m.ask.samples
		if c.server.config.DividesRate {
			o.rate /= float64(max(1, d.Staleness))
		}
		c.log = append(c.log, done{d.Batch, m.rows})
	case Drop:
		c.free = append(c.free, c.commits[k].rows)
	}
	if d.Kind != Assign {
		c.tell(o)
	}
	if d.Kind != Apply && d.Kind != Drop {
		return nil
	}
	delete(c.commits, k)
	c.note(d, o.samples)
	return nil
}

// note reports an update of so many samples, or a gradient that was dropped.
func (c *conductor) note(d Decision, samples int) {
	if c.server.config.OnUpdate == nil {
		return
	}
	c.server.config.OnUpdate(Update{Number: d.Update(), Batch: d.Batch, Worker: d.Worker,
		Version: d.Version, Staleness: d.Staleness, Samples: samples, IsDropped: d.Kind == Drop})
}

// tell gives an order to all servers.
func (c *conductor) tell(o order) {
	if o.kind != dismiss {
		c.server.orders = append(c.server.orders, o)
	}
	for s := 1; s < len(c.orders); s++ {
		c.toServer[s].add(c.orders[s], func() { o.put(c.ordered[s]) })
	}
}

// answer answers a worker, with all updates that it has not got.
func (c *conductor) answer(worker int, a answer) {
	unseen := c.log[c.seen[worker]-c.first:]
	c.seen[worker] += len(unseen)
	a.updates = len(unseen)
	n, size := c.server.config.Layout.told()
	put := func(b []byte, some []done) {
		for i, d := range some {
			d.put(b[i*size:])
		}
	}
	box, told := &c.toWorker[worker], min(n, len(unseen))
	first, rest := unseen[:told], unseen[told:]
	box.add(c.answers[worker], func() {
		a.put(c.answered[worker])
		put(c.answered[worker][answerBytes:], first)
	})
	for len(rest) > 0 {
		some := rest[:min(n, len(rest))]
		rest = rest[len(some):]
		box.add(c.updates[worker], func() { put(c.updated[worker], some) })
	}
}

// trim forgets the updates that all workers have got.
func (c *conductor) trim() {
	least := c.first + len(c.log)
	for w, n := range c.seen {
		if c.server.isLost[w] {
			continue
		}
		if len(c.toWorker[w].queue) > 0 {
			return // which may read them
		}
		least = min(least, n)
	}
	for _, d := range c.log[:least-c.first] {
		c.free = append(c.free, d.rows)
	}
	c.log = slices.Delete(c.log, 0, least-c.first)
	c.first = least
}

// lose takes the batches of a lost worker back.
func (c *conductor) lose(worker int) error {
	c.toWorker[worker] = outbox{isBusy: true} // nothing leaves any more
	for k, m := range c.commits {
		if k.worker == worker {
			delete(c.commits, k)
			if m.rows != nil {
				c.free = append(c.free, m.rows)
			}
		}
	}
	if !c.ledger.Lost(worker) {
		return fmt.Errorf("ps: worker %d was lost, and its gradient's weights are past: a replay needs "+
			"all its workers", worker)
	}
	return c.decide()
}

// finish dismisses the other servers when none of them has workers, and reports whether they know.
func (c *conductor) finish() (isDone bool) {
	others := len(c.orders) - 1
	if c.gone == others && !c.isDismissed {
		c.isDismissed = true
		c.tell(order{kind: dismiss})
	}
	for _, box := range c.toServer {
		if box.isBusy {
			return false
		}
	}
	return c.isDismissed
}

// leave expects nothing more from a worker.
func (c *conductor) leave(worker int) {
	for _, mails := range [][]*comm.Mail{c.asks, c.halts} {
		mails[worker].Cancel()
	}
}
