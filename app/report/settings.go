package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lockstep/app/record"
	"lockstep/internal/spelling"
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

// shared lists the resolved settings that all runs have in common, by name. Those that hold nothing are left
// out.
func shared(r *record.Results) []pair {
	var same map[string]json.RawMessage
	for _, row := range r.Rows {
		for _, run := range row.Runs {
			var own map[string]json.RawMessage
			if json.Unmarshal(run.Config, &own) != nil || own == nil {
				continue // a run that failed at once
			}
			if same == nil {
				same = own
			}
			maps.DeleteFunc(same, func(name string, value json.RawMessage) bool {
				return !bytes.Equal(own[name], value)
			})
		}
	}
	var out []pair
	for _, name := range slices.Sorted(maps.Keys(same)) {
		text := ""
		if json.Unmarshal(same[name], &text) != nil { // a number, or a list
			text = string(same[name])
		}
		if text != "" {
			out = append(out, pair{name, text})
		}
	}
	return out
}

// hostsPart tells what the preflight of a job on several hosts found.
func hostsPart(h *record.Hosts) part {
	p := part{ID: "hosts", Title: "Hosts"}
	if h == nil {
		return p
	}
	for i, f := range h.Hosts {
		p.Pairs = append(p.Pairs, pair{fmt.Sprintf("%d %s", i, f.Label), hostText(f)})
	}
	for _, f := range h.Findings {
		text := f.Text
		if f.Host != "" {
			text = f.Host + ": " + text
		}
		p.Pairs = append(p.Pairs, pair{f.Level, text})
	}
	return p
}

// onHosts returns a command line as one types it; that of several hosts goes behind launch.
func onHosts(command []string, h *record.Hosts) string {
	if len(command) > 0 {
		command = slices.Concat(command[:1], record.Behind("", h), command[1:])
	}
	return spelling.Line(command...)
}

// hostText describes a host in one line.
func hostText(f record.HostFacts) string {
	reached := ""
	if f.Address != "" {
		reached = fmt.Sprintf("reached at %s (%s)", f.Address, f.Why)
	}
	return joined(" · ", spelling.Count(f.Slots, "slot"), f.CPU, spelling.Count(f.UsableCores, "core"),
		byteCount(float64(f.FreeMemoryBytes))+" of memory free", strings.TrimSpace(f.OS+" "+f.Kernel),
		reached)
}
