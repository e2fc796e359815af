package setting

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"lockstep/data"
	"lockstep/internal/spelling"
)

func always(*Config) error { return nil }
func never(*Config) bool   { return false }

// text is a setting that takes any string.
func text(name, kind, usage string, at func(*Config) *string) Setting {
	return Setting{Name: name, Usage: usage, Type: kind,
		parse:  func(c *Config, text string) error { *at(c) = text; return nil },
		format: func(c *Config) string { return *at(c) },
		value:  func(c *Config) any { return at(c) },
		check:  always,
		isOpen: never,
	}
}

// filled refuses the empty text, for which a file would have no value.
func (s Setting) filled(want string) Setting {
	s.check = func(c *Config) error {
		if s.format(c) == "" {
			return fmt.Errorf("is empty; want %s", want)
		}
		return nil
	}
	return s
}

// choice is a setting whose value is one of names.
func choice(name, usage string, names []string, at func(*Config) *string) Setting {
	s := text(name, "NAME", usage+": "+strings.Join(names, ", "), at)
	s.Values = names
	s.check = func(c *Config) error { return known(name, *at(c), names) }
	return s
}

// known returns an error unless value is one of names.
func known(name, value string, names []string) error {
	if slices.Contains(names, value) {
		return nil
	}
	hint := spelling.Hint(value, names)
	if other := valueFromElsewhere(name, value); slices.Contains(names, other) {
		hint = fmt.Sprintf("; did you mean %q?", other)
	}
	return fmt.Errorf("unknown %s %.80q%s (known: %s)", name, value, hint, strings.Join(names, ", "))
}

// parsed is a setting with its own type, read by read and written by its String method. The empty text is
// the zero value. want describes the form for an error; if it is "", the error of read does.
func parsed[T fmt.Stringer](name, kind, usage, want string, read func(string) (T, error),
	at func(*Config) *T) Setting {
	return Setting{Name: name, Usage: usage, Type: kind,
		parse: func(c *Config, text string) error {
			value, err := read(text)
			if err != nil && want != "" {
				return fmt.Errorf("%.80q is no %s", text, want)
			}
			*at(c) = value
			return err
		},
		format: func(c *Config) string { return (*at(c)).String() },
		check:  always,
		isOpen: never,
	}
}

// decay is the setting that chooses the parameters with weight decay.
func decay() Setting {
	names := []string{decayAll, decayMatrices}
	return Setting{Name: "decay", Type: "NAME", Values: names,
		Usage: "parameters with weight decay; matrices leaves out biases and norms: " +
			strings.Join(names, ", "),
		parse: func(c *Config, text string) error {
			c.Optimizer.DecayMatrices = text == decayMatrices
			return known("decay", text, names)
		},
		format: func(c *Config) string {
			if c.Optimizer.DecayMatrices {
				return decayMatrices
			}
			return decayAll
		},
		check:  always,
		isOpen: never,
	}
}

// dataSet is a setting that takes the name or the path of a data set.
func dataSet(known data.Catalog, name, usage string, at func(*Config) *string) Setting {
	s := choice(name, usage, known.Names(), at)
	check := s.check
	s.check = func(c *Config) error {
		if known.IsPath(*at(c)) {
			return nil
		}
		return check(c)
	}
	return s
}

// number is a setting that takes a whole number from least to most.
func number(name, usage string, least, most int, at func(*Config) *int) Setting {
	return Setting{Name: name, Usage: usage, Type: "N",
		parse: func(c *Config, text string) error {
			n, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("%.80q is no whole number, want %d to %d", text, least, most)
			}
			*at(c) = n
			return nil
		},
		format: func(c *Config) string { return strconv.Itoa(*at(c)) },
		value:  func(c *Config) any { return at(c) },
		check:  func(c *Config) error { return within(*at(c), least, most) },
		isOpen: never,
	}
}

func within(n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("%d is out of range, want %d to %d", n, least, most)
	}
	return nil
}

// limit is a setting that takes a count not below least, or "all", stored as -1.
func limit(name, usage string, least int, at func(*Config) *int) Setting {
	s := number(name, usage, least, maxCount, at)
	s.Type = "N|all"
	parse, format, check := s.parse, s.format, s.check
	s.parse = func(c *Config, text string) error {
		if text == "all" {
			*at(c) = -1
			return nil
		}
		if err := parse(c, text); err != nil || *at(c) < 0 {
			return fmt.Errorf("%.80q is neither a whole number of at least %d nor all", text, least)
		}
		return nil
	}
	s.format = func(c *Config) string {
		if *at(c) == -1 {
			return "all"
		}
		return format(c)
	}
	s.check = func(c *Config) error {
		if *at(c) == -1 {
			return nil
		}
		return check(c)
	}
	return s
}

