package analysis

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/record"
	"lockstep/app/strategy"
)

// isHeaded says if what a benchmark tells of itself contradicts itself: the machine, its sittings, the
// command, the peers.
func isHeaded(r *record.Results) (out []string) {
	for _, rule := range []func(*record.Results) string{isMachine, isFirstSitting, isCommanded, isLossyAlike,
		isPeer, isInLab, endsWithRuns, hasRowsRounds} {
		if text := rule(r); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// isMachine says if the machine cannot be one: no cores, a load that is none, kernels of another processor.
func isMachine(r *record.Results) string {
	h := r.Host
	isVector := slices.ContainsFunc(h.ISA, func(name string) bool { return strings.HasPrefix(name, "avx") })
	switch {
	case h.Cores < 0 || h.Cores > maxCores || h.Cores == 0 && r.Schema != 0: // a file always tells them
		return fmt.Sprintf("The machine has %d cores.", h.Cores)
	case !(r.Load >= 0 && r.Load < maxCount):
		return fmt.Sprintf("The load before the first run is %v, which nothing can have measured.", r.Load)
	case !(r.Seconds >= 0 && r.Seconds < maxSeconds):
		return fmt.Sprintf("The benchmark took %v s, which nothing can have measured.", r.Seconds)
	case isVector && h.Arch != "amd64":
		return fmt.Sprintf("The machine has an %.20q processor and the kernels %s, which are those of amd64.",
			h.Arch, strings.Join(h.ISA, ", "))
	}
	return ""
}

// maxCores is a number of cores that no machine has.
const maxCores = 1 << 16

// isFirstSitting says if the results tell otherwise of their first sitting than it does.
func isFirstSitting(r *record.Results) string {
	if len(r.Sittings) == 0 {
		return ""
	}
	s := r.Sittings[0]
	top := record.Sitting{Version: r.Version, Revision: r.Revision, Host: r.Host}
	switch {
	case !s.IsLike(top) || s.Host.Name != r.Host.Name || s.Host.MemoryBytes != r.Host.MemoryBytes:
		return fmt.Sprintf("The results are of version %s on %s, %d cores, their first sitting of version "+
			"%s on %s, %d cores.", version(top), r.Host.CPU, r.Host.Cores, version(s), s.Host.CPU,
			s.Host.Cores)
	case !s.Started.Equal(r.Started) || s.Load != r.Load:
		return fmt.Sprintf("The results began at %s with a load of %v, their first sitting at %s with %v.",
			clock(r.Started), r.Load, clock(s.Started), s.Load)
	}
	return ""
}

// isCommanded says if a row has a model, data set, batch, strategy or number of workers that the command does
// not list, or the recipe is another.
func isCommanded(r *record.Results) string {
	if text := isOfRecipe(r); text != "" {
		return text
	}
	flags := benchFlags(r.Command)
	for i, row := range r.Rows {
		s := row.Setting
		for _, one := range [][2]string{{"models", s.Model}, {"data", s.Data},
			{"batch", strconv.Itoa(s.Batch)}, {"steps", strconv.Itoa(s.Steps)},
			{"epochs", strconv.Itoa(s.Epochs)}, {"strategies", s.Strategy},
			{"workers", strconv.Itoa(s.Workers)}} {
			list, isGiven := flags[one[0]]
			isBaseline := one[0] == "strategies" && strategy.Named(s.Strategy).IsAlone ||
				one[0] == "workers" && s.Workers == 1
			if isGiven && !isBaseline && !hasOwn(s, one[0]) && !isListed(list, one[1]) {
				return fmt.Sprintf("The command asks for %s %s, row %d has %s.", one[0], list, i+1, one[1])
			}
		}
	}
	return ""
}

// hasOwn reports whether a row alone has a value of what a flag lists for all rows. One length replaces the
// other.
func hasOwn(s record.Setting, flag string) bool {
	names := []string{strings.TrimSuffix(flag, "s"), flag}
	if flag == "steps" || flag == "epochs" {
		names = []string{"steps", "epochs"}
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return strings.Contains("+"+s.Options, "+"+name+"=")
	})
}

// isOfRecipe says if the command runs another recipe than that of the results.
func isOfRecipe(r *record.Results) string {
	at := slices.Index(r.Command, "recipe")
	if r.Recipe == "" || at < 0 || at+2 >= len(r.Command) || r.Command[at+1] != "run" {
		return ""
	}
	if name := r.Command[at+2]; name != r.Recipe && !strings.HasPrefix(name, "-") {
		return fmt.Sprintf("The command runs the recipe %s, the results are of %s.", name, r.Recipe)
	}
	return ""
}

// benchFlags returns the flags of a command that is lockstep bench; none if a plan, a recipe or a budget
// chooses more than they say.
func benchFlags(command []string) map[string]string {
	at := slices.Index(command, "bench")
	if at < 0 {
		return nil
	}
	flags := map[string]string{}
	for _, arg := range command[at:] {
		name, value, _ := strings.Cut(arg, "=")
		flags[strings.TrimPrefix(name, "--")] = value
	}
	for _, chooses := range []string{"plan", "budget", "quick", "resume"} {
		if _, isGiven := flags[chooses]; isGiven {
			return nil
		}
	}
	return flags
}

// isListed reports whether a list of a command has a value, by itself, with settings of its own, or as the
// last part of a path.
func isListed(list, value string) bool {
	for item := range strings.SplitSeq(list, ",") {
		name, _, _ := strings.Cut(item, ":")
		if item == value || name == value || path.Base(item) == path.Base(value) {
			return true
		}
	}
	return false
}

// isLossyAlike says if rows of one wire differ in whether it is lossy.
func isLossyAlike(r *record.Results) string {
	first := map[string]int{}
	for i, row := range r.Rows {
		if !isToldWire(&row) {
			continue
		}
		at, isKnown := first[row.Setting.Wire]
		if !isKnown {
			first[row.Setting.Wire] = i
			continue
		}
		if r.Rows[at].Setting.IsLossy != row.Setting.IsLossy {
			return fmt.Sprintf("Rows %d and %d have one wire, %q, and one of them is called lossy.", at+1,
				i+1, row.Setting.Wire)
		}
	}
	return ""
}

// isToldWire reports whether a row's wire is the one that its runs were told. A row is lossy if any of its
// runs chose a lossy one, and has the wire of the last.
func isToldWire(row *record.Row) bool {
	return !slices.ContainsFunc(row.Runs, func(run record.Run) bool {
		told := configOf(&run)["wire"]
		return told != nil && told != cmp.Or(row.Setting.Wire, plainWire)
	})
}

// isPeer says if the losses of another program are compared with those of no row, or with another number.
func isPeer(r *record.Results) string {
	for _, p := range r.Peers {
		isOf := func(row record.Row) bool {
			s := row.Setting
			return s.Model == p.Model && s.Data == p.Data && s.Batch == p.Batch && s.Peer == p.Peer
		}
		switch {
		case !slices.ContainsFunc(r.Rows, isOf):
			return fmt.Sprintf("The losses of %s are compared for %s %s, batch %d, and no row is of it.",
				p.Peer, p.Model, p.Data, p.Batch)
		case len(p.Ours) != len(p.Theirs):
			return fmt.Sprintf("%d losses of ours are compared with %d of %s.", len(p.Ours), len(p.Theirs),
				p.Peer)
		}
	}
	return ""
}

// isInLab says if the lab is not that of the command, or a row has more hosts than it has.
func isInLab(r *record.Results) string {
	if len(r.Command) > 1 && r.Command[1] == "lab" {
		flags := r.Command[2:]
		flags = flags[:max(0, slices.Index(flags, "--"))]
		if asked := strings.Join(flags, " "); asked != strings.Join(strings.Fields(r.Lab), " ") {
			return fmt.Sprintf("The command runs in a lab with %q, the results tell of %q.", asked, r.Lab)
		}
	}
	for flag := range strings.FieldsSeq(r.Lab) {
		value, isHosts := strings.CutPrefix(flag, "--hosts=")
		n, err := strconv.Atoi(value)
		if !isHosts || err != nil {
			continue
		}
		for i, row := range r.Rows {
			if row.Setting.Hosts > n {
				return fmt.Sprintf("The lab has %d hosts, row %d has %d.", n, i+1, row.Setting.Hosts)
			}
		}
	}
	return ""
}

// endsWithRuns says if a benchmark that was not interrupted ended long after its last run: its time is that
// until then. Older versions, which wrote no seal, are not held to it as closely.
func endsWithRuns(r *record.Results) string {
	part, slack := 0.01, 10.0 // of the time until the last run; seconds by which a clock may be set
	if r.Seal == "" {
		part, slack = 0.5, 60
	}
	if !r.Complete || len(r.Sittings) > 0 || r.Ran() == 0 || r.Schema == 0 {
		return "" // the run that was interrupted is not among the others
	}
	last := 0.0
	mayRepeat := false // a repeat of the last round may have been interrupted, which leaves no run either
	for _, row := range r.Rows {
		for _, run := range slices.Concat(row.Runs, row.Replaced) {
			last = max(last, run.Started.Sub(r.Started).Seconds()+run.Wall)
			mayRepeat = mayRepeat || run.Round == r.Rounds-1 && run.Taken.IsDisturbed()
		}
	}
	if mayRepeat || r.Seconds <= (1+part)*last+slack {
		return ""
	}
	return fmt.Sprintf("The benchmark took %.6g s, and its last run ended after %.6g s.", r.Seconds, last)
}

// hasRowsRounds says if no row was asked for as many rounds as the benchmark.
func hasRowsRounds(r *record.Results) string {
	most := 0
	for _, row := range r.Rows {
		if row.Rounds == 0 { // those of the benchmark
			return ""
		}
		most = max(most, row.Rounds)
	}
	if most == 0 || most == r.Rounds {
		return ""
	}
	return fmt.Sprintf("The benchmark was asked for %d rounds, and its rows for %d at most.", r.Rounds, most)
}
