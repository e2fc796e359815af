package setting

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/data"
)

// Slow says that one worker computes more slowly, or waits in every step.
type Slow struct {
	Rank      int
	data.Pace // its computation takes so many times as long, or it waits for so long before it
}

// SlowWorkers lists workers that are slowed.
type SlowWorkers []Slow

// ParseSlowWorkers reads RANK:FACTOR or RANK:TIME, separated by commas; "" is none.
func ParseSlowWorkers(text string) (SlowWorkers, error) {
	var list SlowWorkers
	for item := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		s, err := parseSlow(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// parseSlow reads one item.
func parseSlow(item string) (s Slow, err error) {
	bad := fmt.Errorf("%.80q is not RANK:FACTOR or RANK:TIME, such as 1:3 or 1:20ms", item)
	rank, much, _ := strings.Cut(item, ":")
	if s.Rank, err = strconv.Atoi(rank); err != nil || much == "" || s.Rank < 0 {
		return s, bad
	}
	if s.Pace, err = data.ParsePace(much); err != nil {
		return s, fmt.Errorf("%.80q: %v", item, err)
	}
	return s, nil
}

// String returns the text that ParseSlowWorkers reads.
func (l SlowWorkers) String() string {
	items := make([]string, len(l))
	for i, s := range l {
		items[i] = fmt.Sprintf("%d:%s", s.Rank, cmp.Or(s.Pace.String(), "0s"))
	}
	return strings.Join(items, ",")
}

// Of returns the factor and the delay of a worker: those of the last items, 1 and 0 if there are none.
func (l SlowWorkers) Of(rank int) (factor float64, delay time.Duration) {
	factor = 1
	for _, s := range l {
		switch {
		case s.Rank != rank:
		case s.Factor > 0:
			factor = s.Factor
		default:
			delay = s.Delay
		}
	}
	return factor, delay
}

// Below returns the items of ranks below workers.
func (l SlowWorkers) Below(workers int) SlowWorkers {
	return slices.DeleteFunc(slices.Clone(l), func(s Slow) bool { return s.Rank >= workers })
}
