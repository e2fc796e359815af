package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/internal/regular"
	"lockstep/internal/spelling"
)

// The files of a run directory that its report is made of.
const (
	summaryFile = "summary.json"
	stepsFile   = "steps.jsonl"
	configFile  = "config.yaml"
	hostFile    = "host.json"
)

// maxConfig is more than the bytes of a configuration.
const maxConfig = 1 << 20

// HoldsTraining reports whether folder is the directory of a training run that has ended.
func HoldsTraining(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, summaryFile))
	return err == nil
}

// ReadUnfinished is [ReadTraining] for a run that has left no summary: it takes one that says so.
func ReadUnfinished(folder string, summary io.Reader) (*compare.Training, error) {
	var steps io.Reader = bytes.NewReader(nil) // a run that only evaluated has none
	f, err := regular.Open(filepath.Join(folder, stepsFile))
	if err == nil {
		defer f.Close()
		steps = f
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("report: %w", err)
	}
	t, err := compare.ReadTraining(summary, steps)
	if err != nil {
		return nil, fmt.Errorf("report: %s: %w", folder, err)
	}
	text, err := regular.ReadFile(filepath.Join(folder, configFile), maxConfig)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	t.Configuration = string(text)
	if t.Machine, err = readHost(folder); err == nil {
		t.Hosts = t.Machine.Preflight
	}
	return t, err
}

// readHost returns what is known about the machine of the run in folder, and of its hosts if it had several.
func readHost(folder string) (described record.RunHost, err error) {
	path := filepath.Join(folder, hostFile)
	f, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return described, nil
	}
	if err != nil {
		return described, fmt.Errorf("report: %w", err)
	}
	defer f.Close()
	if err = record.ReadJSON(f, &described); err == nil {
		err = described.Preflight.Validate()
	}
	if err != nil {
		return described, fmt.Errorf("report: %s: %w", path, err)
	}
	return described, nil
}

// WriteTraining renders report.md and report.html of the training run in folder from its summary, its steps
// and its configuration. Each file appears complete or not at all; a former one is replaced.
func WriteTraining(folder string) error {
	t, err := ReadTraining(folder)
	if err != nil {
		return err
	}
	return Run(t).Write(folder)
}

// ReadTraining returns what the training run in folder left. An error names the file.
func ReadTraining(folder string) (*compare.Training, error) {
	summary, err := regular.Open(filepath.Join(folder, summaryFile))
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	defer summary.Close()
	t, err := ReadUnfinished(folder, summary)
	if err == nil && t.IsInterrupted {
		return nil, fmt.Errorf("report: %s says that the run ended early, and such a run leaves none",
			summaryFile)
	}
	return t, err
}

// TrainingHTML writes the report of a training run as one page with the properties of [HTML].
func TrainingHTML(w io.Writer, t *compare.Training) error { return writePage(w, trainingPage(t)) }

// trainingPage lays out the report of a training run.
func trainingPage(t *compare.Training) page {
	p := page{Kind: "training report", Title: trainingTitle(t), Parts: trainingParts(t),
		Source: "summary.json, steps.jsonl and config.yaml of the run directory", Answer: trainingAnswer(t),
		Lede: trainingLede(t)}
	if t.IsInterrupted {
		p.Title += ", " + stateOf(t)
		p.Source = "steps.jsonl, evaluations.jsonl and config.yaml of the run directory"
	}
	p.Alerts, p.More = alertsOf(t.Cautions), trainingNotes(t)
	p.Notes, p.Cautions = p.More, firstCautions(p.More)
	p.FactsTitle, p.Facts = inFigures, leading(p.Parts[0].Pairs)
	figures := trainingFigures(t)
	if len(figures) > 0 && figures[0].Chart != nil {
		p.Picture, figures = &figures[0], figures[1:]
	}
	p.Sections = []section{{ID: "run", Title: "The run", Work: trainingWork(t), Figures: figures}}
	return p
}

// trainingLede says when and where the run was, and that it is one.
func trainingLede(t *compare.Training) string {
	var parts []string
	if began := t.Machine.Started; !began.IsZero() {
		parts = append(parts, began.UTC().Format("2 January 2006, 15:04 UTC"))
	}
	if t.Machine.CPU != "" {
		parts = append(parts, t.Machine.CPU)
	}
	if n := t.Machine.UsableCores; n > 0 {
		parts = append(parts, spelling.Count(n, "core"))
	}
	return strings.Join(append(parts, "one run", trainingWork(t)), " · ")
}

// trainingWork says in one line what the run did.
func trainingWork(t *compare.Training) string {
	return fmt.Sprintf("%s · global batch %d in %s · seed %d", strategyText(t), t.Batch,
		spelling.Count(t.Shards, "shard"), t.Seed)
}

