package analysis

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/record"
)

// asWritten says what lockstep bench never writes: runs without folder or configuration, failed runs with a
// result, settings that neither tells of. Results that were never in a file are not asked.
func asWritten(r *record.Results) (out []string) {
	if r.Schema == 0 {
		return nil
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		name := rowName(i, row)
		for _, text := range []string{isCondition(row.Setting), hasCores(r, row.Setting),
			isSeeded(r, row), hasClasses(r, row)} {
			if text != "" {
				out = append(out, name+": "+text)
			}
		}
		for _, run := range slices.Concat(row.Runs, row.Replaced) {
			for _, rule := range []runRule{hasOrigin, hasFailed, hasOptions} {
				if text := rule(row, &run); text != "" {
					out = append(out, fmt.Sprintf("%s, round %d: %s", name, run.Round+1, text))
				}
			}
		}
	}
	for _, rule := range []func(*record.Results) string{areGrouped, areLinked, isSkipped} {
		if text := rule(r); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// hasOrigin says if a run does not tell its folder or its configuration, which show whether its row is the
// one that was run.
func hasOrigin(_ *record.Row, run *record.Run) string {
	if base, isRun := strings.CutPrefix(run.Directory, "runs/"); !isRun || !folder.MatchString(base) {
		return fmt.Sprintf("its folder is %.40q, which is none that lockstep bench makes.", run.Directory)
	}
	c := configOf(run)
	if run.Error != "" && c == nil {
		return "" // it never began
	}
	for _, name := range []string{"model", "data", "strategy", "workers", "threads", "batch", "lr", "seed"} {
		if c[name] == nil {
			return fmt.Sprintf("its configuration has no %s: it was removed.", name)
		}
	}
	return ""
}

// hasFailed says if a run that is said to have failed has its steps and the weights at its end.
func hasFailed(_ *record.Row, run *record.Run) string {
	if run.Error == "" || len(run.Ranks) == 0 || run.ParameterSHA256 == "" {
		return ""
	}
	return fmt.Sprintf("it is said to have failed (%.40q), and it has all steps and the parameters at its "+
		"end.", run.Error)
}

// hasOptions says if the settings that a row alone has are not in the names of its runs' folders, or are no
// settings. Those of another program's row are the program and the format of its images.
func hasOptions(row *record.Row, run *record.Run) string {
	s, c := row.Setting, configOf(run)
	if s.Peer != "" && s.Options != s.Peer && !strings.HasPrefix(s.Options, s.Peer+"+") {
		return fmt.Sprintf("the row is of %.20s, and its settings are %.40q.", s.Peer, s.Options)
	}
	if s.Options == "" {
		return ""
	}
	base := filepath.Base(filepath.FromSlash(run.Directory))
	if m := folder.FindStringSubmatch(base); m != nil &&
		!strings.Contains(m[5]+"-", "-"+inName(s.Options)+"-") {
		return fmt.Sprintf("its folder is %s, and the row has the settings %.40q.", base, s.Options)
	}
	if s.Peer != "" || c == nil {
		return ""
	}
	for option := range strings.SplitSeq(s.Options, "+") {
		if name, _, _ := strings.Cut(option, "="); c[name] == nil {
			return fmt.Sprintf("the row has the setting %.40q, and no run has one of this name.", name)
		}
	}
	return ""
}

// The conditions that lockstep bench writes, and one slowed worker of them.
var (
	condition = regexp.MustCompile(`^(equal workers|` + slowed + `(; ` + slowed + `)*(; ` + links + `)?|` +
		links + `)$`)
	slowWorker = regexp.MustCompile(`worker (\d+) made ([\d.e+]+) times slower`)
)

const (
	slowed = `worker \d+ made [\d.e+]+ times slower by a duty cycle( from step \d+ on)?`
	links  = `links of (\d|no limit)[\w/ .,%µ-]* in the lab`
)

// isCondition says if a row's condition is none that there is, or slows other workers than the row.
func isCondition(s record.Setting) string {
	if s.Condition == "" {
		return ""
	}
	if !condition.MatchString(s.Condition) {
		return fmt.Sprintf("its condition is %.60q, which is none of lockstep bench.", s.Condition)
	}
	for _, m := range slowWorker.FindAllStringSubmatch(s.Condition, -1) {
		isSlowed := strings.Contains(","+s.SlowWorkers, ","+m[1]+":"+m[2])
		if rank, _ := strconv.Atoi(m[1]); rank < s.Workers && !isSlowed {
			return fmt.Sprintf("its condition is %.60q, and its slowed workers are %.40q.", s.Condition,
				s.SlowWorkers)
		}
	}
	return ""
}

// hasCores says if a row has cores of its own, which are those of hosts, and no hosts have as many.
func hasCores(r *record.Results, s record.Setting) string {
	if s.Cores == 0 {
		return ""
	}
	most := r.Host.Cores // the hosts of a lab share them
	if r.Hosts != nil {
		most = 0
		for _, h := range r.Hosts.Hosts {
			most += max(h.UsableCores, r.Host.Cores)
		}
	} else if r.Lab == "" && s.Hosts > 0 {
		most = maxCores // nothing tells of the hosts
	}
	if s.Hosts > 0 && s.Cores > 0 && s.Cores <= most {
		return ""
	}
	return fmt.Sprintf("it has %d cores on %d hosts, and the results tell of %d.", s.Cores, s.Hosts, most)
}

// isSeeded says if all runs of a row had one seed that is not the row's. Seeds that are listed for the rounds
// need not have the row's among them; none is listed twice, so two rounds of one seed have no list.
func isSeeded(r *record.Results, row *record.Row) string {
	isListed := func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains([]string{"--seeds", "--plan", "--resume"}, name)
	}
	if slices.ContainsFunc(r.Command, isListed) {
		return ""
	}
	seed, rounds := uint64(0), map[int]bool{}
	for _, run := range row.Runs {
		if run.Seed == 0 || seed != 0 && run.Seed != seed {
			return "" // of an older version, or of listed seeds
		}
		seed, rounds[run.Round] = run.Seed, true
	}
	if len(rounds) < 2 || seed == row.Setting.Seed {
		return ""
	}
	return fmt.Sprintf("its runs had the seed %d, and the row says %d.", seed, row.Setting.Seed)
}

// hasClasses says if a row with a successful run tells no classes of a data set that has some: its runs tell
// them.
func hasClasses(r *record.Results, row *record.Row) string {
	s := row.Setting
	isLike := func(other record.Row) bool { return other.Setting.Data == s.Data && other.Setting.Classes > 0 }
	ran := func(run record.Run) bool { return run.Error == "" }
	_, isKnown := dataSets()[s.Data]
	isTold := isKnown && r.Schema == record.Schema || slices.ContainsFunc(r.Rows, isLike)
	if s.Classes != 0 || !isTold || !slices.ContainsFunc(row.Runs, ran) {
		return ""
	}
	return fmt.Sprintf("it tells no classes of the data set %.40q: they were removed.", s.Data)
}

// compared is what rows that are compared have in common, and so the rows of a block.
type compared struct {
	model, data, condition string
	batch, perWorker       int
}

// areGrouped says if the rows of a block, which are those that are compared, are not: a setting was changed
// that takes a row out of its comparison. Older files have one block.
func areGrouped(r *record.Results) string {
	first, isOld := map[int]int{}, true
	for _, row := range r.Rows {
		isOld = isOld && row.Block == 0
	}
	for i, row := range r.Rows {
		at, isKnown := first[row.Block]
		if !isKnown {
			first[row.Block] = i
			continue
		}
		a, b := blockOf(r.Rows[at].Setting), blockOf(row.Setting)
		if isOld {
			a, b = compared{perWorker: a.perWorker}, compared{perWorker: b.perWorker}
		}
		if a != b {
			return fmt.Sprintf("Rows %d and %d were run side by side to be compared, and differ in model, "+
				"data, batch or condition.", at+1, i+1)
		}
	}
	for i, row := range r.Rows {
		if s := row.Setting; s.PerWorker != 0 && s.PerWorker*s.Workers != s.Batch {
			return fmt.Sprintf("Row %d has %d workers with %d samples each, and a batch of %d.", i+1,
				s.Workers, s.PerWorker, s.Batch)
		}
	}
	return ""
}

// blockOf returns what a row has in common with those of its block.
func blockOf(s record.Setting) compared {
	c := compared{s.Model, s.Data, s.Condition, s.Batch, s.PerWorker}
	if s.PerWorker > 0 {
		c.batch = 0 // it grows with the workers
	}
	return c
}

// linkName is the part of a folder's name that tells the links of the condition.
var linkName = regexp.MustCompile(`-(rate|delay|loss)-.*$`)

// areLinked says if rows whose folders name the same links have other ones in their conditions.
func areLinked(r *record.Results) string {
	known := map[string]string{}
	for i, row := range r.Rows {
		_, of, isLinked := strings.Cut(row.Setting.Condition, "links of ")
		if !isLinked {
			continue
		}
		for _, run := range row.Runs {
			name := linkName.FindString(run.Directory)
			if was, isKnown := known[name]; isKnown && was != of {
				return fmt.Sprintf("Row %d has links of %.40s, and others with its folder's name %.40s.", i+1,
					of, was)
			}
			known[name] = of
		}
	}
	return ""
}

// isSkipped says if a row was left out for a reason that lockstep bench does not give.
func isSkipped(r *record.Results) string {
	for _, s := range r.Skipped {
		if !s.IsKnown() {
			return fmt.Sprintf("%.20s %.40s ×%d is said to be left out for a reason that lockstep bench "+
				"does not give: %.60q.", s.Model, s.Strategy, s.Workers, s.Reason)
		}
	}
	return ""
}
