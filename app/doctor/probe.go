package doctor

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"syscall"
	"time"
)

const (
	dialTime  = 2 * time.Second // no answer: packets are dropped
	numPings  = 7               // of which the median is the latency
	firstBulk = 64 << 10        // bytes of the first request, doubled until one takes long enough
)

// probe is what a source found about an address.
type probe struct {
	Fault   string  `json:"fault"`   // why the address cannot be used; "": it can
	Latency float64 `json:"latency"` // median round trip in seconds
	Offset  float64 `json:"offset"`  // the target's clock ahead of the source's, in seconds
	Error   float64 `json:"error"`   // of Offset: half the shortest round trip
	Rate    float64 `json:"rate"`    // bytes per second; 0: not measured
}

// connect dials an address and makes sure that the host with the key answers.
func connect(ctx context.Context, address string, key []byte) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	if err := greet(conn, key); err != nil {
		conn.Close()
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(probeTime))
	return conn, nil
}

// examine connects to whoever answers at an address and returns what measure finds there, or what is wrong.
func examine(ctx context.Context, address string, key []byte, measure func(net.Conn) (probe, error)) probe {
	conn, err := connect(ctx, address, key)
	var p probe
	if err == nil {
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		p, err = measure(conn)
	}
	if err != nil {
		return probe{Fault: fault(err)}
	}
	return p
}

// ping measures latency and clock of whoever answers at an address, in numPings round trips.
func ping(ctx context.Context, address string, key []byte, now func() time.Time) probe {
	return examine(ctx, address, key, func(conn net.Conn) (p probe, err error) {
		conn.SetDeadline(time.Now().Add(dialTime))
		var trips []time.Duration
		for range numPings {
			sent, start := now(), time.Now()
			there, err := request(conn, 0, nil)
			if err != nil {
				return p, err
			}
			trip := time.Since(start)
			if len(trips) == 0 || trip < slices.Min(trips) { // the shortest trip says most about the clock
				p.Offset = there.Sub(sent.Add(trip / 2)).Seconds()
				p.Error = (trip / 2).Seconds()
			}
			trips = append(trips, trip)
		}
		slices.Sort(trips)
		p.Latency = trips[len(trips)/2].Seconds()
		return p, nil
	})
}

// measure sends requests of doubling length until one takes half of the time, and returns the rate of the
// last in bytes per second. It moves at most 2 maxBulk bytes, and ends after a request that took longer.
func measure(ctx context.Context, address string, key []byte, limit time.Duration) probe {
	content := make([]byte, 1<<20)
	for i := range content {
		content[i] = byte(i * i >> 7) // not nothing to a link that compresses
	}
	return examine(ctx, address, key, func(conn net.Conn) (probe, error) {
		for n := firstBulk; ; n *= 2 {
			start := time.Now()
			if _, err := request(conn, n, content); err != nil {
				return probe{}, err
			}
			taken := time.Since(start)
			if taken >= limit/2 || n == maxBulk {
				return probe{Rate: float64(n) / taken.Seconds()}, nil
			}
		}
	})
}

// Faults of a route, as a reader should see them.
const (
	faultDropped  = "no answer: packets are dropped on the way"
	faultRefused  = "refused"
	faultNoRoute  = "no route"
	faultStranger = "something else answers there"
	faultCut      = "the connection broke"
)

// fault says what an error means for a route.
func fault(err error) string {
	switch {
	case errors.Is(err, errStranger):
		return faultStranger
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.Is(err, syscall.ETIMEDOUT):
		return faultDropped
	case errors.Is(err, syscall.ECONNREFUSED):
		return faultRefused
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH),
		errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return faultNoRoute
	}
	return faultCut
}
