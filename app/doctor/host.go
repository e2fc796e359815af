package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"lockstep/app/record"
)

// Bounds of what a question may ask for.
const (
	maxTargets = 2048             // addresses of one question
	maxListen  = 32               // addresses to listen on at once
	maxDials   = 64               // at once
	listenTime = 15 * time.Second // longer than a preflight takes
)

// Host answers the questions of a console about the machine that it runs on. Its methods may be called from
// any goroutine.
type Host struct {
	describe func() record.HostFacts
	now      func() time.Time

	mu        sync.Mutex
	listeners []*listener
	expiry    *time.Timer // closes the listeners of a console that is gone
}

// NewHost returns a host whose clock says now. Close it to end what listens.
func NewHost(now func() time.Time) *Host {
	return &Host{now: now, describe: func() record.HostFacts {
		f := Describe()
		f.ClockNanos = now().UnixNano()
		return f
	}}
}

// target is an address with the key of the host that should be there.
type target struct {
	Address string `json:"address"` // IP:port
	Key     []byte `json:"key"`
}

type (
	listenAsk struct {
		Key       []byte   `json:"key"`
		Addresses []string `json:"addresses"` // IP
	}
	listenAnswer struct {
		Ports []int `json:"ports"` // by address; 0: it cannot be listened on
	}
	probeAsk struct {
		Targets []target      `json:"targets"`
		Limit   time.Duration `json:"limit"` // of time, in ns, for measuring rates; 0: latencies are measured
	}
	probeAnswer struct {
		Probes []probe `json:"probes"` // by target
	}
)

// Answer answers a question of a [Preflight]. The body is that of an [Asker].
func (h *Host) Answer(ctx context.Context, name string, body json.RawMessage) (json.RawMessage, error) {
	switch name {
	case AskFacts:
		return json.Marshal(h.describe())
	case AskListen:
		return answer(body, h.listen)
	case AskProbe:
		return answer(body, func(a probeAsk) (probeAnswer, error) { return h.probe(ctx, a) })
	}
	return nil, fmt.Errorf("doctor: unknown question %q", name)
}

// answer decodes a question, and encodes its answer.
func answer[Q, A any](body json.RawMessage, reply func(Q) (A, error)) (json.RawMessage, error) {
	var q Q
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, fmt.Errorf("doctor: question: %w", err)
	}
	a, err := reply(q)
	if err != nil {
		return nil, err
	}
	return json.Marshal(a)
}

// listen answers probes on some addresses of this host, or none, instead of those of an earlier question.
func (h *Host) listen(a listenAsk) (listenAnswer, error) {
	if len(a.Key) != keyBytes || len(a.Addresses) > maxListen {
		return listenAnswer{}, fmt.Errorf("doctor: listen on %d addresses with a key of %d bytes, want at "+
			"most %d and %d", len(a.Addresses), len(a.Key), maxListen, keyBytes)
	}
	h.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	reply := listenAnswer{Ports: make([]int, len(a.Addresses))}
	for i, text := range a.Addresses {
		address, err := netip.ParseAddr(text)
		if err != nil || address.IsUnspecified() {
			h.close()
			return listenAnswer{}, fmt.Errorf("doctor: listen on %q, want an address of this host", text)
		}
		l, err := listen(address, a.Key, h.now)
		if err != nil {
			continue // its port 0 says so
		}
		h.listeners = append(h.listeners, l)
		reply.Ports[i] = int(l.Addr().(interface{ AddrPort() netip.AddrPort }).AddrPort().Port())
	}
	mine := h.listeners
	h.expiry = time.AfterFunc(listenTime, func() {
		for _, l := range mine {
			l.Close()
		}
	})
	return reply, nil
}

// probe tries all targets at the same time, at most maxDials at once.
func (h *Host) probe(ctx context.Context, a probeAsk) (probeAnswer, error) {
	if len(a.Targets) > maxTargets {
		return probeAnswer{}, fmt.Errorf("doctor: %d targets, want at most %d", len(a.Targets), maxTargets)
	}
	reply := probeAnswer{Probes: make([]probe, len(a.Targets))}
	slots := make(chan struct{}, maxDials)
	var all sync.WaitGroup
	for i, t := range a.Targets {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if a.Limit > 0 {
				reply.Probes[i] = measure(ctx, t.Address, t.Key, min(a.Limit, time.Second))
			} else {
				reply.Probes[i] = ping(ctx, t.Address, t.Key, h.now)
			}
		})
	}
	all.Wait()
	return reply, ctx.Err()
}

// Close ends listening. The host can still be asked.
func (h *Host) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.expiry != nil {
		h.expiry.Stop()
	}
	h.close()
	return nil
}

// close ends listening; the caller holds the lock.
func (h *Host) close() {
	for _, l := range h.listeners {
		l.Close() // nothing is lost
	}
	h.listeners, h.expiry = nil, nil
}