// real is a setting that takes a number from 0 to most.
func real(name, usage string, most float64, at func(*Config) *float64) Setting {
	return Setting{Name: name, Usage: usage, Type: "X",
		parse: func(c *Config, text string) error {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return fmt.Errorf("%.80q is no number", text)
			}
			*at(c) = x
			return nil
		},
		format: func(c *Config) string { return strconv.FormatFloat(*at(c), 'g', -1, 64) },
		value:  func(c *Config) any { return at(c) },
		check: func(c *Config) error {
			if x := *at(c); !(x >= 0 && x <= most) {
				return fmt.Errorf("%v is out of range, want 0 to %.4g", x, most)
			}
			return computable(*at(c))
		},
		isOpen: never,
	}
}

// computable returns an error for a number that is 0 as a float32, in which runs compute.
func computable(x float64) error {
	if x > 0 && float32(x) == 0 {
		return fmt.Errorf("%v is 0 as a float32, of which the least is %.4g", x, math.SmallestNonzeroFloat32)
	}
	return nil
}

// share is a setting that takes a number from 0 to below 1.
func share(name, usage string, at func(*Config) *float64) Setting {
	s := real(name, usage, 1, at)
	s.check = func(c *Config) error {
		if x := *at(c); !(x >= 0 && float32(x) < 1) {
			return fmt.Errorf("%v is out of range, want 0 to below 1, as a float32", x)
		}
		return computable(*at(c))
	}
	return s
}

// every is a setting that takes a number of steps or a time.
func every(name, usage string, at func(*Config) *string) Setting {
	s := text(name, "N|TIME", usage, at)
	s.check = func(c *Config) error {
		_, err := parseInterval(*at(c))
		return err
	}
	return s
}

// duration is a setting that takes a time above 0.
func duration(name, usage string, at func(*Config) *string) Setting {
	s := text(name, "TIME", usage, at)
	s.check = func(c *Config) error {
		_, err := parseTime(*at(c))
		return err
	}
	return s
}

// target is a setting that takes an accuracy to reach.
func target(name, usage string, at func(*Config) *float64) Setting {
	return Setting{Name: name, Usage: usage, Type: "accuracy=X",
		parse: func(c *Config, text string) (err error) {
			*at(c), err = parseTarget(text)
			return err
		},
		format: func(c *Config) string {
			if *at(c) == 0 {
				return ""
			}
			return targetPrefix + strconv.FormatFloat(*at(c), 'g', -1, 64)
		},
		check: func(c *Config) error {
			if x := *at(c); !(x >= 0 && x <= 1) {
				return fmt.Errorf("accuracy %v is out of range, want 0 to 1", x)
			}
			return nil
		},
		isOpen: never,
	}
}

// toggle is a setting that is on or off.
func toggle(name, usage string, at func(*Config) *bool) Setting {
	return Setting{Name: name, Usage: usage,
		parse: func(c *Config, text string) error {
			on, err := strconv.ParseBool(text)
			if err != nil {
				return fmt.Errorf("%.80q is neither true nor false", text)
			}
			*at(c) = on
			return nil
		},
		format: func(c *Config) string { return strconv.FormatBool(*at(c)) },
		value:  func(c *Config) any { return at(c) },
		check:  always,
		isOpen: never,
	}
}

// seed is the setting of the seed of all random numbers.
func seed() Setting {
	return Setting{Name: "seed", Type: "N",
		Usage: "seed of all random numbers",
		parse: func(c *Config, text string) (err error) {
			if c.Seed, err = strconv.ParseUint(text, 10, 64); err != nil {
				return fmt.Errorf("%.80q is no whole number from 0 to 2^64-1", text)
			}
			return nil
		},
		format: func(c *Config) string { return strconv.FormatUint(c.Seed, 10) },
		value:  func(c *Config) any { return &c.Seed },
		check:  always,
		isOpen: never,
	}
}

// byteSize is a setting that takes least to most bytes, as ParseBytes reads them.
func byteSize(name, usage string, least, most int, at func(*Config) *int) Setting {
	return Setting{Name: name, Usage: usage, Type: "BYTES",
		parse: func(c *Config, text string) (err error) {
			*at(c), err = ParseBytes(text)
			return err
		},
		format: func(c *Config) string { return FormatBytes(*at(c)) },
		value:  func(c *Config) any { return at(c) },
		check:  func(c *Config) error { return within(*at(c), least, most) },
		isOpen: never,
	}
}

// open marks a setting that may be left out: Config.Complete replaces its zero value.
func open(s Setting) Setting {
	zero := s.format(&Config{})
	s.isOpen = func(c *Config) bool { return s.format(c) == zero }
	return s
}
