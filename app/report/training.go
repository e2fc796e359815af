package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/finding"
	"lockstep/app/record"
	"lockstep/app/strategy"
	"lockstep/internal/spelling"
)

// Run lays out the report of a training run.
func Run(t *compare.Training) *Report {
	p := page{Kind: "training report", Title: trainingTitle(t), Answer: trainingAnswer(t),
		Lede: joined(" · ", moment(t.Machine.Started), t.Machine.CPU, coresText(t), "one run",
			trainingWork(t)),
		Source: "summary.json, steps.jsonl and config.yaml of the run directory"}
	if t.IsInterrupted {
		p.Title += ", " + stateOf(t)
		p.Source = "steps.jsonl, evaluations.jsonl and config.yaml of the run directory"
	}
	facts := trainingFacts(t)
	p.Parts = present(part{ID: "figures", Title: inFigures, Pairs: facts}, hostsPart(t.Machine.Preflight),
		part{ID: "configuration", Title: "Configuration", Text: t.Configuration})
	p.Facts = leading(facts)
	p.note(trainingNotes(t))
	p.Sections = []section{{ID: "run", Title: "The run", Work: trainingWork(t),
		Figures: p.lead(trainingFigures(t)),
		Tables:  append(filled(evaluationTable(t.Evaluations)), scoreTables(t.Scores)...),
		Terminal: []table{tableOf("run", facts,
			col("", "", func(p pair) string { return p.Name }),
			col("", "", func(p pair) string { return p.Value }))}}}
	return &Report{p}
}

func coresText(t *compare.Training) string {
	if t.Machine.UsableCores == 0 {
		return ""
	}
	return spelling.Count(t.Machine.UsableCores, "core")
}

// trainingWork says in one line what the run did.
func trainingWork(t *compare.Training) string {
	return fmt.Sprintf("%s · global batch %d in %s · seed %d", strategyText(t), t.Batch,
		spelling.Count(t.Shards, "shard"), t.Seed)
}

// strategyText names the strategy, with its servers.
func strategyText(t *compare.Training) string {
	if strategy.Named(t.Strategy).IsFloor {
		return t.Strategy + " (workers never exchange: a floor to compare with, not training)"
	}
	if len(t.Servers) == 0 {
		return t.Strategy
	}
	return t.Strategy + ", " + t.ServerText()
}

func trainingTitle(t *compare.Training) string {
	data := t.Data
	if t.Generated {
		data += " (generated)"
	}
	workers := spelling.Count(t.Workers, "worker")
	if hosts := hostsOf(t); len(hosts) > 1 {
		workers += " on " + spelling.Count(len(hosts), "host")
	}
	return fmt.Sprintf("%s on %s: %s × %s", t.Model, data, workers, spelling.Count(t.Threads, "thread"))
}

// hostsOf lists the hosts that the workers of a run tell of.
func hostsOf(t *compare.Training) (names []string) {
	for _, r := range t.Ranks {
		if r.Host != "" { // of older runs, and systems without a name
			names = addNew(names, r.Host)
		}
	}
	return names
}

// trainingNotes lists the cautions of a run, first whether its times are its own.
func trainingNotes(t *compare.Training) []note {
	var notes []note
	add := func(topic, text string) {
		notes = append(notes, noteOf(finding.Caution, topic, text))
	}
	if text := takenText(t.Taken); text != "" {
		add("taken cores", "Times and speed say how busy the machine was, not how fast the run can be: "+
			text+".")
	}
	if text := contended(t); text != "" {
		add("contention", text)
	}
	if text := neverPredicted(t.Scores, t.Best); text != "" {
		add("classes", text)
	}
	for _, text := range t.Cautions {
		add(unsorted, text)
	}
	return notes
}

