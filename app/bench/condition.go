package bench

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"lockstep/app/setting"
	"lockstep/cluster/lab"
	"lockstep/data"
)

// Condition is what the workers of a row run under, besides the row's own settings: unequal speeds, or a
// network between them. Rows of different conditions are never compared. The zero value is workers of one
// machine that are all alike.
type Condition struct {
	Name   string              // as ParseCondition takes it
	Slow   setting.SlowWorkers // workers that are slowed
	Loader data.Pace           // how much later data comes
	Flags  []string            // of lockstep lab, where each process then has its own host; nil: no lab
	Link   lab.Link            // that Flags ask for
}

// MarshalText returns the name.
func (c Condition) MarshalText() ([]byte, error) { return []byte(c.Name), nil }

// UnmarshalText reads what ParseCondition takes.
func (c *Condition) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCondition(string(text))
	return err
}

// IsZero reports whether it is that of workers of one machine that are all alike.
func (c Condition) IsZero() bool { return c.Name == "" }

// equal is the name of the condition without anything special.
const equal = "equal"

// ParseCondition reads "equal", "slow-worker=1:3", "slow-loader=1.3", a link such as "rate=100mbit" or
// "rate=1gbit+delay=1ms", or several of these joined by "+". The error is a *setting.UsageError.
func ParseCondition(text string) (Condition, error) {
	c := Condition{Name: text}
	if text == equal {
		return c, nil
	}
	for part := range strings.SplitSeq(text, "+") {
		name, value, _ := strings.Cut(part, "=")
		var err error
		switch name {
		case "slow-worker":
			if c.Slow, err = setting.ParseSlowWorkers(value); err == nil {
				continue
			}
		case "slow-loader":
			if c.Loader, err = data.ParsePace(value); err == nil {
				continue
			}
		case "rate":
			c.Link.Rate, err = lab.ParseRate(value)
		case "delay":
			c.Link.Delay, err = time.ParseDuration(value)
		case "loss":
			c.Link.Loss, err = lab.ParseLoss(value)
		default:
			err = fmt.Errorf("want %s, slow-worker=RANK:FACTOR, slow-loader=FACTOR, or a link such as "+
				"rate=100mbit, delay=1ms or loss=0.1%%, joined by +", equal)
		}
		if err == nil {
			err = lab.Config{Hosts: 1, Link: c.Link}.Validate()
		}
		if err != nil {
			return c, setting.Refuse("condition %.80q: %v", text, err)
		}
		c.Flags = append(c.Flags, "--"+name, value)
	}
	return c, nil
}

// IsApart reports whether each process has a host of its own in a lab.
func (c Condition) IsApart() bool { return c.Flags != nil }

// String words the condition for a reader; "" if it has no name.
func (c Condition) String() string {
	if c.Name == "" {
		return ""
	}
	var parts []string
	for _, s := range c.Slow {
		if s.Factor > 0 {
			parts = append(parts, fmt.Sprintf("worker %d made %v times slower by a duty cycle", s.Rank,
				s.Factor))
		} else {
			parts = append(parts, fmt.Sprintf("worker %d made to wait %v in every step", s.Rank, s.Delay))
		}
	}
	switch {
	case c.Loader.Factor > 0:
		parts = append(parts, fmt.Sprintf("batches take %v times as long to prepare", c.Loader.Factor))
	case c.Loader.Delay > 0:
		parts = append(parts, fmt.Sprintf("batches come %v later", c.Loader.Delay))
	}
	if c.IsApart() {
		parts = append(parts, fmt.Sprintf("links of %v in the lab", c.Link))
	}
	if parts == nil {
		return "equal workers"
	}
	return strings.Join(parts, "; ")
}

// SplitList splits a list at its commas. An item that begins with a digit belongs to the item before it
// if that has a "=", because values such as 1:3,2:2 and 0.5,2 have commas of their own.
func SplitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		last := len(items) - 1
		_, err := strconv.Atoi(item[:min(1, len(item))])
		if err == nil && last >= 0 && strings.Contains(items[last], "=") {
			items[last] += "," + item
			continue
		}
		items = append(items, item)
	}
	return items
}
