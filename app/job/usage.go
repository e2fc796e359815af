package job

import "time"

// memoryEvery is the time between two looks at the process's memory, which costs a file read.
const memoryEvery = 100 * time.Millisecond

// usage is what a worker process took for a step.
type usage struct {
	cpu            time.Duration // processor time of all its threads
	rss            int64         // resident bytes, at most memoryEvery old
	sent, received int64         // bytes exchanged
}

// meter tells what each step took.
type meter struct {
	cpu            time.Duration
	rss            int64
	looked         time.Time
	sent, received int64
}

// newMeter starts at zero now.
func newMeter() *meter { return &meter{cpu: processTime(), rss: residentBytes(), looked: time.Now()} }

// step returns what was taken since the last call, for given totals of bytes.
func (m *meter) step(now time.Time, sent, received int64) usage {
	cpu := processTime()
	if now.Sub(m.looked) >= memoryEvery {
		m.rss, m.looked = residentBytes(), now
	}
	u := usage{cpu: cpu - m.cpu, rss: m.rss, sent: sent - m.sent, received: received - m.received}
	m.cpu, m.sent, m.received = cpu, sent, received
	return u
}
