package setting

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// parseTime reads a time such as 30s; "" is none.
func parseTime(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%.80q is no time such as 30s or 5m", text)
}

// targetPrefix stands before the accuracy in --until.
const targetPrefix = "accuracy="

// parseTarget reads accuracy=0.94; "" is none.
func parseTarget(text string) (accuracy float64, err error) {
	if text == "" {
		return 0, nil
	}
	number, isAccuracy := strings.CutPrefix(text, targetPrefix)
	x, err := strconv.ParseFloat(number, 64)
	if !isAccuracy || err != nil || !(x > 0 && x <= 1) {
		return 0, fmt.Errorf("%.80q is no accuracy above 0 to 1 such as accuracy=0.94", text)
	}
	return x, nil
}

// Remaining returns how long a run whose length is a time has to go on after so much training; 0 if its
// length is no time.
func (c Config) Remaining(trained time.Duration) time.Duration {
	length := c.Duration()
	if length == 0 {
		return 0
	}
	return max(length-trained, time.Nanosecond)
}

// Duration returns the length as a time; 0 if it is in steps.
func (c Config) Duration() time.Duration {
	length, _ := parseTime(c.For) // its error is a problem of Validate's
	return length
}

// Interval is the distance between two checkpoints, in steps or as a duration. The zero Interval means no
// checkpoints.
type Interval struct {
	Steps int
	Time  time.Duration
}

// parseInterval reads 100 or 5m.
func parseInterval(text string) (Interval, error) {
	if text == "" {
		return Interval{}, nil
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= maxCount {
		return Interval{Steps: n}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return Interval{Time: d}, nil
	}
	return Interval{}, fmt.Errorf("%.80q is neither a number of steps such as 100 nor a time such as 5m",
		text)
}

// CheckpointInterval returns the interval of checkpoints.
func (c Config) CheckpointInterval() Interval {
	every, _ := parseInterval(c.CheckpointEvery) // its error is a problem of Validate's
	return every
}
