package doctor

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"lockstep/app/record"
)

// Bounds of a preflight.
const (
	wholeTime  = 8 * time.Second // for everything but closing
	closeTime  = time.Second
	factsTime  = 3 * time.Second
	askTime    = 3 * time.Second        // to listen, or to try all addresses; a dial takes at most dialTime
	ratesTime  = 3 * time.Second        // for all rates together
	rateTime   = 200 * time.Millisecond // of one rate at most
	leastRate  = 20 * time.Millisecond
	allRates   = 8 // hosts of which all pairs are measured; of more, each with its neighbours
	maxAddress = 8 // of a host that are tried

	faster = 1.5 // ratio of rates from which an address is preferred to those before it
)

// HostError reports a host that did not answer a question of the preflight.
type HostError struct {
	Host string
	What string // was asked
	Err  error
}

// Error names the host.
func (e *HostError) Error() string {
	return fmt.Sprintf("host %s: %s: %v", e.Host, e.What, e.Err)
}

// Unwrap returns the cause.
func (e *HostError) Unwrap() error { return e.Err }

// Preflight examines the hosts of a job and the routes between them and chooses an address for each: that
// which all others reach, and of several the fastest. With one host there are no routes and its address is
// that of the loopback interface. It takes nine seconds at most, and about one with sound hosts.
//
// Findings of level error say what hinders the job. The error is ctx's, or a *HostError.
func Preflight(ctx context.Context, members []Member) (*record.Hosts, error) {
	return (&preflight{members: members}).hosts(ctx)
}

func (p *preflight) hosts(ctx context.Context) (*record.Hosts, error) {
	start := time.Now()
	p.result = &record.Hosts{Started: start.UTC(), Hosts: []record.HostFacts{}, Routes: []record.Route{},
		Findings: []record.Finding{}}
	err := p.run(ctx)
	p.result.Seconds = time.Since(start).Seconds()
	if err != nil {
		return nil, err
	}
	return p.result, nil
}

// preflight is the state of a Preflight.
type preflight struct {
	members []Member
	keys    [][]byte
	ports   []map[string]int // of each host, by address
	result  *record.Hosts

	takesLoopback bool // for tests, whose hosts have addresses such as 127.0.0.2
}

func (p *preflight) run(ctx context.Context) error {
	bounded, cancel := context.WithTimeoutCause(ctx, wholeTime, fmt.Errorf("not done within %v", wholeTime))
	defer cancel()
	if err := p.askFacts(bounded); err != nil {
		return err
	}
	if len(p.members) == 1 {
		p.result.Hosts[0].Address, p.result.Hosts[0].Why = "127.0.0.1", "the only host"
		p.judge()
		return nil
	}
	defer p.deafen(ctx)
	for _, step := range []func(context.Context) error{p.listen, p.tryAll, p.choose, p.measureAll} {
		if err := step(bounded); err != nil {
			return err
		}
	}
	p.judge()
	return nil
}

// each asks all hosts at the same time and returns the first error in their order.
func (p *preflight) each(ctx context.Context, what string, limit time.Duration,
	question func(ctx context.Context, k int) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %v", limit))
	defer cancel()
	failed := make([]error, len(p.members))
	var all sync.WaitGroup
	for k := range p.members {
		all.Go(func() { failed[k] = question(ctx, k) })
	}
	all.Wait()
	for k, err := range failed {
		if errors.Is(err, context.DeadlineExceeded) {
			err = context.Cause(ctx)
		}
		if err != nil {
			return &HostError{p.members[k].Label, what, err}
		}
	}
	return nil
}

// put asks a host a question.
func put[A any](ctx context.Context, m Member, name string, question any) (reply A, err error) {
	body, err := json.Marshal(question)
	if err != nil {
		return reply, err
	}
	text, err := m.Asker.Ask(ctx, name, body)
	if err != nil {
		return reply, err
	}
	return reply, json.Unmarshal(text, &reply)
}

