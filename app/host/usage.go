package host

import "time"

// lostEvery is the time in which one step reads what the process lost, three times or more. It costs a file
// read for each thread: some 20 us.
const lostEvery = 40 * time.Millisecond

// memoryEvery is the time between two looks at the process's memory, which costs a file read.
const memoryEvery = 100 * time.Millisecond

// Usage is what this process took for a step, from the end of the step before, or of the evaluation
// after that, to its own end.
type Usage struct {
	Wall           time.Duration // how long that was: a little more than the step
	CPU            time.Duration // processor time of all its threads
	Gradient       time.Duration // of that the part until [Meter.Gradient]; 0: it was not called
	RSS            int64         // resident bytes, at most memoryEvery old
	Sent, Received int64         // bytes exchanged
	// Lost is what the process lost since the last step that has it, more than lostEvery ago; nil: the next
	// one tells.
	Lost *Lost
}

// Lost is time in which a process could not compute though it had work.
type Lost struct {
	Delayed time.Duration // threads were ready to run and had no core, summed over threads
	Paused  time.Duration // Go's runtime had stopped all of them
	// Exchange is Delayed of one step, the last, while it waited for the exchange by [Meter.Exchange].
	Exchange time.Duration
}

// Meter tells what each step took.
type Meter struct {
	at             time.Time // of the last look
	cpu            time.Duration
	gradient       time.Duration // since then until the step had its gradient
	rss            int64
	looked         time.Time
	sent, received int64

	lost      Lost      // since the meter began; its Exchange of this step, if isLostDue
	lostAt    time.Time // when lost was read
	found     Lost      // what was lost until then, since it was read before
	isLostDue bool      // this step reads it
	tasks     tasks
	pauses    pauses
}

// NewMeter starts at zero now.
func NewMeter() *Meter {
	now := time.Now()
	m := &Meter{at: now, cpu: processTime(), rss: residentBytes(), looked: now, isLostDue: true, lostAt: now}
	m.tasks.list()
	m.pauses.open()
	m.lost = Lost{Delayed: m.tasks.waited(), Paused: m.pauses.total()}
	return m
}

// Close closes the files that tell of the threads.
func (m *Meter) Close() { m.tasks.close() }

// Gradient notes that the step has computed its gradient. A nil Meter does nothing. It costs 0.7 us.
func (m *Meter) Gradient() {
	if m != nil {
		m.gradient = processTime() - m.cpu
	}
}

// Exchange notes that the step begins to wait for the exchange or, after that, that it goes on. A nil Meter
// does nothing, nor does one in a step that does not read what was lost.
func (m *Meter) Exchange(begins bool) {
	switch {
	case m == nil || !m.isLostDue:
	case begins:
		m.lost.Exchange -= m.tasks.waited()
	default:
		m.lost.Exchange += m.tasks.waited()
	}
}

// Skip keeps what was taken since the last call out of the next step.
func (m *Meter) Skip(now time.Time, sent, received int64) {
	m.isLostDue = true
	m.Step(now, sent, received)
}

// Step returns what was taken since the last call, for given totals of bytes.
func (m *Meter) Step(now time.Time, sent, received int64) Usage {
	cpu := processTime()
	if now.Sub(m.looked) >= memoryEvery {
		m.rss, m.looked = residentBytes(), now
	}
	u := Usage{Wall: now.Sub(m.at), CPU: cpu - m.cpu, Gradient: m.gradient, RSS: m.rss,
		Sent: sent - m.sent, Received: received - m.received}
	m.at, m.cpu, m.gradient, m.sent, m.received = now, cpu, 0, sent, received
	if m.isLostDue {
		lost := Lost{Delayed: m.tasks.waited(), Paused: m.pauses.total()}
		m.found = Lost{lost.Delayed - m.lost.Delayed, lost.Paused - m.lost.Paused, m.lost.Exchange}
		m.lost, m.lostAt, u.Lost = lost, now, &m.found
	}
	m.isLostDue = now.Sub(m.lostAt)+u.Wall >= lostEvery
	return u
}
