package report

import (
	"fmt"
	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/finding"
	"lockstep/app/record"
	"lockstep/internal/spelling"
	"maps"
	"slices"
	"strings"
)

// remedy words what would settle findings of some rules.
type remedy struct {
	text  string
	rules []string
}

// remedies lists them; no rule is in two.
func remedies() []remedy {
	return []remedy{
		{"the file as lockstep wrote it", []string{"seal"}},
		{"correct the cause and run those rows again", []string{"failed"}},
		{"as many workers × threads as there are cores, a GPU for each worker", []string{"contention"}},
		{"the same work and one configuration on both sides", []string{"unequal work", "unequal runs",
			"another program", "resumed elsewhere"}},
		{"lockstep checkpoint diff of two of the runs", []string{"losses disagree", "parameters differ",
			"parameters change"}},
		{"a lower learning rate, a warm-up or clipping", []string{"diverged", "loss grew"}},
		{"leave out --insecure", []string{"not encrypted"}},
		{fmt.Sprintf("--repeats %d, or twice as many", compare.EnoughRounds), []string{"few rounds",
			"copies differ"}},
		{"more time: lockstep bench --resume with a --budget", []string{"incomplete", "budget"}},
		{"run it when the machine is idle", []string{"taken cores", "taken runs"}},
		{"longer runs: --steps 100", []string{"not learned"}},
		{"--seeds 1,2,3 and --eval-every 1, for accuracies to compare", []string{"another result",
			"mixed precision"}},
		{"--data with a collected set", []string{"generated data"}},
		{"--algorithm auto for bits that do not depend on the number of workers", []string{"ring"}},
		{"lockstep lab, or hosts of their own", []string{"one machine"}},
	}
}

// saying is the sentence of a rule, with the names of what stands in it in braces; it may depend on values.
type saying func(finding.Values) string

// plain is a sentence that depends on nothing.
func plain(sentence string) saying { return func(finding.Values) string { return sentence } }

// either is a sentence that depends on whether a value is true, or above 0.
func either(name, yes, no string) saying {
	return func(v finding.Values) string {
		if n, _ := v[name].(int); n > 0 || v[name] == true {
			return yes
		}
		return no
	}
}

// sentenceOf returns the sentence of a rule; the rule's name if it has none.
func sentenceOf(rule string) saying {
	for _, list := range []map[string]saying{refusals(), cautionsOfTimes(), cautionsOfResults(),
		sentencesOfFacts()} {
		if say := list[rule]; say != nil {
			return say
		}
	}
	return plain(rule)
}

// refusals words what makes a number wrong.
func refusals() map[string]saying {
	return map[string]saying{
		"seal":       plain("The seal of the results is not that of what they hold: they were changed."),
		"incomplete": plain("The benchmark was interrupted. Rows have fewer runs than asked for."),
		"failed":     plain("{rows}: {failed} of {runs} runs failed: {cause}"),
		"unequal work": plain("{rows} did not do the work of {baseline}: {differences}. It gets no " +
			"speed-up."),
		"unequal runs": plain("The runs of one row did different numbers of steps or samples, which its " +
			"medians mix: {rows}."),
		"losses disagree": plain("Ranks report different losses of one global batch: {rows}. These rows " +
			"are synchronous, so their ranks have stopped training one model."),
		"another program": func(v finding.Values) string {
			p, isCompared := v["check"].(record.PeerCheck)
			if !isCompared {
				return "The losses of another program were not compared with ours: {rows}. So nothing " +
					"shows that it does the same work."
			}
			return fmt.Sprintf("%s does not train as Lockstep does: from equal weights on equal batches of "+
				"%s, batch %d, %s, its first loss is {first} away, the others up to {later} (relative; %.2g "+
				"and %.2g may be). Its times are those of other work.", peerName(p.Peer), p.Model, p.Batch,
				p.Format, compare.PeerFirstLoss, compare.PeerLoss)
		},
		"diverged": plain("The training diverged to losses that are no numbers: {rows}. Accuracies mean " +
			"nothing."),
	}
}

// cautionsOfTimes words what makes times easy to misread.
func cautionsOfTimes() map[string]saying {
	return map[string]saying{
		"taken cores": plain("Others took cores from every run: {rows}. So there is no ratio and no " +
			"verdict on these rows; at most, {taken}."),
		"taken runs": plain("Others took cores from some runs, which are left out: {rows}. At most, " +
			"{taken}."),
		"budget": plain("The budget was over before all runs were done. Fewer than planned: {rows}."),
		"few rounds": plain("Fewer than three rounds do not show how a machine drifts, so ratios of rows " +
			"have no interval and decide nothing: {rows}."),
		"copies differ": plain("One row under two names, and yet its rounds differ, {ratio}: {rows}. " +
			"Differences of that size between other rows may be no more than that."),
		"contention": either("cores", "More workers × threads than the {cores} cores of this machine: "+
			"{rows}. Step times show contention, not scaling, so there is no efficiency.", "More workers × "+
			"threads than the cores of their hosts: {rows}. Step times show contention, not scaling, so "+
			"there is no efficiency."),
	}
}

