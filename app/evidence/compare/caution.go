package compare

import (
	"cmp"
	"fmt"
	"lockstep/app/evidence/stat"
	"math"
	"slices"
	"strings"

	"lockstep/app/record"
	"lockstep/internal/spelling"
)

// Thresholds of the cautions.
const (
	fewestSteps = 5    // timed steps of a run
	busyLimit   = 0.75 // processes ready to run per core before the first run
)

func contention(r *record.Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool { return l.Contended })
	if !any {
		return nil
	}
	where := fmt.Sprintf("the %s of this machine", spelling.Count(r.Host.Cores, "core"))
	isElsewhere := func(l *Line) bool { return l.Contended && l.Setting.Cores > 0 }
	if _, any := c.where(isElsewhere); any {
		where = "the cores of their hosts"
	}
	return one("No efficiency is given, because step times show contention for cores, not scaling. More "+
		"workers × threads than %s: %s.", where, names)
}

// cutShort tells which rows have fewer runs than were planned, because the budget was over. Rows without any
// run are told as left out.
func cutShort(r *record.Results, c *Comparison) []string {
	if r.Complete || !r.CutShort {
		return nil
	}
	names, any := c.where(func(l *Line) bool { return l.missing > 0 })
	if !any {
		return nil
	}
	return one("The time of the budget was over before all runs were done. These rows have fewer runs than "+
		"planned: %s.", names)
}

func oneRepeat(r *record.Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool { return l.Measured == 1 })
	if !any {
		return nil
	}
	return one("A single run has no spread, and a difference between two single runs is no finding. One run "+
		"only: %s.", names)
}

func fewRepeats(_ *record.Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool { return l.Measured > 1 && l.Measured < stat.LeastRounds })
	if !any {
		return nil
	}
	return one("Two or three rounds do not show how a machine drifts, so they have no interval and decide "+
		"nothing: --repeats 6. So few have %s.", names)
}

func noise(_ *record.Results, c *Comparison) []string {
	isNoisy := func(l *Line) bool { return l.RunMedian.Spread() > NoiseLimit }
	names, any := c.where(isNoisy)
	if !any {
		return nil
	}
	var worst *Line
	var name string
	c.lines(func(g *Group, l *Line) {
		if isNoisy(l) && (worst == nil || l.RunMedian.Spread() > worst.RunMedian.Spread()) {
			worst, name = l, c.name(g, l)
		}
	})
	return one("Go by what is told apart, not by two medians: from run to run the median step time varies "+
		"by more than %.0f %% in %s; most, by %s, in %s.", 100*NoiseLimit, names,
		percent(worst.RunMedian.Spread()), name)
}

func busyMachine(r *record.Results, _ *Comparison) []string {
	if r.Load <= busyLimit*float64(r.Host.Cores) {
		return nil
	}
	return one("The machine was busy before the first run: %.1f processes were ready to run on %d "+
		"cores, on average over a minute. Others may have taken part of the time measured here.",
		r.Load, r.Host.Cores)
}

// takenCores names the rows that others took cores from: in every run, then in some.
func takenCores(_ *record.Results, c *Comparison) []string {
	var out []string
	for _, kind := range []struct {
		is   func(*Line) bool
		text string
	}{
		{func(l *Line) bool { return l.Disturbed },
			"No ratio and no finding, because times say how busy the machine was. Others took cores from " +
				"every run of these rows: %s. At most, %v."},
		{func(l *Line) bool { return l.Measured < l.OK },
			"Some runs are left out of times and ratios. Others took cores from some runs of these " +
				"rows: %s. At most, %v."},
	} {
		var worst *record.Taken
		names, any := c.where(func(l *Line) bool {
			if kind.is(l) && (worst == nil || l.Taken.Sum() > worst.Sum()) {
				worst = l.Taken
			}
			return kind.is(l)
		})
		if any {
			out = append(out, fmt.Sprintf(kind.text, names, TakenText(worst)))
		}
	}
	return out
}

