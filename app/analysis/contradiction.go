package analysis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/record"
)

// contradictory is the topic of notes on figures that cannot all be true, because somebody changed the file.
const contradictory = "contradiction"

// Contradictions returns the notes on figures that cannot all be true. Results that have any are not what
// lockstep bench wrote, and no report should be made of them.
func (c *Comparison) Contradictions() []Note {
	return slices.DeleteFunc(slices.Clone(c.Notes), func(n Note) bool { return n.Topic != contradictory })
}

// maxContradictions is how many are told; one change of a file often contradicts many figures.
const maxContradictions = 8

// contradictions compares what the results say twice: sums with their terms, rows with the configuration
// and the folder of their runs, rounds with the runs that there are.
func contradictions(r *record.Results, _ *Comparison) []string {
	var out []string
	seen := timeline{}
	for i := range r.Rows {
		row := &r.Rows[i]
		name := fmt.Sprintf("Row %d (%s %d×%d)", i+1, row.Setting.Strategy, row.Setting.Workers,
			row.Setting.Threads)
		rounds := cmp.Or(row.Rounds, r.Rounds)
		if missing := rounds - len(row.Runs); r.Complete && missing > 0 {
			out = append(out, fmt.Sprintf("%s has %d of %d runs, although the benchmark was complete.", name,
				len(row.Runs), rounds))
		}
		for j := range row.Runs {
			run := &row.Runs[j]
			if run.Error != "" {
				continue
			}
			where := fmt.Sprintf("%s, round %d", name, run.Round+1)
			for _, rule := range []func(*record.Row, *record.Run) string{isWitnessed, addsSamples, addsPhases,
				addsTime, isConfigured} {
				if text := rule(row, run); text != "" {
					out = append(out, where+": "+text)
				}
			}
			if text := isInPlace(i, row, run); text != "" {
				out = append(out, where+": "+text)
			}
			if text := seen.add(where, run); text != "" {
				out = append(out, where+": "+text)
			}
		}
	}
	if more := len(out) - maxContradictions; more > 0 {
		out = append(out[:maxContradictions], fmt.Sprintf("%d more contradictions of this kind.", more))
	}
	return out
}

// isWitnessed says if ranks or steps of a run are missing.
func isWitnessed(row *record.Row, run *record.Run) string {
	switch n := len(run.Ranks); {
	case n == 0:
		return "it has no raw samples, so nothing was measured: a projection, or a figure from elsewhere."
	case n != row.Setting.Workers:
		return fmt.Sprintf("%d ranks tell of their steps, the row has %d workers.", n, row.Setting.Workers)
	case countsSamples(row.Setting.Strategy) && len(run.Ranks[0].Steps.Seconds) != run.Steps:
		return fmt.Sprintf("raw samples of %d steps, %d were done.", len(run.Ranks[0].Steps.Seconds),
			run.Steps)
	}
	return ""
}

// countsSamples lists the strategies whose ranks all take every step, and tell the samples of the whole
// job in it.
func countsSamples(strategy string) bool {
	return slices.Contains([]string{"single", "gather-scatter", "all-reduce", "ddp", "none"}, strategy)
}

// addsSamples says if the samples of the steps are not those of the run, or if a step within an epoch is no
// whole number of batches.
func addsSamples(row *record.Row, run *record.Run) string {
	if len(run.Ranks) == 0 || !countsSamples(row.Setting.Strategy) {
		return ""
	}
	s := run.Ranks[0].Steps
	sum := int64(0)
	for i, n := range s.Samples {
		sum += int64(n)
		isWithin := i+1 < len(s.Epoch) && s.Epoch[i+1] == s.Epoch[i]
		if isWithin && n%row.Setting.Batch != 0 {
			return fmt.Sprintf("step %d trained on %d samples, which are no batches of %d.", i+1, n,
				row.Setting.Batch)
		}
	}
	if sum != run.Samples {
		return fmt.Sprintf("its steps trained on %d samples together, the run on %d.", sum, run.Samples)
	}
	return ""
}

// addsPhases says if the phases of a step are not the step, on any rank.
func addsPhases(_ *record.Row, run *record.Run) string {
	const tick = 1e-5 // seconds: what the clock of a step may lose to rounding
	for _, rank := range run.Ranks {
		if len(rank.Steps.Phases) == 0 {
			continue
		}
		for i, whole := range rank.Steps.Seconds {
			sum := 0.0
			for _, values := range rank.Steps.Phases {
				sum += entry(values, i)
			}
			if _, isGap := PhaseGap(sum, whole); isGap && math.Abs(sum-whole) > tick {
				return fmt.Sprintf("step %d of rank %d took %s, its phases %s.", i+1, rank.Rank, ms(whole),
					ms(sum))
			}
		}
	}
	return ""
}

