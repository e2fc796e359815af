package setting

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Slow says that one worker computes more slowly from a step on.
type Slow struct {
	Rank   int
	Factor float64 // its computation takes so many times as long; 1: full speed
	From   int     // the first step, from 0
}

// SlowWorkers lists workers that are slowed.
type SlowWorkers []Slow

// maxSlow is a factor that no comparison of machines needs.
const maxSlow = 1000

// ParseSlowWorkers reads RANK:FACTOR or RANK:FACTOR@STEP, separated by commas; "" is none.
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
	bad := fmt.Errorf("%.80q is not RANK:FACTOR or RANK:FACTOR@STEP such as 1:3 or 1:3@100", item)
	rank, rest, ok := strings.Cut(item, ":")
	factor, step, hasStep := strings.Cut(rest, "@")
	if s.Rank, err = strconv.Atoi(rank); err != nil || !ok || s.Rank < 0 {
		return s, bad
	}
	if s.Factor, err = strconv.ParseFloat(factor, 64); err != nil {
		return s, bad
	}
	if hasStep {
		if s.From, err = strconv.Atoi(step); err != nil || s.From < 0 || s.From > maxCount {
			return s, bad
		}
	}
	if !(s.Factor >= 1 && s.Factor <= maxSlow) {
		return s, fmt.Errorf("%.80q: factor %v is out of range, want 1 (full speed) to %d", item, s.Factor,
			maxSlow)
	}
	return s, nil
}

// String returns the text that ParseSlowWorkers reads.
func (l SlowWorkers) String() string {
	items := make([]string, len(l))
	for i, s := range l {
		items[i] = fmt.Sprintf("%d:%v", s.Rank, s.Factor)
		if s.From > 0 {
			items[i] += fmt.Sprintf("@%d", s.From)
		}
	}
	return strings.Join(items, ",")
}

// At returns the factor of a worker in a step: that of the last item that has begun, 1 if there is none.
func (l SlowWorkers) At(rank, step int) float64 {
	factor, from := 1.0, -1
	for _, s := range l {
		if s.Rank == rank && s.From <= step && s.From >= from {
			factor, from = s.Factor, s.From
		}
	}
	return factor
}

// Below returns the items of ranks below workers.
func (l SlowWorkers) Below(workers int) SlowWorkers {
	return slices.DeleteFunc(slices.Clone(l), func(s Slow) bool { return s.Rank >= workers })
}
