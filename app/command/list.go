package command

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"lockstep/app/bench"
)

// value is a flag that takes a T.
type value[T any] struct {
	at    *T
	kind  string // how help names the type
	parse func(text string) (T, error)
	show  func(T) string
}

func (v *value[T]) String() string {
	if v.at == nil { // of pflag, which looks at a zero value
		return ""
	}
	return v.show(*v.at)
}
func (v *value[T]) Type() string { return v.kind }

// Set takes the value.
func (v *value[T]) Set(text string) error {
	parsed, err := v.parse(text)
	if err == nil {
		*v.at = parsed
	}
	return err
}

// items is a flag that takes a list of names, each with settings of its own if need be.
func items(at *[]string) pflag.Value {
	return &value[[]string]{at, "LIST",
		func(text string) ([]string, error) { return bench.SplitList(text), nil },
		func(all []string) string { return strings.Join(all, ",") }}
}

// counts is a flag that takes a list of whole numbers.
func counts(at *[]int) pflag.Value {
	return numbers(at, "whole number; want a list such as 1,2,4", strconv.Atoi)
}

// seeds is a flag that takes a list of seeds.
func seeds(at *[]uint64) pflag.Value {
	return numbers(at, "whole number from 0 to 2^64-1; want a list such as 1,2,3",
		func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) })
}

// numbers is a flag that takes a list of what.
func numbers[N any](at *[]N, what string, parse func(string) (N, error)) pflag.Value {
	read := func(text string) (all []N, err error) {
		for part := range strings.SplitSeq(text, ",") {
			n, err := parse(strings.TrimSpace(part))
			if err != nil {
				return nil, fmt.Errorf("%.80q is no %s", part, what)
			}
			all = append(all, n)
		}
		return all, nil
	}
	return &value[[]N]{at, "LIST", read, func(all []N) string {
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ","), "[]")
	}}
}

// bounded is a flag that takes the whole numbers from least to most.
func bounded(at *int, least, most int) pflag.Value {
	return &value[int]{at, "int", func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("%.80q, want a whole number from %d to %d", text, least, most)
		}
		return n, nil
	}, strconv.Itoa}
}

// percent is a flag that takes a share in percent, with or without the sign.
func percent(at *float64) pflag.Value {
	return &value[float64]{at, "PERCENT", func(text string) (float64, error) {
		v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil || !(v > 0 && v <= 50) {
			return 0, fmt.Errorf("%.80q is no share; want more than 0 to 50, in percent, such as 2%%", text)
		}
		return v / 100, nil
	}, func(share float64) string { return unlessZero(share, fmt.Sprintf("%g%%", 100*share)) }}
}

// maxBudget is longer than anybody waits, and far from what a Duration holds.
const maxBudget = 8760 * time.Hour

// budget is a flag that takes a time that something may last. None at all would be one without end.
func budget(at *time.Duration) pflag.Value {
	return &value[time.Duration]{at, "duration", func(text string) (time.Duration, error) {
		v, err := time.ParseDuration(text)
		if err != nil || v <= 0 || v > maxBudget {
			return 0, fmt.Errorf("%.80q is no time to run for; want more than 0 to %.0fh, such as 10m", text,
				maxBudget.Hours())
		}
		return v, nil
	}, func(d time.Duration) string { return unlessZero(d, d.String()) }}
}

// whether is a switch.
func whether(at *bool) pflag.Value {
	return &value[bool]{at, "bool", func(text string) (bool, error) {
		is, err := strconv.ParseBool(text)
		if err != nil {
			return false, fmt.Errorf("%.80q is neither true nor false", text)
		}
		return is, nil
	}, strconv.FormatBool}
}

// unlessZero returns the text of a value, "" of the zero value, which stands for none.
func unlessZero[T comparable](v T, text string) string {
	if v == *new(T) {
		return ""
	}
	return text
}
