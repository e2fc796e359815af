package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/app/record"
	"lockstep/internal/spelling"
)

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

// joined is a host of a run with the ranks of its workers and of its servers apart.
type joined struct {
	name  string
	ranks []int
}

// joinedHosts lists the hosts that the ranks of a run tell of, in the order of their first ranks.
func joinedHosts(s *record.Summary) []joined {
	var all []joined
	add := func(host string, rank int) {
		at := slices.IndexFunc(all, func(j joined) bool { return j.name == host })
		switch {
		case host == "": // older runs, and systems without a name
		case at < 0:
			all = append(all, joined{host, []int{rank}})
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
		p.Pairs = append(p.Pairs, pair{fmt.Sprintf("%d %s", i, j.name), ranksText(j.ranks)})
	}
	p.Pairs = append(p.Pairs, pair{"examined", "not before this run"})
	return p
}

// ranksText words a list of ranks: "rank 3", "ranks 0 to 3", "ranks 0, 2, 4".
func ranksText(ranks []int) string {
	first, last := ranks[0], ranks[len(ranks)-1]
	switch {
	case len(ranks) == 1:
		return fmt.Sprintf("rank %d", first)
	case len(ranks) > 2 && last-first == len(ranks)-1 && slices.IsSorted(ranks):
		return fmt.Sprintf("ranks %d to %d", first, last)
	}
	return "ranks " + strings.Trim(strings.ReplaceAll(fmt.Sprint(ranks), " ", ", "), "[]")
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
	parts := []string{spelling.Count(f.Slots, "slot"), f.CPU, spelling.Count(f.UsableCores, "core")}
	if len(f.ISA) > 0 {
		parts = append(parts, f.ISA[len(f.ISA)-1])
	}
	parts = append(parts, byteCount(float64(f.FreeMemoryBytes))+" of memory free", strings.TrimSpace(f.OS+" "+
		f.Kernel))
	if f.Address != "" {
		parts = append(parts, fmt.Sprintf("reached at %s (%s)", f.Address, f.Why))
	}
	offset := time.Duration(f.ClockOffset * 1e9).Round(time.Millisecond)
	switch {
	case offset > 0:
		parts = append(parts, fmt.Sprintf("clock %v ahead", offset))
	case offset < 0:
		parts = append(parts, fmt.Sprintf("clock %v behind", -offset))
	}
	out := parts[:0]
	for _, text := range parts {
		if text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, " · ")
}

// routesText tells the extremes of the routes that the job uses.
func routesText(h *record.Hosts) string {
	var slow, fast *record.Route
	near, far := 0.0, 0.0
	for i := range h.Routes {
		r := &h.Routes[i]
		if !r.IsChosen {
			continue
		}
		if near == 0 || r.Latency < near {
			near = r.Latency
		}
		far = max(far, r.Latency)
		if r.Rate > 0 && (slow == nil || r.Rate < slow.Rate) {
			slow = r
		}
		if r.Rate > 0 && (fast == nil || r.Rate > fast.Rate) {
			fast = r
		}
	}
	if far == 0 {
		return ""
	}
	text := fmt.Sprintf("round trips of %s to %s ms", digits(1e3*near, 3), digits(1e3*far, 3))
	if slow == nil {
		return text
	}
	show := func(r *record.Route) string {
		return fmt.Sprintf("%s Mbit/s (%s to %s)", digits(8e-6*r.Rate, 3), h.Hosts[r.From].Label,
			h.Hosts[r.To].Label)
	}
	return text + "; one stream carries " + show(slow) + " to " + show(fast)
}
