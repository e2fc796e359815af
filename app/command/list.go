package command

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"lockstep/app/bench"
)

// items is a flag that takes a list of names, each with settings of its own if need be.
type items []string

func (i *items) String() string        { return strings.Join(*i, ",") }
func (i *items) Type() string          { return "LIST" }
func (i *items) Set(text string) error { *i = bench.SplitList(text); return nil }

// counts is a flag that takes a list of whole numbers.
type counts []int

func (c *counts) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*c), " ", ","), "[]")
}
func (c *counts) Type() string { return "LIST" }

// Set replaces the list.
func (c *counts) Set(text string) error {
	*c = nil
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return fmt.Errorf("%.80q is no whole number; want a list such as 1,2,4", part)
		}
		*c = append(*c, n)
	}
	return nil
}

// seeds is a flag that takes a list of seeds.
type seeds []uint64

func (s *seeds) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*s), " ", ","), "[]")
}
func (s *seeds) Type() string { return "LIST" }

// Set replaces the list.
func (s *seeds) Set(text string) error {
	*s = nil
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(part), 10, 64)
		if err != nil {
			return fmt.Errorf("%.80q is no whole number from 0 to 2^64-1; want a list such as 1,2,3", part)
		}
		*s = append(*s, n)
	}
	return nil
}

// whole is a flag that takes a whole number from 1.
type whole int

func (w *whole) String() string { return strconv.Itoa(int(*w)) }
func (w *whole) Type() string   { return "N" }

// Set takes the number.
func (w *whole) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("%.80q is no whole number", text)
	}
	if n < 1 {
		return fmt.Errorf("%d: want 1 or more", n)
	}
	*w = whole(n)
	return nil
}

// percent is a flag that takes a share in percent, with or without the sign.
type percent float64

func (p *percent) String() string {
	if *p == 0 {
		return ""
	}
	return fmt.Sprintf("%g%%", 100*float64(*p))
}
func (p *percent) Type() string { return "PERCENT" }

// Set takes the share.
func (p *percent) Set(text string) error {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(v > 0 && v <= 50) {
		return fmt.Errorf("%.80q is no share; want more than 0 to 50, in percent, such as 2%%", text)
	}
	*p = percent(v / 100)
	return nil
}

// budget is a flag that takes a time that something may last.
type budget time.Duration

// maxBudget is longer than anybody waits, and far from what a Duration holds.
const maxBudget = 8760 * time.Hour

func (b *budget) String() string {
	if *b == 0 {
		return ""
	}
	return time.Duration(*b).String()
}
func (b *budget) Type() string { return "duration" }

// Set takes the time. None at all would be one without end.
func (b *budget) Set(text string) error {
	v, err := time.ParseDuration(text)
	if err != nil || v <= 0 || v > maxBudget {
		return fmt.Errorf("%.80q is no time to run for; want more than 0 to %.0fh, such as 10m", text,
			maxBudget.Hours())
	}
	*b = budget(v)
	return nil
}

// whether is a switch.
type whether bool

func (w *whether) String() string { return strconv.FormatBool(bool(*w)) }
func (w *whether) Type() string   { return "bool" }

// Set takes true or false.
func (w *whether) Set(text string) error {
	is, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("%.80q is neither true nor false", text)
	}
	*w = whether(is)
	return nil
}