// addsTime says if the steps took longer than the run, or an epoch is not the sum of its steps.
func addsTime(_ *record.Row, run *record.Run) string {
	if len(run.Ranks) == 0 {
		return ""
	}
	s := run.Ranks[0].Steps
	sum, epochs := 0.0, make([]float64, len(run.EpochSeconds))
	for i, v := range s.Seconds {
		sum += v
		if e := s.Epoch[i]; e >= 0 && e < len(epochs) {
			epochs[e] += v
		}
	}
	if sum > run.Seconds*(1+PhaseLimit) {
		return fmt.Sprintf("the steps of rank 0 took %.4g s together, the run %.4g s.", sum, run.Seconds)
	}
	for e, v := range run.EpochSeconds {
		if math.Abs(epochs[e]-v) > 1e-6*v {
			return fmt.Sprintf("the steps of rank 0 in epoch %d took %.6g s together, the epoch %.6g s.", e+1,
				epochs[e], v)
		}
	}
	return ""
}

// configured is what a run's configuration and its row both say.
type configured struct {
	Model    *string `json:"model"`
	Data     *string `json:"data"`
	Strategy *string `json:"strategy"`
	Workers  *int    `json:"workers"`
	Batch    *int    `json:"batch"`
}

// isConfigured says if a run's configuration is not that of its row.
func isConfigured(row *record.Row, run *record.Run) string {
	var c configured
	if json.Unmarshal(run.Config, &c) != nil {
		return "" // there is none, or it is another program's
	}
	s := row.Setting
	for _, one := range []struct {
		what    string
		ran     *string
		claimed string
	}{{"model", c.Model, s.Model}, {"data", c.Data, s.Data}, {"strategy", c.Strategy, s.Strategy},
		{"workers", text(c.Workers), strconv.Itoa(s.Workers)},
		{"batch", text(c.Batch), strconv.Itoa(s.Batch)}} {
		if one.ran != nil && *one.ran != one.claimed {
			return fmt.Sprintf("it was run with %s %q, the row says %q.", one.what, *one.ran, one.claimed)
		}
	}
	return ""
}

func text(n *int) *string {
	if n == nil {
		return nil
	}
	return new(strconv.Itoa(*n))
}

// folder is the name of a run's folder as lockstep bench makes it: round, row, and what is run.
var folder = regexp.MustCompile(`^(\d+)-(\d+)-.*-w(\d+)t(\d+)(?:-.*)?$`)

// isInPlace says if a run's folder is that of another row or round.
func isInPlace(index int, row *record.Row, run *record.Run) string {
	base := filepath.Base(filepath.FromSlash(run.Directory))
	m := folder.FindStringSubmatch(base)
	if m == nil {
		return ""
	}
	round, _ := strconv.Atoi(m[1]) // digits only
	place, _ := strconv.Atoi(m[2])
	workers, _ := strconv.Atoi(m[3])
	isOther := !strings.Contains(base, "-"+row.Setting.Strategy+"-w") || workers != row.Setting.Workers
	if round != run.Round+1 || place != index+1 || isOther {
		return fmt.Sprintf("its folder is %s: rows, rounds or labels were moved.", base)
	}
	return ""
}

// timeline remembers the step times of runs without their scale, by their digits.
type timeline map[string]string

// enoughSteps is how many steps are never alike by chance.
const enoughSteps = 5

// add says if a run's step times are those of another one, or of a clock that stands still.
func (t timeline) add(where string, run *record.Run) string {
	if len(run.Ranks) == 0 || len(run.Ranks[0].Steps.Seconds) <= enoughSteps {
		return ""
	}
	s := run.Ranks[0].Steps.Seconds[1:]
	var key strings.Builder
	isStill := true
	for _, v := range s {
		isStill = isStill && v == s[0]
		fmt.Fprintf(&key, "%.7g ", v/s[0])
	}
	if isStill {
		return fmt.Sprintf("each of its %d steps took %s to the last digit: computed, not measured.", len(s),
			ms(s[0]))
	}
	other, known := t[key.String()]
	if !known {
		t[key.String()] = where
		return ""
	}
	return fmt.Sprintf("its step times are those of %s times one factor: computed, not measured.", other)
}
