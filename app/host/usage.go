package host

import "time"

// lostEvery is the time between two looks at what the process lost, which cost a file read for each thread:
// some 20 us.
const lostEvery = 20 * time.Millisecond

// memoryEvery is the time between two looks at the process's memory, which costs a file read.
const memoryEvery = 100 * time.Millisecond

// Usage is what this process took for a step, from the end of the step before, or of the evaluation
// after that, to its own end.
type Usage struct {
	Wall           time.Duration // how long that was: a little more than the step
	CPU            time.Duration // processor time of all its threads
	RSS            int64         // resident bytes, at most memoryEvery old
	Sent, Received int64         // bytes exchanged
	// Lost is what the process lost since the last step that has it, at least lostEvery ago; nil: the next
	// one tells.
	Lost *Lost
}

// Lost is time in which a process could not compute though it had work.
type Lost struct {
	Delayed time.Duration // threads were ready to run and had no core, summed over threads
	Paused  time.Duration // Go's runtime had stopped all of them
}

// Meter tells what each step took.
type Meter struct {
	at             time.Time // of the last look
	cpu            time.Duration
	rss            int64
	looked         time.Time
	sent, received int64

	lost   Lost      // at the last look, since the meter began
	found  Lost      // of the last look
	lostAt time.Time // of the last look
	tasks  tasks
	pauses pauses
}

// NewMeter starts at zero now.
func NewMeter() *Meter {
	now := time.Now()
	m := &Meter{at: now, cpu: processTime(), rss: residentBytes(), looked: now, lostAt: now}
	m.tasks.list()
	m.pauses.open()
	m.lost = Lost{m.tasks.waited(), m.pauses.total()}
	return m
}

// Close closes the files that tell of the threads.
func (m *Meter) Close() { m.tasks.close() }

// Step returns what was taken since the last call, for given totals of bytes. Called after what is no step,
// it keeps that out of the next one.
func (m *Meter) Step(now time.Time, sent, received int64) Usage {
	cpu := processTime()
	if now.Sub(m.looked) >= memoryEvery {
		m.rss, m.looked = residentBytes(), now
	}
	u := Usage{Wall: now.Sub(m.at), CPU: cpu - m.cpu, RSS: m.rss, Sent: sent - m.sent,
		Received: received - m.received}
	m.at, m.cpu, m.sent, m.received = now, cpu, sent, received
	if now.Sub(m.lostAt) >= lostEvery {
		lost := Lost{m.tasks.waited(), m.pauses.total()}
		m.found = Lost{lost.Delayed - m.lost.Delayed, lost.Paused - m.lost.Paused}
		m.lost, m.lostAt, u.Lost = lost, now, &m.found
	}
	return u
}
