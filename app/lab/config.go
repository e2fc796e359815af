package lab

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config describes hosts and their links. The zero value of a link is a perfect one.
type Config struct {
	Hosts int    // 1 to MaxHosts
	Seed  uint64 // of losses and jitter
	MTU   int    // greatest packet in bytes, MinMTU to MaxMTU; 0: DefaultMTU

	Link  Link         // of every host
	Links map[int]Link // of the hosts whose link is another
	Cuts  []Cut
}

// Link connects a host to all others. Rate limits each direction; delay, jitter and loss apply to the packets
// that the host sends.
type Link struct {
	Rate   float64       // bits per second; 0: no limit
	Delay  time.Duration // of every packet
	Jitter time.Duration // in addition, from 0 to this; no packet overtakes another
	Loss   float64       // part of the packets that are lost, 0 to below 1
}

// Cut is an interval, measured from the start of the command, in which packets of a host are lost.
type Cut struct {
	Host     int
	From, To time.Duration
	Way      Way
}

// Way says which packets of a host a cut loses.
type Way string

// The ways of a cut.
const (
	BothWays Way = ""    // the host is unreachable
	Outward  Way = "out" // those that it sends
	Inward   Way = "in"  // those that are sent to it
)

// loses reports whether the cut loses a packet that a host sends at time now, or that is sent to it.
func (c Cut) loses(now time.Duration, host int, way Way) bool {
	return c.Host == host && c.From <= now && now < c.To && (c.Way == BothWays || c.Way == way)
}

// Bounds of what Validate lets pass.
const (
	MaxHosts   = 64
	MinMTU     = 576
	MaxMTU     = 65000
	DefaultMTU = 9000
	MinRate    = 1e4
	MaxRate    = 1e12
	maxDelay   = 10 * time.Second
)

// Validate returns an error that names the value out of range and the range.
func (c Config) Validate() error {
	if c.Hosts < 1 || c.Hosts > MaxHosts {
		return fmt.Errorf("%d hosts, want 1 to %d", c.Hosts, MaxHosts)
	}
	if c.MTU != 0 && (c.MTU < MinMTU || c.MTU > MaxMTU) {
		return fmt.Errorf("MTU of %d bytes, want %d to %d", c.MTU, MinMTU, MaxMTU)
	}
	if err := c.Link.validate(); err != nil {
		return err
	}
	for _, host := range slices.Sorted(maps.Keys(c.Links)) {
		if err := c.checkHost(host); err != nil {
			return err
		}
		if err := c.Links[host].validate(); err != nil {
			return fmt.Errorf("host %d: %w", host, err)
		}
	}
	for _, cut := range c.Cuts {
		if err := c.checkHost(cut.Host); err != nil {
			return err
		}
		if cut.From < 0 || cut.From >= cut.To {
			return fmt.Errorf("cut of host %d from %v to %v, want a time that ends after it begins",
				cut.Host, cut.From, cut.To)
		}
		if cut.Way != BothWays && cut.Way != Outward && cut.Way != Inward {
			return fmt.Errorf("cut of host %d in the direction %.80q, want %q or %q", cut.Host, cut.Way,
				Outward, Inward)
		}
	}
	return nil
}

func (c Config) checkHost(host int) error {
	if host < 0 || host >= c.Hosts {
		return fmt.Errorf("host %d of %d: hosts go from 0 to %d", host, c.Hosts, c.Hosts-1)
	}
	return nil
}

func (l Link) validate() error {
	switch {
	case l.Rate != 0 && !(l.Rate >= MinRate && l.Rate <= MaxRate):
		return fmt.Errorf("rate of %v bit/s, want 10kbit to 1000gbit", l.Rate)
	case l.Delay < 0 || l.Delay > maxDelay:
		return fmt.Errorf("delay of %v, want 0 to %v", l.Delay, maxDelay)
	case l.Jitter < 0 || l.Jitter > maxDelay:
		return fmt.Errorf("jitter of %v, want 0 to %v", l.Jitter, maxDelay)
	case !(l.Loss >= 0 && l.Loss < 1):
		return fmt.Errorf("loss of %v %%, want 0%% to below 100%%", 100*l.Loss)
	}
	return nil
}

// link returns a host's link.
func (c Config) link(host int) Link {
	if l, ok := c.Links[host]; ok {
		return l
	}
	return c.Link
}