func (p *preflight) askFacts(ctx context.Context) error {
	p.result.Hosts = make([]record.HostFacts, len(p.members))
	return p.each(ctx, "facts", factsTime, func(ctx context.Context, k int) error {
		f, err := put[record.HostFacts](ctx, p.members[k], AskFacts, struct{}{})
		if err != nil {
			return err
		}
		f.Label, f.Slots = p.members[k].Label, p.members[k].Slots
		p.result.Hosts[k] = f
		return nil
	})
}

// listen lets every host listen on each address at which others might reach it.
func (p *preflight) listen(ctx context.Context) error {
	p.keys = make([][]byte, len(p.members))
	p.ports = make([]map[string]int, len(p.members))
	return p.each(ctx, "listen for probes", askTime, func(ctx context.Context, k int) error {
		addresses := p.candidates(k)
		p.keys[k] = make([]byte, keyBytes)
		rand.Read(p.keys[k]) // never fails
		reply, err := put[listenAnswer](ctx, p.members[k], AskListen, listenAsk{p.keys[k], addresses})
		if err != nil {
			return err
		}
		if len(reply.Ports) != len(addresses) {
			return fmt.Errorf("%d ports for %d addresses", len(reply.Ports), len(addresses))
		}
		p.ports[k] = map[string]int{}
		for i, port := range reply.Ports {
			if port > 0 && port < 1<<16 {
				p.ports[k][addresses[i]] = port
			}
		}
		return nil
	})
}

// deafen ends listening, so that no port is open while the job runs. A host that does not hear it closes its
// ports by itself.
func (p *preflight) deafen(ctx context.Context) {
	p.each(context.WithoutCancel(ctx), "close", closeTime, func(ctx context.Context, k int) error {
		_, err := put[listenAnswer](ctx, p.members[k], AskListen, listenAsk{make([]byte, keyBytes), nil})
		return err
	})
}

// candidates returns the addresses of a host to try: devices first, then tunnels, then bridges of containers;
// never loopback.
func (p *preflight) candidates(k int) []string {
	var found []string
	for _, kind := range []string{kindPhysical, kindVirtual, kindContainer} {
		for _, i := range p.result.Hosts[k].Interfaces {
			if i.Kind != kind {
				continue
			}
			for _, a := range i.Addresses {
				at, err := netip.ParseAddr(a)
				if err == nil && (p.takesLoopback || !at.IsLoopback()) && !at.IsUnspecified() &&
					!slices.Contains(found, a) {
					found = append(found, a)
				}
			}
		}
	}
	return found[:min(len(found), maxAddress)]
}

// interfaceOf returns the name of the interface with an address.
func interfaceOf(f record.HostFacts, address string) string {
	for _, i := range f.Interfaces {
		if slices.Contains(i.Addresses, address) {
			return i.Name
		}
	}
	return ""
}

// tryAll lets every host try the addresses of all others.
func (p *preflight) tryAll(ctx context.Context) error {
	found := make([][]record.Route, len(p.members))
	err := p.each(ctx, "try the other hosts", askTime, func(ctx context.Context, k int) error {
		var targets []target
		for to, f := range p.result.Hosts {
			if to == k {
				continue
			}
			for _, a := range p.candidates(to) {
				port, ok := p.ports[to][a]
				if !ok {
					continue
				}
				targets = append(targets, p.target(to, a, port))
				found[k] = append(found[k], record.Route{From: k, To: to, Address: a,
					Interface: interfaceOf(f, a)})
			}
		}
		probes, err := p.ask(ctx, k, probeAsk{Targets: targets})
		if err != nil {
			return err
		}
		for i, one := range probes {
			r := &found[k][i]
			r.Fault, r.Latency, r.Offset, r.OffsetErr = one.Fault, one.Latency, one.Offset, one.Error
		}
		return nil
	})
	p.result.Routes = append(p.result.Routes, slices.Concat(found...)...)
	return err
}

func (p *preflight) target(to int, address string, port int) target {
	at, _ := netip.ParseAddr(address) // candidates has parsed it
	return target{netip.AddrPortFrom(at, uint16(port)).String(), p.keys[to]}
}

