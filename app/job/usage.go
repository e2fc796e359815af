package job

import "time"

// memoryEvery is the time between two looks at the process's memory, which costs a file read.
const memoryEvery = 100 * time.Millisecond

// usage is what a worker process took for a step, from the end of the step before, or of the evaluation
// after that, to its own end.
type usage struct {
	wall           time.Duration // how long that was: a little more than the step
	cpu            time.Duration // processor time of all its threads
	rss            int64         // resident bytes, at most memoryEvery old
	sent, received int64         // bytes exchanged
}

// meter tells what each step took.
type meter struct {
	at             time.Time // of the last look
	cpu            time.Duration
	rss            int64
	looked         time.Time
	sent, received int64
}

// newMeter starts at zero now.
func newMeter() *meter {
	now := time.Now()
	return &meter{at: now, cpu: processTime(), rss: residentBytes(), looked: now}
}

// step returns what was taken since the last call, for given totals of bytes. Called after what is no step,
// it keeps that out of the next one.
func (m *meter) step(now time.Time, sent, received int64) usage {
	cpu := processTime()
	if now.Sub(m.looked) >= memoryEvery {
		m.rss, m.looked = residentBytes(), now
	}
	u := usage{wall: now.Sub(m.at), cpu: cpu - m.cpu, rss: m.rss, sent: sent - m.sent,
		received: received - m.received}
	m.at, m.cpu, m.sent, m.received = now, cpu, sent, received
	return u
}
