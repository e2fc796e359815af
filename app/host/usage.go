package host

import "time"

// memoryEvery is the time between two looks at the process's memory, which costs a file read.
const memoryEvery = 100 * time.Millisecond

// Usage is what this process took for a step, from the end of the step before, or of the evaluation
// after that, to its own end.
type Usage struct {
	Wall           time.Duration // how long that was: a little more than the step
	CPU            time.Duration // processor time of all its threads
	RSS            int64         // resident bytes, at most memoryEvery old
	Sent, Received int64         // bytes exchanged
}

// Meter tells what each step took.
type Meter struct {
	at             time.Time // of the last look
	cpu            time.Duration
	rss            int64
	looked         time.Time
	sent, received int64
}

// NewMeter starts at zero now.
func NewMeter() *Meter {
	now := time.Now()
	return &Meter{at: now, cpu: processTime(), rss: residentBytes(), looked: now}
}

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
	return u
}
