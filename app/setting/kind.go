package setting

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/spelling"
)

// value is a field of a configuration as text and in JSON.
type value struct {
	Type   string   // what kind of value the flag takes; "" for a switch
	Values []string // the names that it takes; nil: it takes other values

	set   func(text string) error
	text  func() string
	json  any                     // pointer to the value; nil: JSON has the text
	check func(name string) error // of the value alone, for the setting of a name; nil: every one is valid
}

// scalar is a value that is read and written by functions.
func scalar[T any](at *T, kind string, read func(string) (T, error), write func(T) string) value {
	set := func(text string) error {
		x, err := read(text)
		if err == nil {
			*at = x
		}
		return err
	}
	return value{Type: kind, json: at, set: set, text: func() string { return write(*at) }}
}

// checked returns v with a check.
func (v value) checked(check func(name string) error) value {
	v.check = check
	return v
}

// text takes any string.
func text(at *string, kind string) value {
	return scalar(at, kind, func(text string) (string, error) { return text, nil }, strings.Clone)
}

// choice takes one of some names.
func choice(at *string, names []string) value {
	return choiceOr(at, names, "", func(string) bool { return false })
}

// choiceOr takes one of some names, or another text, of which other is said in an error.
func choiceOr(at *string, names []string, other string, isOther func(text string) bool) value {
	v := text(at, "NAME").checked(func(name string) error {
		if isOther(*at) {
			return nil
		}
		if err := known(name, *at, names); err != nil {
			return fmt.Errorf("%w%s", err, other)
		}
		return nil
	})
	v.Values = names
	return v
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

// parsed has its own type, read by read and written by its String method. The empty text is the zero value.
// want describes the form for an error; if it is "", the error of read does.
func parsed[T fmt.Stringer](at *T, kind, want string, read func(string) (T, error)) value {
	v := scalar(at, kind, func(text string) (T, error) {
		x, err := read(text)
		if err != nil && want != "" {
			err = fmt.Errorf("%.80q is no %s", text, want)
		}
		return x, err
	}, T.String)
	v.json = nil
	return v
}

// decay chooses the parameters with weight decay.
func decay(at *bool) value {
	names := []string{decayAll, decayMatrices}
	v := scalar(at, "NAME", func(text string) (bool, error) {
		return text == decayMatrices, known("decay", text, names)
	}, func(isMatrices bool) string {
		if isMatrices {
			return decayMatrices
		}
		return decayAll
	})
	v.Values, v.json = names, nil
	return v
}

// number takes a whole number from least to most.
func number(at *int, least, most int) value {
	return scalar(at, "N", func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, fmt.Errorf("%.80q is no whole number, want %d to %d", text, least, most)
		}
		return n, nil
	}, strconv.Itoa).checked(func(string) error { return within(*at, least, most) })
}

func within(n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("%d is out of range, want %d to %d", n, least, most)
	}
	return nil
}

// limit takes a count not below least, or "all", stored as -1.
func limit(at *int, least int) value {
	return scalar(at, "N|all", func(text string) (int, error) {
		if text == "all" {
			return -1, nil
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%.80q is neither a whole number of at least %d nor all", text, least)
		}
		return n, nil
	}, func(n int) string {
		if n == -1 {
			return "all"
		}
		return strconv.Itoa(n)
	}).checked(func(string) error {
		if *at == -1 {
			return nil
		}
		return within(*at, least, maxCount)
	})
}

// real takes a number from 0 to most.
func real(at *float64, most float64) value {
	return scalar(at, "X", func(text string) (float64, error) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, fmt.Errorf("%.80q is no number", text)
		}
		return x, nil
	}, decimal).checked(func(string) error {
		if x := *at; !(x >= 0 && x <= most) {
			return fmt.Errorf("%v is out of range, want 0 to %.4g", x, most)
		}
		return nil
	})
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// share takes a number from 0 to below 1.
func share(at *float64) value {
	return real(at, 1).checked(func(string) error {
		if x := *at; !(x >= 0 && float32(x) < 1) {
			return fmt.Errorf("%v is out of range, want 0 to below 1, as a float32", x)
		}
		return nil
	})
}

// written takes a text that read reads.
func written[T any](at *string, kind string, read func(text string) (T, error)) value {
	return text(at, kind).checked(func(string) error {
		_, err := read(*at)
		return err
	})
}

// target takes an accuracy to reach.
func target(at *float64) value {
	v := scalar(at, "accuracy=X", parseTarget, func(x float64) string {
		if x == 0 {
			return ""
		}
		return targetPrefix + decimal(x)
	})
	v.json = nil
	return v
}

// toggle is on or off.
func toggle(at *bool) value {
	return scalar(at, "", func(text string) (bool, error) {
		isOn, err := strconv.ParseBool(text)
		if err != nil {
			return false, fmt.Errorf("%.80q is neither true nor false", text)
		}
		return isOn, nil
	}, strconv.FormatBool)
}

// seed takes the seed of all random numbers.
func seed(at *uint64) value {
	return scalar(at, "N", func(text string) (uint64, error) {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%.80q is no whole number from 0 to 2^64-1", text)
		}
		return n, nil
	}, func(n uint64) string { return strconv.FormatUint(n, 10) })
}

// byteSize takes least to most bytes, as ParseBytes reads them.
func byteSize(at *int, least, most int) value {
	return scalar(at, "BYTES", ParseBytes, formatBytes).checked(func(string) error {
		return within(*at, least, most)
	})
}