// unlikeShort warns of short runs beside longer ones: those lose what others have disturbed, these do not.
func unlikeShort(r *record.Results, c *Comparison) []string {
	text, isUnlike := shortRuns(r, c)
	if !isUnlike {
		return nil
	}
	return one("%s Longer runs that others disturb are found, and repeated unless that lasts; these count, "+
		"disturbed or not.", text)
}

// allShort says that of no run it is known what others took.
func allShort(r *record.Results, c *Comparison) []string {
	text, isUnlike := shortRuns(r, c)
	if text == "" || isUnlike {
		return nil
	}
	return []string{text}
}

// shortRuns names the rows whose runs are too short to tell what others took of the cores, "" if there are
// none, and reports whether there are other runs, which tell.
func shortRuns(r *record.Results, c *Comparison) (text string, isUnlike bool) {
	shortest, longest, steps := math.Inf(1), 0.0, 0
	names, any := c.where(func(l *Line) bool {
		isShort := false
		for _, run := range l.runs {
			isUnlike = isUnlike || run.Taken != nil
			least := record.LeastWatched / float64(max(1, cmp.Or(l.Setting.Cores, r.Host.Cores)))
			if run.Taken != nil || run.Seconds <= 0 || run.Seconds >= least {
				continue
			}
			isShort, shortest, longest = true, min(shortest, run.Seconds), max(longest, run.Seconds)
			steps = max(steps, int(math.Ceil(float64(run.Steps)*least/run.Seconds)))
		}
		return isShort
	})
	if !any {
		return "", false
	}
	runs := fmt.Sprintf("%.2g s", longest)
	if first := fmt.Sprintf("%.2g", shortest); first+" s" != runs {
		runs = first + " to " + runs
	}
	return fmt.Sprintf("Too short to tell whether others took cores: %s (runs of %s; the system counts the "+
		"time of cores in hundredths of a second). Runs of %d steps would tell.", names, runs,
		roundedUp(steps)), isUnlike
}

// roundedUp returns the least number of one digit and zeros that is no less than n > 0.
func roundedUp(n int) int {
	unit := 1
	for n > 10*unit {
		unit *= 10
	}
	return (n + unit - 1) / unit * unit
}

// superlinear says why a core may do more than one of the baseline.
func superlinear(_ *record.Results, c *Comparison) []string {
	var worst *Line
	names, any := c.where(func(l *Line) bool {
		if l.isSuperlinear() && (worst == nil || l.Efficiency.Median > worst.Efficiency.Median) {
			worst = l
		}
		return l.isSuperlinear()
	})
	if !any {
		return nil
	}
	if worst.Efficiency.Interval.Coverage == 0 {
		return one("More than 100 %% per core, at most %s: %s. One round does not show that it is.",
			percent(worst.Efficiency.Median), names)
	}
	if r := worst.Efficiency; r.Interval.Contains(1) {
		return one("More than 100 %% per core, at most %s: %s. The rounds reach from %s to %s, so this "+
			"is not shown to be more than 100 %%.", percent(r.Median), names, percent(r.Interval.Lo),
			percent(r.Interval.Hi))
	}
	return one("More than 100 %% per core, at most %s: %s. Dividing work does not make a core faster. "+
		"Either a worker's part of the work fits the caches that all of it does not fit, or something "+
		"held up the baseline alone; measure again before you rely on it.",
		percent(worst.Efficiency.Median), names)
}

func fewSteps(_ *record.Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool { return l.Timed < fewestSteps })
	if !any {
		return nil
	}
	return one("Fewer than %d timed steps per run: %s. Percentiles of so few steps say little.",
		fewestSteps, names)
}