// choose picks an address of each host that all others reach. Of several it measures the rate from the next
// host: one is preferred to those before it if it is faster by half, so that chance does not choose.
func (p *preflight) choose(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ratesTime/2)
	defer cancel()
	for to := range p.members {
		f, common, best := &p.result.Hosts[to], p.common(to), 0.0
		for i, a := range common {
			rate := 0.0
			if len(common) > 1 {
				var err error
				rate, err = p.measure(ctx, p.route((to+1)%len(p.members), to, a), rateTime/2)
				if err != nil {
					return err
				}
			}
			if i == 0 || rate > faster*best {
				best, f.Address = rate, a
			}
		}
		switch {
		case len(common) > 1:
			f.Why = fmt.Sprintf("fastest of %d that all reach", len(common))
		case len(p.ports[to]) > len(common):
			f.Why = fmt.Sprintf("the only one of %d that all reach", len(p.ports[to]))
		default:
			f.Why = "its only address"
		}
	}
	return nil
}

// common returns the addresses of a host that all others reach, in the order of candidates.
func (p *preflight) common(to int) []string {
	return slices.DeleteFunc(p.candidates(to), func(a string) bool {
		for from := range p.members {
			if r := p.route(from, to, a); from != to && (r == nil || !isOpen(*r)) {
				return true
			}
		}
		return false
	})
}

// route returns the attempt to reach an address of a host from another; nil if there was none.
func (p *preflight) route(from, to int, address string) *record.Route {
	i := slices.IndexFunc(p.result.Routes, func(r record.Route) bool {
		return r.From == from && r.To == to && r.Address == address
	})
	if i < 0 {
		return nil
	}
	return &p.result.Routes[i]
}

// measureAll measures the rate of the chosen routes one after another, so that none disturbs another: all of
// few hosts, those to the next host of many.
func (p *preflight) measureAll(ctx context.Context) error {
	n := len(p.members)
	var chosen []*record.Route
	for from := range n {
		for step := 1; step < n; step++ {
			to := (from + step) % n
			r := p.route(from, to, p.result.Hosts[to].Address)
			if r == nil {
				continue
			}
			r.IsChosen = true
			if n <= allRates || step == 1 || step == n-1 {
				chosen = append(chosen, r)
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, ratesTime)
	defer cancel()
	limit := min(max(ratesTime/2/time.Duration(max(1, len(chosen))), leastRate), rateTime)
	for _, r := range chosen {
		if ctx.Err() != nil {
			break // what is not measured is said to be unknown
		}
		if _, err := p.measure(ctx, r, limit); err != nil {
			return err
		}
	}
	return nil
}

// measure measures the rate of a route and notes it.
func (p *preflight) measure(ctx context.Context, r *record.Route, limit time.Duration) (float64, error) {
	t := p.target(r.To, r.Address, p.ports[r.To][r.Address])
	reply, err := p.ask(ctx, r.From, probeAsk{[]target{t}, limit})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		return 0, nil // unknown
	}
	if err != nil {
		return 0, &HostError{p.members[r.From].Label, "measure a link", err}
	}
	r.Rate = reply[0].Rate
	return r.Rate, nil
}

// ask lets a host probe addresses.
func (p *preflight) ask(ctx context.Context, from int, question probeAsk) ([]probe, error) {
	reply, err := put[probeAnswer](ctx, p.members[from], AskProbe, question)
	if err != nil {
		return nil, err
	}
	if len(reply.Probes) != len(question.Targets) {
		return nil, fmt.Errorf("%d results for %d addresses", len(reply.Probes), len(question.Targets))
	}
	return reply.Probes, nil
}

// maxEncoded is how many bytes an environment variable may have: Linux allows 128 KiB.
const maxEncoded = 100 << 10

// Encode returns what was found as JSON that fits an environment variable: the facts, the routes that are
// used, of many hosts none, and the findings; "" if that is too much.
func Encode(h *record.Hosts) string {
	used := *h
	used.Routes = slices.DeleteFunc(slices.Clone(h.Routes), func(r record.Route) bool { return !r.IsChosen })
	for range 2 {
		if text, err := json.Marshal(used); err == nil && len(text) <= maxEncoded {
			return string(text)
		}
		used.Routes = []record.Route{}
	}
	return ""
}
