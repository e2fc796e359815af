package analysis

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/app/record"
	"lockstep/app/strategy"
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
	out := slices.Concat(isHeaded(r), inOrder(r), isDrawn(r), addsRuns(r), hasRounds(r), areCopies(r),
		ofRows(r), r.Broken(), asWritten(r))
	if more := len(out) - maxContradictions; more > 0 {
		out = append(out[:maxContradictions], fmt.Sprintf("%d more contradictions of this kind.", more))
	}
	return out
}

// ofRows returns the contradictions of rows and their successful runs.
func ofRows(r *record.Results) (out []string) {
	seen, labels, models := timeline{}, alikes{}, evaluated{}
	exact := exactModels(r)
	for i := range r.Rows {
		row := &r.Rows[i]
		name := rowName(i, row)
		rounds := cmp.Or(row.Rounds, r.Rounds)
		if missing := rounds - len(row.Runs); r.Complete && missing > 0 {
			out = append(out, fmt.Sprintf("%s has %d of %d runs, although the benchmark was complete.", name,
				len(row.Runs), rounds))
		}
		for _, text := range []string{labels.add(name, row), areComputed(row)} {
			if text != "" {
				out = append(out, name+": "+text)
			}
		}
		for j := range row.Runs {
			run := &row.Runs[j]
			if run.Error != "" {
				continue
			}
			where := fmt.Sprintf("%s, round %d", name, run.Round+1)
			texts := []string{isInPlace(i, row, run), seen.add(where, run), models.add(where, row, run),
				isInexact(row, run, exact), isOfMachine(r, row, run), fitsCores(r, row, run),
				fitsMemory(r, row, run)}
			for _, rule := range runRules() {
				texts = append(texts, rule(row, run))
			}
			for _, text := range texts {
				if text != "" {
					out = append(out, where+": "+text)
				}
			}
		}
	}
	return out
}

// rowName names a row in a contradiction.
func rowName(index int, row *record.Row) string {
	s := row.Setting
	return fmt.Sprintf("Row %d (%s %d×%d)", index+1, s.Strategy, s.Workers, s.Threads)
}

// runRule is named after what holds of a run and its row, and says what contradicts it; "": nothing does.
// Rules of rows and of whole results are named likewise.
type runRule func(*record.Row, *record.Run) string

// runRules are the rules that need nothing but a run and its row.
func runRules() []runRule {
	return []runRule{isInRange, isWitnessed, addsSamples, tellPhases, addsPhases, addsTime,
		addsUsage, addsBytes, fitsTime, countsAnswers, isConfigured, isLong, isGenerated, haveOwnTimes,
		isPlaced, isConditioned, countsEpochs, countsUpdates, countsTrained, fitsEvaluations, averagesLoss,
		waits, balancesBytes, isOfNetwork, isOfData, reachesPeak, watchesGPU}
}

// isWitnessed says if ranks or steps of a run are missing.
func isWitnessed(row *record.Row, run *record.Run) string {
	switch n := len(run.Ranks); {
	case n == 0:
		return "it has no raw samples, so nothing was measured: a projection, or a figure from elsewhere."
	case n != row.Setting.Workers:
		return fmt.Sprintf("%d ranks tell of their steps, the row has %d workers.", n, row.Setting.Workers)
	}
	steps := len(run.Ranks[0].Steps.Seconds)
	if sharesSteps(row) {
		steps = 0
		for _, rank := range run.Ranks {
			steps += len(rank.Steps.Seconds)
		}
	}
	if steps < run.Steps || steps > run.Steps && !dropsSteps(row, run) {
		return fmt.Sprintf("raw samples of %d steps, %d were done.", steps, run.Steps)
	}
	return ""
}

// sharesSteps reports whether each worker takes steps of its own. Else all ranks take every step, and tell
// the samples of the whole job in it.
func sharesSteps(row *record.Row) bool { return strategy.Named(row.Setting.Strategy).IsAsync }