func notLearned(_ *record.Results, c *Comparison) []string {
	var out []string
	var seen []float64
	c.lines(func(_ *Group, l *Line) {
		guessed := l.guess().Loss
		if !l.isGuessing() || l.hasGrown() || slices.Contains(seen, guessed) {
			return
		}
		seen = append(seen, guessed)
		names, _ := c.where(func(l *Line) bool {
			return l.isGuessing() && !l.hasGrown() && l.guess().Loss == guessed
		})
		how := fmt.Sprintf("ln(%d) = %.2f", l.Setting.Classes, guessed)
		if math.Abs(guessed-math.Log(float64(l.Setting.Classes))) > 0.005 {
			how = fmt.Sprintf("%.2f for classes of these sizes", guessed)
		}
		out = append(out, fmt.Sprintf("The mean loss of the last tenth of the steps is above %.2f, which is "+
			"%.0f %% of the loss of guessing, %s: %s. These runs measure speed; they have not learned.",
			record.GuessingShare*guessed, 100*record.GuessingShare, how, names))
	})
	return out
}

// isGuessing reports whether the mean of the last tenth of the losses is that of guessing; NaN, the mean of
// none, is not.
func (l *Line) isGuessing() bool { return l.guess().IsNear(l.lastLoss()) }

// guess returns what guessing gets on the samples that were scored.
func (l *Line) guess() record.Guess {
	var told *record.Guess
	if len(l.runs) > 0 {
		told = l.runs[0].Guess
	}
	return told.Or(l.Setting.Classes)
}

// lastLoss returns the mean of the last tenth of the losses; NaN: there are none.
func (l *Line) lastLoss() float64 { return stat.Mean(l.Loss[len(l.Loss)-(len(l.Loss)+9)/10:]) }

// hasGrown reports whether the training diverged with losses that are still numbers.
func (l *Line) hasGrown() bool {
	last := l.lastLoss()
	return stat.IsFinite(last) && record.Loss{First: l.Loss[0], Last: last}.HasGrown(l.Setting.Classes)
}

// lossGrew names the rows that diverged with a finite loss. Their steps take as long as any, so they are
// compared.
func lossGrew(_ *record.Results, c *Comparison) []string {
	var most *Line
	names, any := c.where(func(l *Line) bool {
		if !l.hasGrown() {
			return false
		}
		if most == nil || l.lastLoss() > most.lastLoss() {
			most = l
		}
		return true
	})
	if !any {
		return nil
	}
	return one("The training diverged, so these runs measure speed alone: the loss grew from %.4g to "+
		"%.4g at most, where guessing among %d classes has %.4g: %s. Their accuracy means nothing.",
		most.Loss[0], most.lastLoss(), most.Setting.Classes, math.Log(float64(most.Setting.Classes)), names)
}

func generated(_ *record.Results, c *Comparison) []string {
	var sets []string
	c.lines(func(_ *Group, l *Line) {
		if l.Setting.Generated && !slices.Contains(sets, l.Setting.Data) {
			sets = append(sets, l.Setting.Data)
		}
	})
	if sets == nil {
		return nil
	}
	return one("Generated data: %s is drawn by the program. Accuracies on it say nothing "+
		"about photographs.", strings.Join(sets, ", "))
}

func noExchange(_ *record.Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool { return l.strategy().IsFloor })
	if !any {
		return nil
	}
	return one("Workers of strategy none never exchange gradients, so each row trains as many "+
		"different models as it has workers: %s. It is the floor of the step time, not a way to "+
		"train.", names)
}

func ring(_ *record.Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool {
		return l.Setting.Workers > 1 && !l.strategy().IsFloor && l.Setting.Algorithm == "ring"
	})
	if !any {
		return nil
	}
	return one("The ring adds gradients in an order that depends on the number of workers: "+
		"%s ends with other bits than one process does.", names)
}

func anotherResult(_ *record.Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool {
		return l.isOther() && !l.IsMixed && !l.strategy().IsFloor && l.Setting.Peer == ""
	})
	if !any {
		return nil
	}
	why := "send gradients in a form that loses something"
	if isMixed := func(l *Line) bool { return l.isOther() && l.isLoose() }; anyLine(c, isMixed) {
		why = "lose something of the gradients, use older weights, or average several models"
	}
	return one("These rows %s, so they do equal work but reach another result, with other parameters, and "+
		"take no part in findings about the fastest row: %s. Their accuracy has to be weighed "+
		"against their time.", why, names)
}