// isEmulated reports whether some link needs the emulator.
func (c Config) isEmulated() bool {
	emulated := len(c.Cuts) > 0
	for host := range c.Hosts {
		l := c.link(host)
		emulated = emulated || l.Delay > 0 || l.Jitter > 0 || l.Loss > 0
	}
	return emulated
}

// isLossy reports whether packets are to be lost.
func (c Config) isLossy() bool {
	lossy := len(c.Cuts) > 0
	for host := range c.Hosts {
		lossy = lossy || c.link(host).Loss > 0
	}
	return lossy
}

func (c Config) mtu() int {
	if c.MTU == 0 {
		return DefaultMTU
	}
	return c.MTU
}

// String words a link, such as "1 Gbit/s, 1ms delay, 0.1 % loss".
func (l Link) String() string {
	parts := []string{"no limit"}
	if l.Rate > 0 {
		parts[0] = FormatRate(l.Rate)
	}
	if l.Delay > 0 {
		parts = append(parts, l.Delay.String()+" delay")
	}
	if l.Jitter > 0 {
		parts = append(parts, l.Jitter.String()+" jitter")
	}
	if l.Loss > 0 {
		parts = append(parts, fmt.Sprintf("%.3g %% loss", 100*l.Loss))
	}
	return strings.Join(parts, ", ")
}

// rateUnits are the units of ParseRate, each with bits per second, the greatest first.
var rateUnits = []struct {
	name string
	bits float64
}{{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}}

// ParseRate reads a rate such as 100mbit, 1gbit or 2.5Gbit/s as bits per second.
func ParseRate(text string) (float64, error) {
	lower := strings.TrimSuffix(strings.ToLower(text), "/s")
	for _, unit := range rateUnits {
		digits, ok := strings.CutSuffix(lower, unit.name)
		if !ok {
			continue
		}
		if x, err := strconv.ParseFloat(strings.TrimSpace(digits), 64); err == nil {
			if bits := x * unit.bits; bits >= MinRate && bits <= MaxRate {
				return bits, nil
			}
			return 0, fmt.Errorf("%.80q is out of range, want 10kbit to 1000gbit", text)
		}
	}
	return 0, fmt.Errorf("%.80q is no rate such as 100mbit, 1gbit or 2.5gbit", text)
}

// FormatRate words bits per second.
func FormatRate(bits float64) string {
	for _, unit := range rateUnits {
		if bits >= unit.bits {
			name := strings.ToUpper(unit.name[:1]) + unit.name[1:]
			if unit.name == "kbit" {
				name = unit.name
			}
			return fmt.Sprintf("%.3g %s/s", bits/unit.bits, name)
		}
	}
	return fmt.Sprintf("%.3g bit/s", bits)
}

// ParseLoss reads a percentage such as 0.1% as a part of 1.
func ParseLoss(text string) (float64, error) {
	digits, ok := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !ok || err != nil || math.IsNaN(x) || x < 0 || x >= 100 {
		return 0, fmt.Errorf("%.80q is no loss from 0%% to below 100%%, such as 0.1%%", text)
	}
	return x / 100, nil
}

// ParseForHost splits HOST=VALUE.
func ParseForHost(text string) (host int, value string, err error) {
	number, value, ok := strings.Cut(text, "=")
	host, err = strconv.Atoi(number)
	if !ok || err != nil {
		return 0, "", fmt.Errorf("%.80q is no HOST=VALUE such as 2=100mbit", text)
	}
	return host, value, nil
}

// ParseCut reads HOST@FROM-TO such as 3@10s-12s, or HOST@FROM-TO:out or :in for one direction.
func ParseCut(text string) (Cut, error) {
	wrong := fmt.Errorf("%.80q is no HOST@FROM-TO such as 3@10s-12s or 3@10s-12s:out", text)
	number, times, ok := strings.Cut(text, "@")
	times, way, isOneWay := strings.Cut(times, ":")
	if isOneWay && way == "" {
		return Cut{}, wrong
	}
	from, to, isRange := strings.Cut(times, "-")
	host, err := strconv.Atoi(number)
	if !ok || !isRange || err != nil {
		return Cut{}, wrong
	}
	cut := Cut{Host: host, Way: Way(way)}
	if cut.From, err = time.ParseDuration(from); err != nil {
		return Cut{}, wrong
	}
	if cut.To, err = time.ParseDuration(to); err != nil {
		return Cut{}, wrong
	}
	return cut, nil
}