// trainingParts lists what is told about a training run in words: its figures, then its configuration.
func trainingParts(t *compare.Training) []part {
	facts := trainingFacts(t)
	if t.IsInterrupted {
		facts = interruptedFacts(t)
	}
	hosts := hostsPart(t.Hosts)
	if t.Hosts == nil {
		hosts = joinedPart(&t.Summary)
	}
	return present([]part{{ID: "figures", Title: "In figures", Pairs: facts}, hosts,
		{ID: "configuration", Title: "Configuration", Text: t.Configuration}})
}

// leading returns the facts that stand beside the picture.
func leading(facts []pair) []pair {
	first := []string{"test accuracy", "test loss", "validation accuracy", "validation loss", "target",
		"speed", "time", "loss", "sent", "memory", "checkpoints"}
	return slices.DeleteFunc(slices.Clone(facts), func(p pair) bool {
		return !slices.Contains(first, p.Name)
	})
}

// trainingNotes lists the cautions of a run, first whether its times are its own.
func trainingNotes(t *compare.Training) []noteList {
	var notes []compare.Note
	if text := compare.TakenText(t.Taken); text != "" {
		notes = append(notes, compare.Note{Kind: compare.Caution, Topic: "taken cores",
			Text: "Times and speed say how busy the machine was, not how fast the run can be: " + text + "."})
	}
	if text := contended(t); text != "" {
		notes = append(notes, compare.Note{Kind: compare.Caution, Topic: "contention", Text: text})
	}
	for _, text := range t.Cautions {
		notes = append(notes, compare.Note{Kind: compare.Caution, Topic: "caution", Text: text})
	}
	return noteLists(notes)
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

// firstCautions returns the first notes that are no facts, for the top of the page.
func firstCautions(lists []noteList) []caution {
	var out []caution
	for _, list := range lists {
		for _, n := range list.Notes {
			if n.Kind != compare.Fact && len(out) < aboveTheFold {
				out = append(out, caution{list.Kind, n.Topic, brief(n.Note), n.ID})
			}
		}
	}
	return out
}

// trainingAnswer says what a run reached and what it took.
func trainingAnswer(t *compare.Training) answer {
	length := fmt.Sprintf("%s in %s s of training", spelling.Count(t.Steps, "step"), seconds(t.TrainSeconds))
	if t.IsInterrupted {
		return interruptedAnswer(t)
	}
	speed := fmt.Sprintf("%s samples/s", digits(t.SamplesPerSecond, 3))
	if t.Resumed != nil {
		speed += fmt.Sprintf(" since it was resumed after step %d", t.Resumed.Steps)
	}
	var a answer
	part := record.ScoredPart(t.Evaluations)
	switch {
	case t.Steps == 0 && t.TestAccuracy != nil:
		a.Text = fmt.Sprintf("%.2f %% of %d %s samples are right.", 100**t.TestAccuracy, t.TestSamples, part)
	case t.TestAccuracy != nil:
		a.Text = fmt.Sprintf("%.2f %% %s accuracy after %s, %s.", 100**t.TestAccuracy, part, length, speed)
	default:
		a.Text = fmt.Sprintf("The loss went from %s to %s in %s, %s.", fixed(t.Loss.First, 4),
			fixed(t.Loss.Last, 4), length, speed)
	}
	if r := t.Target; r != nil {
		a.Verdict, a.Sign = "target not reached", "✗"
		if r.IsReached {
			a.Verdict, a.Sign = "target reached", "✓"
		}
		a.Why = fmt.Sprintf("The target was %s %%; it took %s and %s s of training.", trim(100*r.Accuracy),
			spelling.Count(r.Steps, "step"), seconds(r.TrainSeconds))
		if !r.IsReached {
			a.Why = fmt.Sprintf("The target was %s %%; the best evaluation showed %.2f %%.",
				trim(100*r.Accuracy), 100*r.Best)
		}
	}
	return a
}

// interruptedAnswer says how far a run that has not ended came, and how it goes on.
func interruptedAnswer(t *compare.Training) answer {
	length, at := "Ended early after "+spelling.Count(t.Steps, "step"), t.Standing
	if stateOf(t) == goingOn {
		length = "Going on, after " + spelling.Count(t.Steps, "step")
	}
	a := answer{Text: fmt.Sprintf("%s: the loss went from %s to %s.", length, fixed(t.Loss.First, 4),
		fixed(t.Loss.Last, 4))}
	if at == nil {
		return a
	}
	if at.Planned != "" {
		a.Why = fmt.Sprintf("Planned: %s. ", at.Planned)
	}
	if at.Cause != "" {
		a.Why += strings.ToUpper(at.Cause[:1]) + at.Cause[1:] + ". "
	}
	switch {
	case at.IsGoingOn:
	case at.Checkpoint == "":
		a.Why += "There is no checkpoint here to go on from."
	default:
		a.Why += fmt.Sprintf("%s goes on after step %d.", at.Resume, at.Step)
	}
	a.Why = strings.TrimSpace(a.Why)
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

// strategyText names the strategy, with its servers.
func strategyText(t *compare.Training) string {
	if len(t.Servers) == 0 {
		return t.Strategy
	}
	return t.Strategy + ", " + t.ServerText()
}

// serverFact says what a server has and what it took.
func serverFact(p record.ServerStat, isApart bool) string {
	text := fmt.Sprintf("%d weights, %s; its process sent %s and received %s", p.Elements,
		spelling.Count(p.Updates, "update"), byteCount(float64(p.BytesSent)),
		byteCount(float64(p.BytesReceived)))
	if !isApart {
		return fmt.Sprintf("with rank %d: %s", p.Rank, text)
	}
	return fmt.Sprintf("rank %d: %s; %s of memory at most, %s s of processor time", p.Rank, text,
		byteCount(float64(p.PeakRSSBytes)), seconds(p.Cores.Own))
}

func trainingTitle(t *compare.Training) string {
	data := t.Data
	if t.Generated {
		data += " (generated)"
	}
	workers := spelling.Count(t.Workers, "worker")
	if t.Hosts != nil {
		workers += " on " + spelling.Count(len(t.Hosts.Hosts), "host")
	} else if all := joinedHosts(&t.Summary); len(all) > 1 {
		workers += " on " + spelling.Count(len(all), "host")
	}
	return fmt.Sprintf("%s on %s: %s × %s", t.Model, data, workers, spelling.Count(t.Threads, "thread")) +
		compare.SinceText(&t.Summary)
}

// interruptedFacts lists the figures of a run that has not ended.
func interruptedFacts(t *compare.Training) []pair {
	facts := []pair{{"state", stateOf(t) + " when this was rendered: the figures are those of the steps " +
		"so far"}}
	add := func(name, format string, args ...any) {
		facts = append(facts, pair{name, fmt.Sprintf(format, args...)})
	}
	if n := len(t.Evaluations); n > 0 {
		add(t.Evaluations[n-1].Of()+" accuracy", "%.2f %% after %s", 100*float64(t.Evaluations[n-1].Accuracy),
			spelling.Count(t.Evaluations[n-1].Steps, "step"))
	}
	add("length", "%s, %s epochs", spelling.Count(t.Steps, "step"), digits(float64(t.Epochs), 3))
	if from := t.Resumed; from != nil {
		add("resumed", "after step %d; time, speed, memory and what was sent are those since%s", from.Steps,
			partsBefore(t))
	}
	if at := t.Standing; at != nil && at.Checkpoint != "" {
		add("checkpoint", "after step %d: %s", at.Step, at.Checkpoint)
	}
	add("time", "%s s of steps, %s s of evaluations", seconds(t.Trained()), seconds(t.Phases.Evaluation))
	if t.SamplesPerSecond > 0 {
		add("speed", "%s samples/s", digits(float64(t.SamplesPerSecond), 3))
	}
	add("loss", "%s at first, %s at last", fixed(float64(t.Loss.First), 4), fixed(float64(t.Loss.Last), 4))
	if t.Workers > 1 {
		add("sent", "%s by all workers", byteCount(float64(t.BytesSent)))
	}
	add("memory", "%s at most, of all workers", byteCount(float64(t.PeakRSSBytes)))
	return facts
}

// adder adds a fact.
type adder func(name, format string, args ...any)

// trainingFacts lists the figures of the run.
func trainingFacts(t *compare.Training) []pair {
	var facts []pair
	add := func(name, format string, args ...any) {
		facts = append(facts, pair{name, fmt.Sprintf(format, args...)})
	}
	addReached(t, add)
	addLength(t, add)
	if text := compare.TakenText(t.Taken); text != "" {
		add("cores", "%s", text)
	}
	if t.Workers > 1 {
		add("links", "%s", record.LinkText(t.Link, t.Encryption, t.Streams))
	}
	if t.Steps > 0 {
		add("loss", "%s at first, %s at last", fixed(float64(t.Loss.First), 4),
			fixed(float64(t.Loss.Last), 4))
	}
	if text := compare.GrowthText(t.Growth); text != "" {
		add("batch", "%s", text)
	}
	if text := compare.MovesText(t.Moves); text != "" {
		add("shards", "%s", text)
	}
	addAsync(t, add)
	addTraffic(t, add)
	add("memory", "%s at most, of all processes", byteCount(float64(t.PeakRSSBytes)))
	for _, one := range t.Ranks {
		if text := compare.GPUText(one.GPU); text != "" {
			add(fmt.Sprintf("GPU of rank %d", one.Rank), "%s", text)
		}
	}
	addCheckpoints(t, add)
	addUnfinished(t, add)
	add("kernels", "%s, %s math", t.Kernels(), t.Math)
	if text := compare.MathText(t.MathChoice); text != "" {
		add("math", "%s", text)
	}
	add("parameters", "sha256 %s", t.ParameterSHA256)
	return facts
}

// addReached adds what the test samples say of the run.
func addReached(t *compare.Training, add adder) {
	part := record.ScoredPart(t.Evaluations)
	if t.TestAccuracy != nil {
		add(part+" accuracy", "%.2f %% of %d", 100**t.TestAccuracy, t.TestSamples)
	}
	if t.TestLoss != nil {
		add(part+" loss", "%s", fixed(*t.TestLoss, 4))
	}
	if r := t.Target; r != nil {
		what := "not reached"
		if r.IsReached {
			what = "reached"
		}
		add("target", "%s %% %s, %s, %s s of training", trim(100*float64(r.Accuracy)), what,
			spelling.Count(r.Steps, "step"), seconds(float64(r.TrainSeconds)))
	}
}

// addLength adds how long the run was and how fast.
func addLength(t *compare.Training, add adder) {
	add("length", "%s, %s epochs", spelling.Count(t.Steps, "step"), digits(float64(t.Epochs), 3))
	if from := t.Resumed; from != nil {
		add("resumed", "after step %d; speed, work and what was exchanged are those since%s", from.Steps,
			partsBefore(t))
		add("time", "%s s of training in all parts of the run, %s s of it in the last one, which took %s s "+
			"with evaluations", seconds(t.TrainSeconds), seconds(t.Trained()), seconds(t.Seconds))
	} else {
		add("time", "%s s, %s s of it training", seconds(float64(t.Seconds)),
			seconds(float64(t.TrainSeconds)))
	}
	if t.SamplesPerSecond > 0 {
		add("speed", "%s samples/s of training", digits(float64(t.SamplesPerSecond), 3))
	}
	if w := t.Work; w != nil {
		add("work", "%s TFLOP of forward and backward passes, padded zeros included; %s GFLOP/s, %s of "+
			"the %s that %s reached after the last step%s", digits(float64(w.FLOPs)/1e12, 3),
			digits(float64(w.Rate)/1e9, 3), percent(float64(w.Of)), digits(float64(w.Peak)/1e9, 3),
			compare.PeakText(t.GPU), w.Again())
	}
}

// partsBefore says who did the parts of a run before the last, to be put behind a sentence; "" if they were
// done as the last.
func partsBefore(t *compare.Training) string {
	if parts := compare.PartsText(&t.Summary); parts != "" {
		return "; before: " + strings.ReplaceAll(parts, " x ", " × ")
	}
	return ""
}

// addTraffic adds what processes sent and received.
func addTraffic(t *compare.Training, add adder) {
	if t.Workers > 1 || t.BytesSent > 0 {
		add("sent", "%s by all processes", byteCount(float64(t.BytesSent)))
	}
	if text := compare.AveragesText(t.Averages); text != "" {
		add("averages", "%s", text)
	}
	if len(t.Servers) > 0 {
		add("busiest", "%s in and out of a process, %s of one with a server",
			byteCount(float64(t.BusiestBytes)), byteCount(float64(t.ServerBytes)))
	}
	for _, p := range t.Servers {
		add(fmt.Sprintf("server %d", p.Server), "%s", serverFact(p, t.ServerPlace == record.ServerApart))
	}
}

// addCheckpoints adds what checkpoints took.
func addCheckpoints(t *compare.Training, add adder) {
	if c := t.Checkpoints; c != nil && c.Count > 0 {
		add("checkpoints", "%s, %s; training stood still for %s s (%s of the time), %s s of writing "+
			"beside it, %d came late", spelling.Count(c.Count, "checkpoint"), byteCount(float64(c.Bytes)),
			seconds(float64(c.ExposedSeconds)), percent(float64(c.ExposedSeconds)/float64(t.Seconds)),
			seconds(float64(c.WritingSeconds)), c.Late)
	}
}

// addAsync adds how an asynchronous run went.
func addAsync(t *compare.Training, add adder) {
	if text := compare.AsyncText(t.Async); text != "" {
		add("staleness", "%s", text)
	}
	if text := compare.SharesText(t.Async); text != "" {
		add("computed", "%s", text)
	}
	if text := compare.LostText(t.LostWorkers); text != "" {
		add("lost", "%s; the run went on", text)
	}
}

// addUnfinished adds the logs that the run stopped writing.
func addUnfinished(t *compare.Training, add adder) {
	for _, l := range t.Lost {
		add("not whole", "%v", l)
	}
}
