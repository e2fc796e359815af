package serve

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// bounds are the seconds of the buckets of the histogram of times.
var bounds = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

// meter counts what the server has done.
type meter struct {
	inputs atomic.Int64

	mu       sync.Mutex
	byStatus [600]int64
	within   [len(bounds) + 1]int64
	seconds  float64
}

// request counts a request with the status of its answer and the time that it took.
func (m *meter) request(status int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byStatus[status]++
	m.seconds += took.Seconds()
	at := 0
	for at < len(bounds) && took.Seconds() > bounds[at] {
		at++
	}
	m.within[at]++
}

// metrics answers GET /metrics in Prometheus's text format, version 0.0.4.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	var b strings.Builder
	begin := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	one := func(name, kind, help string, value int64) {
		begin(name, kind, help)
		fmt.Fprintf(&b, "%s %d\n", name, value)
	}
	batches, inputs := s.config.Predictor.Counts()
	one("lockstep_inputs_total", "counter", "Inputs that were answered.", s.meter.inputs.Load())
	one("lockstep_batches_total", "counter", "Batches that were computed.", batches)
	one("lockstep_batched_inputs_total", "counter", "Inputs in these batches.", inputs)
	one("lockstep_inputs_waiting", "gauge", "Inputs that are accepted, not answered.", s.waiting.Load())
	s.meter.write(&b, begin)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	fmt.Fprint(w, b.String())
}

// write adds the requests by status and the histogram of their times.
func (m *meter) write(b *strings.Builder, begin func(name, kind, help string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	begin("lockstep_requests_total", "counter", "Requests for predictions, by status.")
	all := int64(0)
	for status, n := range m.byStatus {
		if n > 0 || status == http.StatusOK {
			fmt.Fprintf(b, "lockstep_requests_total{code=\"%d\"} %d\n", status, n)
		}
		all += n
	}
	begin("lockstep_request_seconds", "histogram", "Time from a request's header to its answer.")
	sum := int64(0)
	for i, bound := range bounds {
		sum += m.within[i]
		fmt.Fprintf(b, "lockstep_request_seconds_bucket{le=\"%v\"} %d\n", bound, sum)
	}
	fmt.Fprintf(b, "lockstep_request_seconds_bucket{le=\"+Inf\"} %d\n", all)
	fmt.Fprintf(b, "lockstep_request_seconds_sum %v\nlockstep_request_seconds_count %d\n", m.seconds, all)
}
