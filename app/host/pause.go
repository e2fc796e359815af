package host

import (
	"math"
	"runtime/metrics"
	"time"
)

// pauses reads for how long Go's runtime has stopped all goroutines. The runtime tells it by a histogram, so
// it is known to some 10 %.
type pauses struct{ samples []metrics.Sample }

func (p *pauses) open() {
	p.samples = []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"},
		{Name: "/sched/pauses/total/other:seconds"}}
}

// total returns the time so far.
func (p *pauses) total() time.Duration {
	metrics.Read(p.samples)
	seconds := 0.0
	for _, s := range p.samples {
		if s.Value.Kind() != metrics.KindFloat64Histogram { // another runtime
			continue
		}
		h := s.Value.Float64Histogram()
		for i, n := range h.Counts {
			lo, hi := max(0, h.Buckets[i]), h.Buckets[i+1]
			if n > 0 && !math.IsInf(hi, 1) {
				seconds += float64(n) * (lo + hi) / 2
			}
		}
	}
	return time.Duration(seconds * float64(time.Second))
}