// dropsSteps reports whether servers left out some of the steps that workers computed: those of workers for
// which a round did not wait.
func dropsSteps(row *record.Row, run *record.Run) bool {
	backup := configOf(run)["backup-workers"]
	return sharesSteps(row) && backup != nil && backup != 0.0
}

// addsSamples says if the samples of the steps are not those of the run, if ranks differ in them, or if a
// step within an epoch is no whole number of batches.
func addsSamples(row *record.Row, run *record.Run) string {
	if len(run.Ranks) == 0 {
		return ""
	}
	sum := int64(0)
	for _, rank := range run.Ranks {
		s := rank.Steps
		if !sharesSteps(row) && !slices.Equal(s.Samples, run.Ranks[0].Steps.Samples) {
			return fmt.Sprintf("rank %d tells of other samples in a step than rank 0.", rank.Rank)
		}
		for i, n := range s.Samples {
			if rank.Rank == 0 || sharesSteps(row) {
				sum += int64(n)
			}
			isWithin := i+1 < len(s.Epoch) && s.Epoch[i+1] == s.Epoch[i]
			if isWithin && n%row.Setting.Batch != 0 && !sharesSteps(row) {
				return fmt.Sprintf("step %d trained on %d samples, which are no batches of %d.", i+1, n,
					row.Setting.Batch)
			}
		}
	}
	if sum < run.Samples || sum > run.Samples && !dropsSteps(row, run) {
		return fmt.Sprintf("its steps trained on %d samples together, the run on %d.", sum, run.Samples)
	}
	return ""
}

// addsUsage says if the steps of a rank are not as long as the time in which it used the processor for them,
// which is a little longer: a step is written down in between. On a crowded machine the process may lose the
// processor there in most steps, so the step that lost least decides. Other programs are not watched.
func addsUsage(row *record.Row, run *record.Run) string {
	const (
		tick  = 1e-5   // seconds: what a clock may lose to rounding
		slack = 0.5e-3 // seconds that writing a step down may take
	)
	for _, rank := range run.Ranks {
		s := rank.Steps
		if row.Setting.Peer != "" || len(s.Usage) != len(s.Seconds) || len(s.Usage) < enoughSteps {
			continue
		}
		least := math.Inf(1)
		for i, v := range s.Seconds {
			if least = min(least, s.Usage[i]-v); v > s.Usage[i]+tick {
				return fmt.Sprintf("step %d of rank %d took %s, and the processor was watched for %s of it.",
					i+1, rank.Rank, ms(v), ms(s.Usage[i]))
			}
		}
		if step := Median(s.Seconds); least > PhaseLimit*step+slack {
			return fmt.Sprintf("a step of rank %d took %s, and the processor was watched for %s more.",
				rank.Rank, ms(step), ms(least))
		}
	}
	return ""
}

// countsAnswers says if an accuracy is no number of right answers, or not that of the last evaluation. With
// none every worker has a model of its own, and not all evaluations are of the same.
func countsAnswers(row *record.Row, run *record.Run) string {
	if run.TestAccuracy == nil || run.TestSamples <= 0 {
		return ""
	}
	right := *run.TestAccuracy * float64(run.TestSamples)
	if math.Abs(right-math.Round(right)) > 1e-6*float64(run.TestSamples) {
		return fmt.Sprintf("an accuracy of %v is no whole number of %d answers.", *run.TestAccuracy,
			run.TestSamples)
	}
	isOne := !strategy.Named(row.Setting.Strategy).IsFloor
	if n := len(run.Evaluations); isOne && n > 0 && run.Evaluations[n-1].Accuracy != *run.TestAccuracy {
		return fmt.Sprintf("its last evaluation has an accuracy of %v, the run one of %v.",
			run.Evaluations[n-1].Accuracy, *run.TestAccuracy)
	}
	return ""
}

