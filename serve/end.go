package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Note: the end
//
// http.Server.Shutdown drops a request that it reads after it was called, though the connection was accepted
// before, and a listener that closes resets the connections that wait to be accepted. Under load both happen
// to some of 200 clients. So the door first accepts all who wait, and closes when nobody has come for a
// moment. Then all who are inside are answered, and Shutdown meets nothing but idle connections. A connection
// that is made in the moment in which the listener closes is refused or reset.

// door is a listener that accepts all who wait before it closes.
type door struct {
	net.Listener
	closing atomic.Bool
	until   time.Time // when Accept gives up; of the goroutine that accepts
}

// lastCall is how long a door that closes waits for somebody: as short as new clients leave it.
const lastCall = time.Millisecond

// Accept implements net.Listener.
func (d *door) Accept() (net.Conn, error) {
	for {
		began := time.Now()
		c, err := d.Listener.Accept()
		if !d.closing.Load() || !errors.Is(err, os.ErrDeadlineExceeded) {
			return c, err
		}
		if began.Before(d.until) { // it has waited: nobody is left
			return nil, errors.Join(net.ErrClosed, d.Listener.Close())
		}
		d.until = time.Now().Add(lastCall)
		if err := d.limit(d.until); err != nil {
			return nil, err
		}
	}
}

// shut makes Accept hand out the connections that wait, close the listener and fail.
func (d *door) shut() {
	d.closing.Store(true)
	if d.limit(time.Now()) != nil {
		d.Listener.Close()
	}
}

// limit ends an Accept at a time.
func (d *door) limit(at time.Time) error {
	l, ok := d.Listener.(interface{ SetDeadline(time.Time) error })
	if !ok {
		return errors.ErrUnsupported
	}
	return l.SetDeadline(at)
}

// guests are the connections that expect an answer or may be about to ask: those that are new or active.
type guests struct {
	mu    sync.Mutex
	since map[net.Conn]time.Time // those that are new, when they came; zero: active
}

// note is a http.Server's ConnState.
func (g *guests) note(c net.Conn, state http.ConnState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch state {
	case http.StateNew:
		g.since[c] = time.Now()
	case http.StateActive:
		g.since[c] = time.Time{}
	default:
		delete(g.since, c)
	}
}

// silence is how long a new connection may say nothing before it is not waited for.
const silence = 5 * time.Second

// areGone reports whether nobody expects an answer.
func (g *guests) areGone() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, came := range g.since {
		if came.IsZero() || time.Since(came) < silence {
			return false
		}
	}
	return true
}

// wait waits until nobody expects an answer, or ctx ends.
func (g *guests) wait(ctx context.Context) {
	for !g.areGone() && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
}
