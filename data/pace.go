package data

import (
	"fmt"
	"strconv"
	"time"
)

// Pace makes something slower than it is, such as a Loader: to try out data that comes late. It changes no
// sample. The zero value leaves it as fast as it is.
type Pace struct {
	Factor float64       // it takes so many times as long; 0: it has a Delay
	Delay  time.Duration // it takes so much longer
}

// The most that a Pace may be: a factor that no comparison of machines needs, and a wait in each step that no
// one takes for the end of a process.
const (
	maxFactor = 1000
	maxDelay  = 10 * time.Second
)

// ParsePace reads a factor, such as 1.3, or a time, such as 20ms; "" is the zero value.
func ParsePace(text string) (p Pace, err error) {
	if text == "" {
		return p, nil
	}
	if p.Factor, err = strconv.ParseFloat(text, 64); err == nil {
		if !(p.Factor >= 1 && p.Factor <= maxFactor) {
			return Pace{}, fmt.Errorf("factor %v is out of range, want 1 (full speed) to %d", p.Factor,
				maxFactor)
		}
		return p, nil
	}
	p.Factor = 0
	if p.Delay, err = time.ParseDuration(text); err != nil {
		return Pace{}, fmt.Errorf("%.80q is neither a factor nor a time, such as 1.3 or 20ms", text)
	}
	if p.Delay < 0 || p.Delay > maxDelay {
		return Pace{}, fmt.Errorf("a time of %v is out of range, want 0s to %v", p.Delay, maxDelay)
	}
	return p, nil
}

// String returns the text that ParsePace reads.
func (p Pace) String() string {
	switch {
	case p.Factor > 0:
		return strconv.FormatFloat(p.Factor, 'g', -1, 64)
	case p.Delay > 0:
		return p.Delay.String()
	}
	return ""
}

// owes returns how long to wait after something that took so long.
func (p Pace) owes(took time.Duration) time.Duration {
	return p.Delay + time.Duration(max(0, p.Factor-1)*float64(took))
}