// inOrder says if runs are missing from the order of execution or are there twice, or if one began before the
// former had ended.
func inOrder(r *record.Results) []string {
	const slack = time.Second // by which a clock may be set back
	var all []*record.Run
	for i := range r.Rows {
		for _, runs := range [][]record.Run{r.Rows[i].Runs, r.Rows[i].Replaced} {
			for j := range runs {
				all = append(all, &runs[j])
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *record.Run) int { return a.Position - b.Position })
	for i, run := range all {
		if run.Position != i {
			return one("The order of execution has %d runs and none or two at place %d: runs were removed, "+
				"or put in.", len(all), min(i, run.Position)+1)
		}
		if i == 0 || len(r.Sittings) > 1 {
			continue // sittings may have been on machines whose clocks differ
		}
		ended := all[i-1].Started.Add(time.Duration(all[i-1].Wall * float64(time.Second)))
		if run.Started.Add(slack).Before(ended) {
			return one("The run at place %d began at %s, before that at place %d had ended at %s.", i+1,
				run.Started.UTC().Format(time.TimeOnly), i, ended.UTC().Format(time.TimeOnly))
		}
	}
	return nil
}

// tellPhases says if some ranks of a run tell the phases of their steps, and others do not.
func tellPhases(_ *record.Row, run *record.Run) string {
	told, untold := -1, -1
	for _, rank := range run.Ranks {
		switch s := rank.Steps; {
		case len(s.Seconds) == 0: // it took no step
		case len(s.Phases) > 0:
			told = rank.Rank
		default:
			untold = rank.Rank
		}
	}
	if told < 0 || untold < 0 {
		return ""
	}
	return fmt.Sprintf("rank %d tells the phases of its steps, and rank %d does not: they were removed.",
		told, untold)
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

// sumOf returns the sum of x.
func sumOf(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

// addsTime says if the steps took longer than the run, or an epoch is not the sum of its steps.
func addsTime(_ *record.Row, run *record.Run) string {
	if len(run.Ranks) == 0 {
		return ""
	}
	limit := run.Seconds // by rank 0's clock
	for i, rank := range run.Ranks {
		if sum := sumOf(rank.Steps.Seconds); sum > limit*(1+PhaseLimit) {
			return fmt.Sprintf("the steps of rank %d took %.4g s together, the run %.4g s.", rank.Rank, sum,
				limit)
		}
		if i == 0 {
			limit = max(limit, run.Wall) // others may begin earlier, and wait for rank 0 in their first step
		}
	}
	s := run.Ranks[0].Steps
	epochs := make([]float64, len(run.EpochSeconds))
	for i, v := range s.Seconds {
		if e := s.Epoch[i]; e >= 0 && e < len(epochs) {
			epochs[e] += v
		}
	}
	for e, v := range run.EpochSeconds {
		if math.Abs(epochs[e]-v) > 1e-6*v {
			return fmt.Sprintf("the steps of rank 0 in epoch %d took %.6g s together, the epoch %.6g s.", e+1,
				epochs[e], v)
		}
	}
	return ""
}

// folder is the name of a run's folder as lockstep bench makes it: round, row, and what is run.
var folder = regexp.MustCompile(`^(\d+)-(\d+)-.*-w(\d+)t(\d+)(-.*)?$`)

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
	named := fmt.Sprintf("%s-%s-%s-%s-w", m[1], m[2], row.Setting.Model, row.Setting.Strategy)
	isOther := !strings.HasPrefix(base, named) || workers != row.Setting.Workers
	rest := behindOptions(m[5], row)
	for name := range configOf(run) {
		isOption := name != "slow-worker" && strings.Contains(rest+"-", "-"+name+"-")
		isOther = isOther || isOption // that is no option of the row any more
	}
	if round != run.Round+1 || place != index+1 || isOther {
		return fmt.Sprintf("its folder is %s: rows, rounds or labels were moved.", base)
	}
	return ""
}

// behindOptions returns the end of a folder's name, from the layout on, without the settings that the row
// alone has: -staleness-rate names no rate of a link.
func behindOptions(end string, row *record.Row) string {
	if row.Setting.Options == "" {
		return end
	}
	return strings.Replace(end+"-", "-"+inName(row.Setting.Options)+"-", "-", 1)
}

// inName returns a text as it stands in the name of a folder.
func inName(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' {
			return c
		}
		return '-'
	}, text)
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
