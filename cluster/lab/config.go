package lab

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Config describes hosts and their links. The zero value of a link is a perfect one.
type Config struct {
	Hosts int    // 1 to MaxHosts
	Seed  uint64 // of losses
	MTU   int    // greatest packet in bytes, minMTU to maxMTU; 0: DefaultMTU

	Link Link // of every host
	Cuts []Cut
}

// Link connects a host to all others. Rate limits each direction; delay and loss apply to the packets that
// the host sends.
type Link struct {
	Rate  float64       // bits per second; 0: no limit
	Delay time.Duration // of every packet
	Loss  float64       // part of the packets that are lost, 0 to below 1
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
	minMTU     = 576
	maxMTU     = 65000
	DefaultMTU = 9000
	minRate    = 1e4
	maxRate    = 1e12
	maxDelay   = 10 * time.Second
)

// Validate returns an error that names the value out of range and the range.
func (c Config) Validate() error {
	if c.Hosts < 1 || c.Hosts > MaxHosts {
		return fmt.Errorf("%d hosts, want 1 to %d", c.Hosts, MaxHosts)
	}
	if c.MTU != 0 && (c.MTU < minMTU || c.MTU > maxMTU) {
		return fmt.Errorf("MTU of %d bytes, want %d to %d", c.MTU, minMTU, maxMTU)
	}
	if d := c.Link.Delay; d < 0 || d > maxDelay {
		return fmt.Errorf("delay of %v, want 0 to %v", d, maxDelay)
	}
	for _, cut := range c.Cuts {
		if cut.Host < 0 || cut.Host >= c.Hosts {
			return fmt.Errorf("host %d of %d: hosts go from 0 to %d", cut.Host, c.Hosts, c.Hosts-1)
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

// isEmulated reports whether the network needs the emulator.
func (c Config) isEmulated() bool { return len(c.Cuts) > 0 || c.Link.Delay > 0 || c.Link.Loss > 0 }

func (c Config) mtu() int { return cmp.Or(c.MTU, DefaultMTU) }

// String words a link, such as "100 Mbit/s, 1ms delay, 0.1 % loss".
func (l Link) String() string {
	parts := []string{"no limit"}
	switch {
	case l.Rate >= 1e9:
		parts[0] = fmt.Sprintf("%v Gbit/s", l.Rate/1e9)
	case l.Rate > 0:
		parts[0] = fmt.Sprintf("%v Mbit/s", l.Rate/1e6)
	}
	if l.Delay > 0 {
		parts = append(parts, l.Delay.String()+" delay")
	}
	if l.Loss > 0 {
		parts = append(parts, fmt.Sprintf("%.3g %% loss", 100*l.Loss))
	}
	return strings.Join(parts, ", ")
}

// ParseRate reads a rate such as 100mbit, 1gbit or 2.5Gbit/s as bits per second.
func ParseRate(text string) (float64, error) {
	lower := strings.TrimSuffix(strings.ToLower(text), "/s")
	for name, unit := range map[string]float64{"gbit": 1e9, "mbit": 1e6, "kbit": 1e3} {
		digits, isIn := strings.CutSuffix(lower, name)
		x, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		switch bits := x * unit; {
		case !isIn || err != nil:
		case bits >= minRate && bits <= maxRate:
			return bits, nil
		default:
			return 0, fmt.Errorf("%.80q is out of range, want 10kbit to 1000gbit", text)
		}
	}
	return 0, fmt.Errorf("%.80q is no rate such as 100mbit, 1gbit or 2.5gbit", text)
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