// contended says that the workers on the host of rank 0 have more threads than it has cores, as those that
// are started one by one may: none knows of the others when it chooses its threads. Nothing is known of the
// cores of other hosts.
func contended(t *compare.Training) string {
	workers, cores := 0, t.Machine.LogicalCores
	for _, r := range t.Ranks {
		if r.Host != "" && r.Host == t.Ranks[0].Host {
			workers++
		}
	}
	if cores == 0 || t.Threads == 0 || workers*t.Threads <= cores {
		return ""
	}
	text := fmt.Sprintf("%s × %s on %s: times show contention for cores, not scaling.",
		spelling.Count(workers, "worker"), spelling.Count(t.Threads, "thread"),
		spelling.Count(cores, "core"))
	if workers <= cores {
		text += fmt.Sprintf(" --threads %d gives each worker cores of its own.", cores/workers)
	}
	return text
}

// trainingAnswer says what a run reached and what it took.
func trainingAnswer(t *compare.Training) answer {
	if t.IsInterrupted {
		return interruptedAnswer(t)
	}
	length := fmt.Sprintf("%s in %s s of training", spelling.Count(t.Steps, "step"), seconds(t.TrainSeconds))
	speed := fmt.Sprintf("%s samples/s", digits(t.SamplesPerSecond, 3))
	if t.Resumed != nil {
		speed += fmt.Sprintf(" since it was resumed after step %d", t.Resumed.Steps)
	}
	var a answer
	last := record.Final(t.Evaluations)
	part, told := last.Of(), last.Told()
	switch {
	case t.Steps == 0 && t.TestAccuracy != nil:
		a.Text = fmt.Sprintf("%.2f %% of %d %s samples are right.", 100**t.TestAccuracy, t.TestSamples, part)
	case t.Steps == 0 && told != "":
		a.Text = fmt.Sprintf("%s on the %s samples.", told, part)
	case t.TestAccuracy != nil:
		a.Text = fmt.Sprintf("%.2f %% %s accuracy after %s, %s.", 100**t.TestAccuracy, part, length, speed)
	case told != "":
		a.Text = fmt.Sprintf("%s on the %s samples after %s, %s.", told, part, length, speed)
	default:
		a.Text = fmt.Sprintf("The loss went from %s to %s in %s, %s.", fixed(t.Loss.First, 4),
			fixed(t.Loss.Last, 4), length, speed)
	}
	if b := t.Best; b != nil && b.Steps < t.Steps { // else the last is the best
		a.Text += " " + sentence(b.String())
	}
	if r := t.Target; r != nil {
		a.Verdict, a.Sign = "target not reached", "✗"
		a.Why = fmt.Sprintf("The target was %s %%; the best evaluation showed %.2f %%.",
			trim(100*r.Accuracy), 100*r.Best)
		if r.IsReached {
			a.Verdict, a.Sign = "target reached", "✓"
			a.Why = fmt.Sprintf("The target was %s %%; it took %s and %s s of training.",
				trim(100*r.Accuracy), spelling.Count(r.Steps, "step"), seconds(r.TrainSeconds))
		}
	}
	return a
}

// interruptedAnswer says how far a run that has not ended came, and how it goes on.
func interruptedAnswer(t *compare.Training) answer {
	length, at := "Ended early after ", t.Standing
	if stateOf(t) == goingOn {
		length = "Going on, after "
	}
	a := answer{Text: fmt.Sprintf("%s%s: the loss went from %s to %s.", length, spelling.Count(t.Steps,
		"step"), fixed(t.Loss.First, 4), fixed(t.Loss.Last, 4))}
	if at == nil {
		return a
	}
	var planned, cause, next string
	if at.Planned != "" {
		planned = fmt.Sprintf("Planned: %s.", at.Planned)
	}
	if at.Cause != "" {
		cause = sentence(at.Cause)
	}
	switch {
	case at.IsGoingOn:
	case at.Checkpoint == "":
		next = "There is no checkpoint here to go on from."
	default:
		next = fmt.Sprintf("%s goes on after step %d.", at.Resume, at.Step)
	}
	a.Why = joined(" ", planned, cause, next)
	return a
}

// goingOn is the state of a run that has not ended.
const goingOn = "going on"