// anyLine reports whether a line that trains one model satisfies is.
func anyLine(c *Comparison, is func(*Line) bool) bool {
	found := false
	c.lines(func(_ *Group, l *Line) { found = found || !l.strategy().IsFloor && is(l) })
	return found
}

func oneMachine(r *record.Results, c *Comparison) []string {
	_, any := c.where(func(l *Line) bool { return l.Setting.Workers > 1 })
	if !any {
		return nil
	}
	if r.Lab != "" {
		return one("The workers' hosts were made by lockstep lab %s: they shared one machine, its cores, "+
			"memory and caches. The times show this contention together with the network.", r.Lab)
	}
	if _, any = c.where(func(l *Line) bool { return l.Setting.Cores > 0 && l.Setting.Hosts > 1 }); any {
		which := "of which only the first is described here"
		if r.Hosts != nil {
			which = "which the settings describe under Hosts"
		}
		return one("The workers of rows with several hosts were on as many machines, %s. A step lasts "+
			"as long as on the slowest of them.", which)
	}
	text := "All workers shared one machine: its memory and caches, and a link that never leaves it. The " +
		"figures say nothing about a network between machines."
	for i := range c.Groups {
		if strings.Contains(c.Groups[i].Condition, "in the lab") {
			text = "All workers shared one machine: its cores, memory and caches. In the lab each process " +
				"has a host of its own, whose link is limited; those times show contention for the machine " +
				"together with the network."
		}
	}
	return one("%s", text)
}

// copiesDiffer warns of rows that are the same and yet told apart.
func copiesDiffer(_ *record.Results, c *Comparison) []string {
	var out []string
	for i := range c.Groups {
		for _, p := range c.Groups[i].Pairs {
			if p.isCopy() && p.IsDecided() {
				out = append(out, fmt.Sprintf("%s and %s are one row under two names, and yet their rounds "+
					"differ: %s. Differences of that size between other rows may be no more than that.",
					c.name(&c.Groups[i], p.A), p.B.Label, times(p.Ratio)))
			}
		}
	}
	return out
}

func parametersDiffer(_ *record.Results, c *Comparison) []string {
	var out []string
	for i := range c.Groups {
		g := &c.Groups[i]
		if len(g.Hashes) > 1 {
			out = append(out, fmt.Sprintf("%s: the rows end with %d different sets of "+
				"parameters, although every one of them promises the bits of one process.",
				c.Title(g), len(g.Hashes)))
		}
	}
	names, any := c.where(func(l *Line) bool { return l.Disagree && l.Exact() })
	if any {
		out = append(out, fmt.Sprintf("Repeating a run changed its parameters: %s.", names))
	}
	return out
}

// inTheClear names the rows whose links between hosts were not encrypted.
func inTheClear(_ *record.Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool { return l.hasEncryption(record.EncryptionNone) })
	if !any {
		return nil
	}
	return one("Links between hosts were not encrypted (--insecure) in %s: whoever could read them could "+
		"rebuild training data from gradients.", names)
}

// Link words the links between the workers of the line.
func (l *Line) Link() string {
	streams := 0
	for _, r := range l.runs {
		streams = max(streams, r.Streams)
	}
	for _, encryption := range []string{record.EncryptionNone, record.EncryptionTLS} {
		if l.hasEncryption(encryption) {
			return record.LinkText(l.Setting.Link, encryption, streams)
		}
	}
	return record.LinkText(l.Setting.Link, "", streams)
}

// hasEncryption reports whether a run of the line had the encryption.
func (l *Line) hasEncryption(name string) bool {
	return slices.ContainsFunc(l.runs, func(r *record.Run) bool { return r.Encryption == name })
}
