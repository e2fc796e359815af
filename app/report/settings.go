package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lockstep/app/record"
)

// machine lists the host and the versions.
func machine(r *record.Results) []pair {
	var used []string
	for _, row := range r.Rows {
		for _, run := range row.Runs {
			if run.ISA != "" && !slices.Contains(used, run.Kernels()) {
				used = append(used, run.Kernels())
			}
		}
	}
	version := r.Version
	if r.Revision != "" {
		version += " (" + r.Revision + ")"
	}
	return told(append(hostPairs(r.Host), []pair{
		{"kernels used", strings.Join(used, ", ")}, {"lockstep", version}, {"go", r.Go},
		{"started", r.Started.UTC().Format("2006-01-02 15:04:05 UTC")},
		{"duration", duration(r.Seconds)}}...))
}

// hostPairs lists what is known of a machine.
func hostPairs(h record.Machine) []pair {
	return told([]pair{{"host", h.Name}, {"processor", h.CPU}, {"cores", fmt.Sprint(h.Cores)},
		{"kernels supported", strings.Join(h.ISA, ", ")}, {"memory", byteCount(float64(h.MemoryBytes))},
		{"system", strings.TrimSpace(h.OS + " " + h.Kernel)}, {"architecture", h.Arch}})
}

// told leaves out pairs without a value.
func told(all []pair) []pair {
	return slices.DeleteFunc(all, func(p pair) bool {
		return p.Value == "" || p.Value == "0" || p.Value == "0 B"
	})
}

// shared lists the resolved settings that all runs have in common, in the order of the first
// run's configuration. Settings that hold nothing are left out.
func shared(r *record.Results) []pair {
	var out []pair
	isFirst := true
	for _, row := range r.Rows {
		for _, run := range row.Runs {
			settings := pairs(run.Config)
			if settings == nil {
				continue
			}
			if isFirst {
				out, isFirst = settings, false
				continue
			}
			out = slices.DeleteFunc(out, func(p pair) bool { return !slices.Contains(settings, p) })
		}
	}
	return slices.DeleteFunc(out, func(p pair) bool { return p.Value == "" })
}

// pairs reads one flat JSON object, keeping its order; nil if it is none.
func pairs(object json.RawMessage) []pair {
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	var out []pair
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil
		}
		text := string(value)
		if s := ""; json.Unmarshal(value, &s) == nil {
			text = s
		}
		out = append(out, pair{Name: fmt.Sprint(name), Value: text})
	}
	return out
}
