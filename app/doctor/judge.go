package doctor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"lockstep/app/record"
	"lockstep/cluster/pass"
)

// Thresholds of what is said about hosts together.
const (
	clockWarning = time.Minute                  // times of logs cannot be compared
	clockError   = pass.MaxSkew - 5*time.Minute // joining takes its time, and clocks drift

	unequal = 1.25 // ratio of cores per worker from which the slowest host decides
)

// judge adds what hinders a job on these hosts, slows it down, or should be known.
func (p *preflight) judge() {
	for _, f := range p.result.Hosts {
		for _, one := range Advise(f, f.Slots) {
			p.advise(one)
		}
	}
	for to := range p.members {
		if p.result.Hosts[to].Address == "" {
			p.unreached(to)
		}
	}
	p.clocks()
	p.coresEach()
	p.result.Findings = sorted(p.result.Findings)
}

// advise adds a finding on one host, or adds the host to those of which the same was found.
func (p *preflight) advise(one record.Finding) {
	for i := range p.result.Findings {
		same := &p.result.Findings[i]
		if same.Level == one.Level && same.Text == one.Text && same.Next == one.Next {
			same.Host += ", " + one.Host
			return
		}
	}
	p.result.Findings = append(p.result.Findings, one)
}

func (p *preflight) say(level, topic, next, format string, args ...any) {
	p.result.Findings = append(p.result.Findings, record.Finding{Level: level, Topic: topic,
		Text: fmt.Sprintf(format, args...), Next: next})
}

// unreached says of a host without a common address who does not reach it, and what would mend that.
func (p *preflight) unreached(to int) {
	name := p.result.Hosts[to].Label
	if len(p.ports[to]) == 0 {
		p.say(record.LevelError, "route", "bring a network interface up on "+name,
			"%s has no address at which other hosts could reach it", name)
		return
	}
	isBlocked := false
	for from, source := range p.result.Hosts {
		if from == to || slices.ContainsFunc(p.routes(from, to), isOpen) {
			continue
		}
		isBlocked = true
		way := ""
		if slices.ContainsFunc(p.routes(to, from), isOpen) {
			way = fmt.Sprintf(", though %s reaches %s", name, source.Label)
		}
		p.say(record.LevelError, "route", p.mend(from, to), "%s does not reach %s%s: %s", source.Label, name,
			way, faultsText(p.routes(from, to)))
	}
	if !isBlocked {
		p.say(record.LevelError, "route", "give all hosts an interface in one network",
			"no address of %s is reached by all other hosts, though each reaches one", name)
	}
}

func isOpen(r record.Route) bool { return r.Fault == "" }

// routes returns the attempts to reach a host from another.
func (p *preflight) routes(from, to int) []record.Route {
	return slices.DeleteFunc(slices.Clone(p.result.Routes), func(r record.Route) bool {
		return r.From != from || r.To != to
	})
}

// faultsText lists the faults of routes with their addresses.
func faultsText(routes []record.Route) string {
	var texts []string
	for _, r := range routes {
		texts = append(texts, fmt.Sprintf("%s (%s): %s", r.Address, r.Interface, r.Fault))
	}
	return strings.Join(texts, "; ")
}

// mend says what would open the way between two hosts, for the best of the faults.
func (p *preflight) mend(from, to int) string {
	source, target := p.result.Hosts[from].Label, p.result.Hosts[to].Label
	has := func(fault string) bool {
		return slices.ContainsFunc(p.routes(from, to), func(r record.Route) bool { return r.Fault == fault })
	}
	switch {
	case has(faultDropped), has(faultRefused):
		return fmt.Sprintf("let %s accept TCP connections from %s: its firewall (nft list ruleset, "+
			"iptables -S) or one between them blocks the ports above 1023", target, source)
	case has(faultNoRoute):
		return fmt.Sprintf("give %s and %s interfaces in one network, or a route between them: ip route on "+
			"%s", source, target, source)
	}
	return fmt.Sprintf("give %s an address of its own: ip address on both", target)
}

// clocks compares all clocks with the first host's, by the routes between them if there are any.
func (p *preflight) clocks() {
	first := p.result.Hosts[0]
	for k := 1; k < len(p.result.Hosts); k++ {
		f := &p.result.Hosts[k]
		f.ClockOffset = p.offset(k)
		how := "ahead of"
		if f.ClockOffset < 0 {
			how = "behind"
		}
		far := math.Abs(f.ClockOffset)
		text := fmt.Sprintf("the clock of %s is %s %s that of %s", f.Label, durationText(far), how,
			first.Label)
		next := fmt.Sprintf("on %s: sudo timedatectl set-ntp true, or sudo chronyc makestep", f.Label)
		switch {
		case far >= clockError.Seconds():
			p.say(record.LevelError, "clock", next, "%s: its processes take the token and the certificates "+
				"of the run for expired or not yet valid and cannot join, which allows for %v", text,
				pass.MaxSkew)
		case far >= clockWarning.Seconds():
			p.say(record.LevelWarning, "clock", next, "%s: times in logs and reports cannot be compared, "+
				"and a token with a short life may seem expired there; training itself is not affected", text)
		}
	}
}

// offset returns by how many seconds a host's clock is ahead of the first one's: by the most exact of the
// routes between them, or without one by when their answers came.
func (p *preflight) offset(k int) float64 {
	seconds := float64(p.result.Hosts[k].ClockNanos-p.result.Hosts[0].ClockNanos) / 1e9
	least := math.Inf(1)
	for _, r := range append(p.routes(0, k), p.routes(k, 0)...) {
		if !isOpen(r) || r.OffsetErr >= least {
			continue
		}
		if least, seconds = r.OffsetErr, r.Offset; r.To == 0 {
			seconds = -r.Offset
		}
	}
	return seconds
}

// coresEach compares the cores that the workers of each host have.
func (p *preflight) coresEach() {
	each := func(f record.HostFacts) float64 { return float64(f.UsableCores) / float64(max(1, f.Slots)) }
	byCores := func(a, b record.HostFacts) int { return cmp.Compare(each(a), each(b)) }
	least, most := slices.MinFunc(p.result.Hosts, byCores), slices.MaxFunc(p.result.Hosts, byCores)
	if each(most) >= unequal*each(least) {
		p.say(record.LevelWarning, "cores", "give each host slots in proportion to its cores, or use "+
			"--rebalance", "workers of %s have %.3g cores each, those of %s %.3g: a synchronous step takes "+
			"as long as the slowest", least.Label, each(least), most.Label, each(most))
	}
}
