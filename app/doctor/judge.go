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

	unequal   = 1.25 // ratio of cores per worker from which the slowest host decides
	slowShare = 0.5  // s: an exchange of gradients that takes longer than a step of vgg11 on some cores

	vgg11       = "vgg11"
	vgg11Params = 9231114
)

// judge adds what hinders a job on these hosts, slows it down, or should be known.
func (p *preflight) judge() {
	for _, f := range p.result.Hosts {
		for _, one := range Advise(f, f.Slots) {
			p.advise(one)
		}
	}
	p.sameProgram()
	p.reached()
	p.clocks()
	p.instructionSets()
	p.coresEach()
	p.links()
	p.oneMachine()
	p.result.Findings = sorted(p.result.Findings)
}

func (p *preflight) add(found ...record.Finding) {
	p.result.Findings = append(p.result.Findings, found...)
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
	p.add(one)
}

func (p *preflight) say(level, topic, next, format string, args ...any) {
	p.add(record.Finding{Level: level, Topic: topic, Text: fmt.Sprintf(format, args...), Next: next})
}

// sameProgram compares the program of each host with the first one's. The files of other architectures
// differ, so there version and revision decide.
func (p *preflight) sameProgram() {
	first := p.result.Hosts[0]
	for _, f := range p.result.Hosts[1:] {
		isSame := f.Version == first.Version && f.Revision == first.Revision
		if f.Arch == first.Arch && f.OS == first.OS {
			isSame = isSame && f.Binary == first.Binary
		}
		if !isSame {
			p.say(record.LevelError, "version", "install the same program on both, or let lockstep launch "+
				"copy it",
				"%s has lockstep %s, %s has %s", first.Label, versionText(first), f.Label, versionText(f))
		}
	}
}

// versionText names a program by version, revision and the beginning of its hash.
func versionText(f record.HostFacts) string {
	parts := []string{cmp.Or(f.Version, "unknown")}
	if f.Revision != "" {
		parts = append(parts, f.Revision[:min(len(f.Revision), 12)])
	}
	if f.Binary != "" {
		parts = append(parts, "sha256 "+f.Binary[:min(len(f.Binary), 12)])
	}
	return strings.Join(parts, ", ")
}

// reached says of each host without a common address who does not reach it, and what would mend that.
func (p *preflight) reached() {
	if len(p.members) == 1 {
		return
	}
	for to, f := range p.result.Hosts {
		switch {
		case f.Address != "":
		case len(p.ports[to]) == 0:
			p.say(record.LevelError, TopicRoute, "bring a network interface up on "+f.Label,
				"%s has no address at which other hosts could reach it", f.Label)
		default:
			p.unreached(to)
		}
	}
}

// TopicRoute is the topic of findings about hosts that do not reach each other.
const TopicRoute = "route"

// unreached names the hosts that reach no address of one.
func (p *preflight) unreached(to int) {
	name, isBlocked := p.result.Hosts[to].Label, false
	isOpen := func(r record.Route) bool { return r.Fault == "" }
	for from, source := range p.result.Hosts {
		if from == to || slices.ContainsFunc(p.routes(from, to), isOpen) {
			continue
		}
		isBlocked = true
		way := ""
		if slices.ContainsFunc(p.routes(to, from), isOpen) {
			way = fmt.Sprintf(", though %s reaches %s", name, source.Label)
		}
		p.say(record.LevelError, TopicRoute, p.mend(from, to), "%s does not reach %s%s: %s", source.Label,
			name, way, faultsText(p.routes(from, to)))
	}
	if !isBlocked {
		p.say(record.LevelError, TopicRoute, "give all hosts an interface in one network",
			"no address of %s is reached by all other hosts, though each reaches one", name)
	}
}

// routes returns the attempts to reach a host from another.
func (p *preflight) routes(from, to int) []record.Route {
	var found []record.Route
	for _, r := range p.result.Routes {
		if r.From == from && r.To == to {
			found = append(found, r)
		}
	}
	return found
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
		offset, isMeasured := p.offset(k)
		if !isMeasured {
			offset = float64(f.ClockNanos-first.ClockNanos) / 1e9
		}
		f.ClockOffset = offset
		how := "ahead of"
		if offset < 0 {
			how = "behind"
		}
		text := fmt.Sprintf("the clock of %s is %s %s that of %s", f.Label, durationText(math.Abs(offset)),
			how,
			first.Label)
		next := fmt.Sprintf("on %s: sudo timedatectl set-ntp true, or sudo chronyc makestep", f.Label)
		switch far := time.Duration(math.Abs(offset) * 1e9); {
		case far >= clockError:
			p.say(record.LevelError, TopicClock, next, "%s: its processes take the token and the "+
				"certificates of the run for expired or not yet valid and cannot join, which allows for "+
				"%v", text, pass.MaxSkew)
		case far >= clockWarning:
			p.say(record.LevelWarning, TopicClock, next, "%s: times in logs and reports cannot be "+
				"compared, and a token with a short life may seem expired there; training itself is not "+
				"affected", text)
		}
	}
}

// TopicClock is the topic of findings about clocks.
const TopicClock = "clock"