// cautionsOfResults words what makes results easy to misread.
func cautionsOfResults() map[string]saying {
	return map[string]saying{
		"parameters differ": plain("{group}: the rows end with {sets} different sets of parameters, " +
			"although every one of them promises the bits of one process."),
		"parameters change": plain("Repeating a run changed its parameters: {rows}."),
		"another result": plain("These rows reach another result, by lossy gradients, older weights, " +
			"averages of models or a learning rate of their own: {rows}. Weigh their accuracy against " +
			"their time; they take no part in the verdict."),
		"mixed precision": plain("These rows train in mixed precision (math bf16) and reach another " +
			"result: {rows}. Weigh their accuracy against their time; they take no part in the verdict."),
		"loss grew": plain("The training diverged, from a loss of {first} to {last} at most, where " +
			"guessing has {guess}: {rows}. Their accuracy means nothing."),
		"not learned": plain("The loss of the last tenth of the steps is that of guessing: {rows}. These " +
			"runs measure speed; they have not learned."),
		"not encrypted": plain("Links between hosts were not encrypted (--insecure): {rows}. Whoever could " +
			"read them could rebuild training data from gradients."),
		"resumed elsewhere": func(v finding.Values) string {
			s, first := v["sitting"].(record.Sitting), v["first"].(record.Sitting)
			return fmt.Sprintf("From run {run} on, another program or machine measured: version %s on "+
				"%s, %s, before it version %s on %s, %s. Ratios are taken within rounds.", s.Version,
				s.Host.CPU, spelling.Count(s.Host.Cores, "core"), first.Version, first.Host.CPU,
				spelling.Count(first.Host.Cores, "core"))
		},
		"generated data": plain("Generated data: {data} is drawn by the program. Accuracies on it say " +
			"nothing about photographs."),
		"no exchange": plain("Workers of strategy none never exchange gradients: {rows}. It is the floor " +
			"of the step time, not a way to train."),
		"ring": plain("The ring adds gradients in an order that depends on the number of workers, so the " +
			"bits are not those of one process: {rows}."),
		"one machine": either("lab", "All workers shared one machine, whose cores and memory the hosts "+
			"of the lab share. Times show this contention together with the network.", "All workers shared "+
			"one machine. The figures say nothing about a network between machines."),
	}
}

// sentencesOfFacts words how the numbers came about.
func sentencesOfFacts() map[string]saying {
	return map[string]saying{
		"parameters agree": func(v finding.Values) string {
			rows, which, each := fmt.Sprintf("all %d rows", v["rows"]), "that train one model", ""
			if v["rows"] == 2 {
				rows = "both rows"
			}
			if v["all"] == false {
				which = "that do the same work" // a setting of the others is another
			}
			if v["seeds"] != 1 {
				each = " for each seed"
			}
			return fmt.Sprintf("{group}: %s %s end with the same parameters%s, bit for bit (SHA-256 %.12s…).",
				rows, which, each, v["sha256"])
		},
		"chosen": func(v finding.Values) string {
			runs := v["runs"].(map[string]int)
			var parts []string
			for _, way := range slices.Sorted(maps.Keys(runs)) {
				parts = append(parts, fmt.Sprintf("%s in %s", way, spelling.Count(runs[way], "run")))
			}
			return "{rows} chose " + strings.Join(parts, ", ") + "."
		},
		"weak scaling": plain("Weak scaling: {rows} does {rate} the samples per second of {alone}, " +
			"{each} of what each worker does alone. The batch grows with the workers, so accuracies differ " +
			"at equal samples."),
		"told apart": plain("Two rows are called different only if the interval of their ratio leaves out " +
			"1. Intervals allow for rounds that correlate and for another hour; those of all {pairs} " +
			"comparisons hold together in 95 of 100 benchmarks."),
		"same work": sameWorkText,
		"other batches": plain("Other data: from step {batches} on, these rows of another program repeat " +
			"their batches: {rows}. Times are compared; losses are not shown from there on."),
		"repeated": func(v finding.Values) string {
			var parts []string
			if v["disturbed"].(int) > 0 {
				parts = append(parts, "{disturbed} runs from which others took {least} of the cores' "+
					"time or more, {most} at most: of a row's runs in a round the one counts that lost least")
			}
			if v["failed"].(int) > 0 {
				parts = append(parts, "{failed} runs that failed")
			}
			return "Repeated: " + strings.Join(parts, "; ") + ". The others are in results.json as replaced."
		},
		"skipped": plain("Not run: {rows}. {reason}"),
	}
}

// sameWorkText says that another program trains as Lockstep does.
func sameWorkText(v finding.Values) string {
	p := v["check"].(record.PeerCheck)
	return fmt.Sprintf("%s and Lockstep train alike: %s on %s, batch %d, from equal weights on equal "+
		"batches: the first losses differ by {first}, the %d after it by {later} at most (relative). %s: %s.",
		peerName(p.Peer), p.Model, p.Data, p.Batch, len(p.Ours)-1, peerName(p.Peer), p.Settings)
}

// peerName words a peer.
func peerName(peer string) string {
	if peer == "pytorch" {
		return "PyTorch"
	}
	return peer
}