// stateOf words the state of a run that has left no summary.
func stateOf(t *compare.Training) string {
	if t.Standing != nil && t.Standing.IsGoingOn {
		return goingOn
	}
	return "ended early"
}

// leading returns the facts that stand beside the picture.
func leading(facts []pair) []pair {
	first := []string{"test accuracy", "test loss", "validation accuracy", "validation loss", "test RMSE",
		"test R2", "validation RMSE", "validation R2", "speed", "time", "loss", "sent", "memory",
		"checkpoints"}
	return slices.DeleteFunc(slices.Clone(facts),
		func(p pair) bool { return !slices.Contains(first, p.Name) })
}

// facts collects what is told of a run.
type facts []pair

func (f *facts) add(name, format string, args ...any) {
	*f = append(*f, pair{name, fmt.Sprintf(format, args...)})
}

// trainingFacts lists the figures of the run; what it has none of is left out.
func trainingFacts(t *compare.Training) []pair {
	var f facts
	if t.IsInterrupted {
		f.add("state", "%s when this was rendered: the figures are those of the steps so far", stateOf(t))
	}
	f.addReached(t)
	f.addLength(t)
	f.add("cores", "%s", takenText(t.Taken))
	if t.Workers > 1 && !t.IsInterrupted {
		f.add("links", "%s", record.LinkText(t.Link, t.Encryption, t.Streams))
	}
	if t.Steps > 0 {
		f.add("loss", "%s at first, %s at last", fixed(t.Loss.First, 4), fixed(t.Loss.Last, 4))
	}
	f.add("shards", "%s", movesText(t.Moves))
	f.add("staleness", "%s", asyncText(t.Async))
	for _, l := range t.LostWorkers {
		f.add("lost", "%s; the run went on", l.Cause)
	}
	f.addTraffic(t)
	f.add("memory", "%s at most, of all processes", byteCount(float64(t.PeakRSSBytes)))
	for _, one := range t.Ranks {
		f.add(fmt.Sprintf("GPU of rank %d", one.Rank), "%s", gpuText(one.GPU))
	}
	if c := t.Checkpoints; c != nil && c.Count > 0 {
		f.add("checkpoints", "%s, %s; training stood still for %s s (%s of the time), %s s of writing "+
			"beside it, %d came late; last %s", spelling.Count(c.Count, "checkpoint"),
			byteCount(float64(c.Bytes)), seconds(c.ExposedSeconds), percent(c.ExposedSeconds/t.Seconds),
			seconds(c.WritingSeconds), c.Late, c.Last)
	}
	for _, l := range t.Lost {
		f.add("not whole", "%v", l)
	}
	if !t.IsInterrupted {
		f.add("kernels", "%s, %s math", t.Kernels(), t.Math)
		f.add("parameters", "sha256 %s", t.ParameterSHA256)
	}
	f.addKept(t)
	return told(f)
}

// addReached adds what the test samples say of the run.
func (f *facts) addReached(t *compare.Training) {
	part := record.Final(t.Evaluations).Of()
	if n := len(t.Evaluations); t.IsInterrupted && n > 0 {
		last := t.Evaluations[n-1]
		name, _, text := last.Figure()
		f.add(last.Of()+" "+name, "%s after %s", text, spelling.Count(last.Steps, "step"))
	}
	if t.TestAccuracy != nil {
		f.add(part+" accuracy", "%.2f %% of %d%s", 100**t.TestAccuracy, t.TestSamples, t.Guess.Majority())
	}
	for _, m := range record.Final(t.Evaluations).Metrics {
		f.add(part+" "+m.Name, "%.5g", m.Value)
	}
	if t.TestLoss != nil {
		f.add(part+" loss", "%s", fixed(*t.TestLoss, 4))
	}
	if t.TrainAccuracy != nil {
		f.add("train accuracy", "%.2f %% in the last epoch", 100**t.TrainAccuracy)
	}
	f.addScores(t.Scores)
	if x := t.Texts; x != nil && x.TrainCut+x.TestCut > 0 {
		f.add("too long", "%d training and %d test texts, cut when read", x.TrainCut, x.TestCut)
	}
	if r := t.Target; r != nil {
		what := "not reached"
		if r.IsReached {
			what = "reached"
		}
		f.add("target", "%s %% %s, %s, %s s of training", trim(100*r.Accuracy), what,
			spelling.Count(r.Steps, "step"), seconds(r.TrainSeconds))
	}
}

