package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"lockstep/app/record"
)

const (
	maxText  = 200     // characters of a text
	maxCount = 1 << 20 // of cores and slots, so that products of them fit
)

// decode reads an answer that came from another machine: it is of bounded size, and its texts are, without
// what a terminal would obey.
func decode(text []byte, reply any) error {
	if len(text) > maxAnswer {
		return fmt.Errorf("an answer of %d bytes, want at most %d", len(text), maxAnswer)
	}
	var plain any
	numbers := json.NewDecoder(strings.NewReader(string(text)))
	numbers.UseNumber()
	if err := numbers.Decode(&plain); err != nil {
		return fmt.Errorf("an answer that cannot be read: %w", err)
	}
	cleaned, err := json.Marshal(clean(plain))
	if err == nil {
		err = json.Unmarshal(cleaned, reply)
	}
	if err != nil {
		return fmt.Errorf("an answer that cannot be read: %w", err)
	}
	return nil
}

// clean clips all texts of a JSON value.
func clean(value any) any {
	switch v := value.(type) {
	case string:
		return clip(v)
	case []any:
		for i := range v {
			v[i] = clean(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = clean(v[name])
		}
	}
	return value
}

// clip shortens a text and replaces what a terminal would obey.
func clip(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
	runes := []rune(text)
	return string(runes[:min(len(runes), maxText)])
}

// bound bounds the numbers of a host's facts, and leaves out the GPUs, which are told of this machine only.
func bound(f *record.HostFacts) {
	for _, n := range []*int{&f.PhysicalCores, &f.LogicalCores, &f.UsableCores, &f.Affinity} {
		*n = min(max(*n, 0), maxCount)
	}
	f.GPU, f.GPUs, f.NoGPU = nil, 0, ""
}

// errProbe is the error of figures that no probe can have found.
var errProbe = errors.New("a result of a probe with impossible figures")

// check refuses figures out of bounds: seconds of a round trip, bytes per second, seconds between clocks.
func (p probe) check() error {
	isWithin := func(v, least, most float64) bool { return v >= least && v <= most } // NaN is not
	if !isWithin(p.Latency, 0, 1e3) || !isWithin(p.Error, 0, 1e3) || !isWithin(p.Rate, 0, 1e13) ||
		!isWithin(p.Offset, -1e10, 1e10) {
		return errProbe
	}
	return nil
}