// offset returns how far a host's clock is ahead of the first one's, if a route between them was measured.
func (p *preflight) offset(k int) (seconds float64, isMeasured bool) {
	best := math.Inf(1)
	for _, r := range p.result.Routes {
		isForth, isBack := r.From == 0 && r.To == k, r.From == k && r.To == 0
		if r.Fault != "" || r.OffsetErr >= best || !isForth && !isBack {
			continue
		}
		if best, seconds = r.OffsetErr, r.Offset; isBack {
			seconds = -r.Offset
		}
	}
	return seconds, !math.IsInf(best, 1)
}

// instructionSets says what kernels all hosts have in common, and whom that slows down.
func (p *preflight) instructionSets() {
	common := slices.Clone(p.result.Hosts[0].ISA)
	for _, f := range p.result.Hosts[1:] {
		common = slices.DeleteFunc(common, func(isa string) bool { return !slices.Contains(f.ISA, isa) })
	}
	var slowed []string
	for _, f := range p.result.Hosts {
		if best(f.ISA) != best(common) {
			slowed = append(slowed, fmt.Sprintf("%s (%s)", f.Label, best(f.ISA)))
		}
	}
	switch {
	case len(common) == 0:
		p.say(record.LevelError, "kernels", "leave a host out", "the hosts have no kernels in common: %s",
			strings.Join(slowed, ", "))
	case len(slowed) > 0:
		p.say(record.LevelWarning, "kernels", "leave the host without them out if the others are faster "+
			"alone", "all workers use the %s kernels, the best that every host has: %s could use better "+
			"ones. "+
			"AVX-512 at most doubles the speed of AVX2, and on Zen 4 adds nothing; plain kernels take "+
			"several times as long", best(common), strings.Join(slowed, ", "))
	}
}

// coresEach compares the cores that the workers of each host have.
func (p *preflight) coresEach() {
	each := func(f record.HostFacts) float64 { return float64(f.UsableCores) / float64(max(1, f.Slots)) }
	byCores := func(a, b record.HostFacts) int { return cmp.Compare(each(a), each(b)) }
	least, most := slices.MinFunc(p.result.Hosts, byCores), slices.MaxFunc(p.result.Hosts, byCores)
	if each(most) >= unequal*each(least) {
		p.say(record.LevelWarning, "cores", "give each host slots in proportion to its cores, or use "+
			"--rebalance", "workers of %s have %.3g cores each, those of %s %.3g: a synchronous step "+
			"takes as "+
			"long as the slowest", least.Label, each(least), most.Label, each(most))
	}
}

// links predicts the exchange of a gradient over the slowest of the chosen routes.
func (p *preflight) links() {
	var slow *record.Route
	latency := 0.0
	for i := range p.result.Routes {
		r := &p.result.Routes[i]
		if !r.IsChosen || r.Rate == 0 {
			continue
		}
		if slow == nil || r.Rate < slow.Rate {
			slow = r
		}
		latency = max(latency, r.Latency)
	}
	if slow == nil {
		return
	}
	model, bytes := p.Model, p.GradientBytes
	if bytes == 0 {
		model, bytes = vgg11, 4*vgg11Params
	}
	seconds := Exchange(bytes, len(p.members), slow.Rate, latency)
	level, next := record.LevelNote, ""
	if seconds >= slowShare {
		level, next = record.LevelWarning, "a wire that sends fewer bytes (--wire auto, int8, powersgd), a "+
			"larger batch, or --strategy local-sgd; lockstep bench --strategies ... compares them"
	}
	p.say(level, "link", next, "all-reducing the gradient of %s (%s) takes about %s a step: the slowest "+
		"link, %s to %s, carries %s", model, bytesText(uint64(bytes)), durationText(seconds),
		p.result.Hosts[slow.From].Label, p.result.Hosts[slow.To].Label, rateText(slow.Rate))
}

// Exchange predicts the seconds of an all-reduce of n bytes between H hosts: 2 (H-1)/H n bytes leave each
// host at a rate in bytes per second, in 2 (H-1) steps of half a round trip. After Patarasu and Yuan 2009.
func Exchange(n int64, hosts int, rate, latency float64) float64 {
	h := float64(hosts)
	return 2*(h-1)/h*float64(n)/rate + (h-1)*latency
}

// oneMachine warns of entries of the list that are the same machine.
func (p *preflight) oneMachine() {
	for i, f := range p.result.Hosts {
		for _, g := range p.result.Hosts[:i] {
			if f.Boot != "" && f.Boot == g.Boot {
				p.say(record.LevelWarning, "hosts", "name the machine once, with the sum of the slots",
					"%s and %s are one machine: their workers share its cores, and exchange over TCP "+
						"instead of shared memory", g.Label, f.Label)
			}
		}
	}
}

// scaled formats a value with three digits in the first of some units, the greatest first, that it reaches.
func scaled(v float64, units []unit) string {
	for _, u := range units {
		if v >= u.size {
			return fmt.Sprintf("%.3g %s", v/u.size, u.name)
		}
	}
	last := units[len(units)-1]
	return fmt.Sprintf("%.3g %s", v/last.size, last.name)
}

// unit is a unit of scaled.
type unit struct {
	size float64
	name string
}

// durationText formats seconds with three digits at most.
func durationText(seconds float64) string {
	if seconds >= 100 {
		return time.Duration(seconds * 1e9).Round(time.Second).String()
	}
	return scaled(seconds, []unit{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}})
}

// rateText formats a rate in bytes per second in bits.
func rateText(rate float64) string {
	return scaled(8*rate, []unit{{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}, {1, "bit/s"}})
}