// addLength adds how long the run was and how fast.
func (f *facts) addLength(t *compare.Training) {
	f.add("length", "%s, %s epochs", spelling.Count(t.Steps, "step"), digits(t.Epochs, 3))
	if from := t.Resumed; from != nil {
		f.add("resumed", "after step %d; time, speed, work and what was exchanged are those since",
			from.Steps)
	}
	switch {
	case t.IsInterrupted:
		if at := t.Standing; at != nil && at.Checkpoint != "" {
			f.add("checkpoint", "after step %d: %s", at.Step, at.Checkpoint)
		}
		f.add("time", "%s s of steps, %s s of evaluations", seconds(t.Trained()),
			seconds(t.Phases.Evaluation))
	case t.Resumed != nil:
		f.add("time", "%s s of training in all parts of the run, %s s of it in the last one, which took %s "+
			"s with evaluations", seconds(t.TrainSeconds), seconds(t.Trained()), seconds(t.Seconds))
	default:
		f.add("time", "%s s, %s s of it training", seconds(t.Seconds), seconds(t.TrainSeconds))
	}
	if t.Steps > 0 && !t.IsInterrupted {
		f.add("step", "%.2f ms median, %.2f to %.2f in 8 of 10", t.StepMS.Median, t.StepMS.P10, t.StepMS.P90)
		if len(t.Ranks) > 0 {
			f.add("of the time", "%s", sharesText(t.Spent(0), t.Seconds))
		}
	}
	if t.SamplesPerSecond > 0 {
		f.add("speed", "%s samples/s of training", digits(t.SamplesPerSecond, 3))
	}
	if w := t.Work; w != nil {
		f.add("work", "%s TFLOP of forward and backward passes, padded zeros included; %s GFLOP/s, %s of "+
			"the %s reached after the last step%s", digits(float64(w.FLOPs)/1e12, 3), digits(w.Rate/1e9, 3),
			percent(w.Of), digits(w.Peak/1e9, 3), w.Again())
	}
}

// sharesText lists the phases that take a thousandth of the time or more.
func sharesText(spent map[string]float64, all float64) string {
	var parts []string
	for _, name := range append(compare.Phases(), "evaluation") {
		if share := spent[name] / all; share >= 0.001 && name != "other" {
			parts = append(parts, phaseText(name)+" "+shareText(share))
		}
	}
	return strings.Join(parts, ", ")
}

// addTraffic adds what processes sent and received.
func (f *facts) addTraffic(t *compare.Training) {
	if t.Workers > 1 || t.BytesSent > 0 {
		as := ""
		if t.Wire != "fp32" {
			as = fmt.Sprintf(", as %s in place of %s", t.Wire, byteCount(float64(t.BytesVectors)))
		}
		f.add("sent", "%s by all processes%s", byteCount(float64(t.BytesSent)), as)
	}
	f.add("averages", "%s", averagesText(t.Averages))
	if len(t.Servers) > 0 {
		f.add("busiest", "%s in and out of a process, %s of one with a server",
			byteCount(float64(t.BusiestBytes)), byteCount(float64(t.ServerBytes)))
	}
}

// addKept adds the weights with which the run began, and what it left.
func (f *facts) addKept(t *compare.Training) {
	if w := t.Weights; w != nil {
		f.add("started from", "%s, %s; fresh: %s; %d of the file unused", w.Path,
			spelling.Count(w.Tensors, "tensor"), cmp.Or(strings.Join(w.Fresh, ", "), "none"), len(w.Unused))
	}
	if t.Saved != nil {
		f.add("weights", "%s", t.Saved.Path)
	}
	f.add("run directory", "%s", t.Directory)
}
