package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

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

// hostsPart tells what the preflight of a job on several hosts found.
func hostsPart(h *record.Hosts) part {
	p := part{ID: "hosts", Title: "Hosts"}
	if h == nil {
		return p
	}
	for i, f := range h.Hosts {
		p.Pairs = append(p.Pairs, pair{fmt.Sprintf("%d %s", i, f.Label), hostText(f)})
	}
	if text := routesText(h); text != "" {
		p.Pairs = append(p.Pairs, pair{"between them", text})
	}
	for _, f := range h.Findings {
		text := f.Text
		if f.Host != "" {
			text = f.Host + ": " + text
		}
		p.Pairs = append(p.Pairs, pair{f.Level, text})
	}
	p.Pairs = append(p.Pairs, pair{"examined", h.Started.UTC().Format("2006-01-02 15:04:05 UTC") +
		", in " + roundTime(h.Seconds)})
	return p
}

// joinedHost is a host of a run with the ranks of its workers and of its servers apart.
type joinedHost struct {
	name  string
	ranks []int
}

// joinedHosts lists the hosts that the ranks of a run tell of, in the order of their first ranks.
func joinedHosts(s *record.Summary) []joinedHost {
	var all []joinedHost
	add := func(host string, rank int) {
		at := slices.IndexFunc(all, func(j joinedHost) bool { return j.name == host })
		switch {
		case host == "": // older runs, and systems without a name
		case at < 0:
			all = append(all, joinedHost{host, []int{rank}})
		case !slices.Contains(all[at].ranks, rank): // a server may have the rank of a worker
			all[at].ranks = append(all[at].ranks, rank)
		}
	}
	for _, r := range s.Ranks {
		add(r.Host, r.Rank)
	}
	for _, server := range s.Servers {
		add(server.Host, server.Rank)
	}
	return all
}

// joinedPart names the hosts of a run whose ranks were started one by one, by hand or by another launcher:
// nothing examined these before.
func joinedPart(s *record.Summary) part {
	p := part{ID: "hosts", Title: "Hosts"}
	all := joinedHosts(s)
	if len(all) < 2 {
		return p
	}
	for i, j := range all {
		ranks := strings.Trim(fmt.Sprint(j.ranks), "[]")
		p.Pairs = append(p.Pairs, pair{fmt.Sprintf("%d %s", i, j.name), "ranks " + ranks})
	}
	p.Pairs = append(p.Pairs, pair{"examined", "not before this run"})
	return p
}

// onHosts returns a command line as one types it; that of several hosts goes behind launch.
func onHosts(command []string, h *record.Hosts) string {
	if h == nil || len(command) == 0 {
		return shell(command)
	}
	list := make([]string, len(h.Hosts))
	for i, f := range h.Hosts {
		list[i] = fmt.Sprintf("%s:%d", f.Label, f.Slots)
	}
	launch := []string{command[0], "launch", "--hosts", strings.Join(list, ","), "--"}
	return shell(slices.Concat(launch, command[1:]))
}

// byPlan repeats a benchmark of a plan in the benchmark's folder. A reader lacks the file that the plan was
// read from; the folder has the rows that came of it.
const byPlan = "lockstep bundle . --out ../again.tar.gz && lockstep replay ../again.tar.gz"

// isOfPlan reports whether a command line reads a plan from a file.
func isOfPlan(command []string) bool {
	isBench := len(command) > 1 && command[1] == "bench" // and not in a lab or behind launch
	return isBench && slices.ContainsFunc(command, func(arg string) bool {
		return arg == "--plan" || strings.HasPrefix(arg, "--plan=")
	})
}

// hostText describes a host in one line.
func hostText(f record.HostFacts) string {
	var reached, clock, isa string
	if len(f.ISA) > 0 {
		isa = f.ISA[len(f.ISA)-1]
	}
	if f.Address != "" {
		reached = fmt.Sprintf("reached at %s (%s)", f.Address, f.Why)
	}
	offset := time.Duration(f.ClockOffset * 1e9).Round(time.Millisecond)
	switch {
	case offset > 0:
		clock = fmt.Sprintf("clock %v ahead", offset)
	case offset < 0:
		clock = fmt.Sprintf("clock %v behind", -offset)
	}
	return joined(" · ", spelling.Count(f.Slots, "slot"), f.CPU, spelling.Count(f.UsableCores, "core"), isa,
		byteCount(float64(f.FreeMemoryBytes))+" of memory free", strings.TrimSpace(f.OS+" "+f.Kernel),
		reached,
		clock)
}

// routesText tells the extremes of the routes that the job uses.
func routesText(h *record.Hosts) string {
	used := slices.DeleteFunc(slices.Clone(h.Routes), func(r record.Route) bool { return !r.IsChosen })
	if len(used) == 0 {
		return ""
	}
	byLatency := func(a, b record.Route) int { return cmp.Compare(a.Latency, b.Latency) }
	text := fmt.Sprintf("round trips of %s to %s ms", digits(1e3*slices.MinFunc(used, byLatency).Latency, 3),
		digits(1e3*slices.MaxFunc(used, byLatency).Latency, 3))
	used = slices.DeleteFunc(used, func(r record.Route) bool { return !(r.Rate > 0) })
	if len(used) == 0 {
		return text
	}
	byRate := func(a, b record.Route) int { return cmp.Compare(a.Rate, b.Rate) }
	show := func(r record.Route) string {
		return fmt.Sprintf("%s Mbit/s (%s to %s)", digits(8e-6*r.Rate, 3), h.Hosts[r.From].Label,
			h.Hosts[r.To].Label)
	}
	return text + "; one stream carries " + show(slices.MinFunc(used, byRate)) + " to " +
		show(slices.MaxFunc(used, byRate))
}
