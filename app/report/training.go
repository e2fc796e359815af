package report

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"lockstep/app/analysis"
	"lockstep/app/record"
	"lockstep/internal/regular"
)

//go:embed template/training.html
var trainingTemplate string

// The files of a run directory that its report is made of.
const (
	summaryFile = "summary.json"
	stepsFile   = "steps.jsonl"
	configFile  = "config.yaml"
)

// HoldsTraining reports whether folder is the directory of a training run that has ended.
func HoldsTraining(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, summaryFile))
	return err == nil
}

// readTraining returns what the training run in folder left, with its summary. An error names the file.
func readTraining(folder string, summary io.Reader) (*analysis.Training, error) {
	var steps io.Reader = bytes.NewReader(nil) // a run that only evaluated has none
	f, err := regular.Open(filepath.Join(folder, stepsFile))
	if err == nil {
		defer f.Close()
		steps = f
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("report: %w", err)
	}
	t, err := analysis.ReadTraining(summary, steps)
	if err != nil {
		return nil, fmt.Errorf("report: %s: %w", folder, err)
	}
	config, err := regular.Open(filepath.Join(folder, configFile))
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	defer config.Close()
	text, err := io.ReadAll(config)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	t.Configuration = string(text)
	return t, nil
}

// WriteTraining renders report.html of the training run in folder from its summary, its steps and its
// configuration. The file appears complete or not at all; a former one is replaced.
func WriteTraining(folder string) error {
	summary, err := regular.Open(filepath.Join(folder, summaryFile))
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	defer summary.Close()
	return WriteUnfinished(folder, summary)
}

// WriteUnfinished is WriteTraining for a run that has left no summary: it takes one that says so.
func WriteUnfinished(folder string, summary io.Reader) error {
	t, err := readTraining(folder, summary)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := TrainingHTML(&b, t); err != nil {
		return err
	}
	if err := replace(filepath.Join(folder, HTMLFile), b.Bytes()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// figuresPage is a page of figures below facts: that of a training run, or of collectives.
type figuresPage struct {
	Kind, Title, Lede, Policy, Configuration string
	Source                                   string // the files it is rendered from
	Style                                    template.CSS
	Facts                                    []pair
	Figures                                  []figure
}

// TrainingHTML writes the report of a training run as one page with the properties of [HTML].
func TrainingHTML(w io.Writer, t *analysis.Training) error {
	page, err := template.New("training").Parse(trainingTemplate)
	if err != nil {
		return fmt.Errorf("report: page template: %w", err)
	}
	p := figuresPage{Kind: "training report", Title: trainingTitle(t),
		Source: "summary.json, steps.jsonl and config.yaml of the run directory",
		Policy: policy(styleSheet), Configuration: t.Configuration,
		Style: template.CSS(styleSheet), Facts: trainingFacts(t), Figures: trainingFigures(t),
		Lede: fmt.Sprintf("%s · global batch %d in %s · seed %d", strategyText(t), t.Batch,
			count(t.Shards, "shard"), t.Seed)}
	if t.IsInterrupted {
		p.Title += ", interrupted"
		p.Source = "steps.jsonl and config.yaml of the run directory"
		p.Facts = interruptedFacts(t)
	}
	if err := page.Execute(w, p); err != nil {
		return fmt.Errorf("report: page: %w", err)
	}
	return nil
}

// strategyText names the strategy, with its servers.
func strategyText(t *analysis.Training) string {
	if len(t.Servers) == 0 {
		return t.Strategy
	}
	return t.Strategy + ", " + t.ServerText()
}

// serverFact says what a server has and what it took.
func serverFact(p record.ServerStat, isApart bool) string {
	text := fmt.Sprintf("%d weights, %s; its process sent %s and received %s", p.Elements,
		count(p.Updates, "update"), byteCount(float64(p.BytesSent)),
		byteCount(float64(p.BytesReceived)))
	if !isApart {
		return fmt.Sprintf("with rank %d: %s", p.Rank, text)
	}
	return fmt.Sprintf("rank %d: %s; %s of memory at most, %s s of processor time", p.Rank, text,
		byteCount(float64(p.PeakRSSBytes)), seconds(p.Cores.Own))
}

func trainingTitle(t *analysis.Training) string {
	data := t.Data
	if t.Generated {
		data += " (generated)"
	}
	return fmt.Sprintf("%s on %s: %s × %s", t.Model, data, count(t.Workers, "worker"),
		count(t.Threads, "thread"))
}

// interruptedFacts lists the figures of a run that has not ended.
func interruptedFacts(t *analysis.Training) []pair {
	facts := []pair{{"state", "interrupted, or running when this was rendered: the figures are those of " +
		"the steps so far"}}
	add := func(name, format string, args ...any) {
		facts = append(facts, pair{name, fmt.Sprintf(format, args...)})
	}
	if n := len(t.Evaluations); n > 0 {
		add("test accuracy", "%.2f %% after %s", 100*float64(t.Evaluations[n-1].Accuracy),
			count(t.Evaluations[n-1].Steps, "step"))
	}
	add("length", "%s, to epoch %.0f", count(t.Steps, "step"), float64(t.Epochs)+1)
	add("time", "%s s of steps", seconds(float64(t.Seconds)))
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

// trainingFacts lists the figures of the run.
func trainingFacts(t *analysis.Training) []pair {
	var facts []pair
	add := func(name, format string, args ...any) {
		facts = append(facts, pair{name, fmt.Sprintf(format, args...)})
	}
	for _, text := range t.Cautions {
		add("caution", "%s", text)
	}
	if t.TestAccuracy != nil {
		add("test accuracy", "%.2f %% of %d", 100**t.TestAccuracy, t.TestSamples)
	}
	if t.TestLoss != nil {
		add("test loss", "%s", fixed(*t.TestLoss, 4))
	}
	if r := t.Target; r != nil {
		what := "not reached"
		if r.IsReached {
			what = "reached"
		}
		add("target", "%s %% %s, %s, %s s of training", trim(100*float64(r.Accuracy)), what,
			count(r.Steps, "step"), seconds(float64(r.TrainSeconds)))
	}
	add("length", "%s, %s epochs", count(t.Steps, "step"), digits(float64(t.Epochs), 3))
	if t.TrainSeconds > t.Seconds { // a resumed run
		add("time", "%s s of training in all parts of the run, %s s in the last one",
			seconds(float64(t.TrainSeconds)), seconds(float64(t.Seconds)))
	} else {
		add("time", "%s s, %s s of it training", seconds(float64(t.Seconds)),
			seconds(float64(t.TrainSeconds)))
	}
	if t.SamplesPerSecond > 0 {
		add("speed", "%s samples/s of training", digits(float64(t.SamplesPerSecond), 3))
	}
	if w := t.Work; w != nil {
		add("work", "%s TFLOP of forward and backward passes, padded zeros included; %s GFLOP/s, %s of "+
			"the %s that multiply-adds in registers reached after the last step",
			digits(float64(w.FLOPs)/1e12, 3), digits(float64(w.Rate)/1e9, 3), percent(float64(w.Of)),
			digits(float64(w.Peak)/1e9, 3))
	}
	if text := analysis.TakenText(t.Taken); text != "" {
		add("cores", "%s", text)
	}
	if t.Steps > 0 {
		add("loss", "%s at first, %s at last", fixed(float64(t.Loss.First), 4),
			fixed(float64(t.Loss.Last), 4))
	}
	if text := analysis.GrowthText(t.Growth); text != "" {
		add("batch", "%s", text)
	}
	if text := analysis.MovesText(t.Moves); text != "" {
		add("shards", "%s", text)
	}
	addAsync(t, add)
	if t.Workers > 1 || t.BytesSent > 0 {
		add("sent", "%s by all processes", byteCount(float64(t.BytesSent)))
	}
	if len(t.Servers) > 0 {
		add("busiest", "%s in and out of a process, %s of one with a server",
			byteCount(float64(t.BusiestBytes)), byteCount(float64(t.ServerBytes)))
	}
	for _, p := range t.Servers {
		add(fmt.Sprintf("server %d", p.Server), "%s", serverFact(p, t.ServerPlace == record.ServerApart))
	}
	add("memory", "%s at most, of all processes", byteCount(float64(t.PeakRSSBytes)))
	if c := t.Checkpoints; c != nil && c.Count > 0 {
		add("checkpoints", "%s, %s; training stood still for %s s (%s of the time), %s s of writing "+
			"beside it, %d came late", count(c.Count, "checkpoint"), byteCount(float64(c.Bytes)),
			seconds(float64(c.ExposedSeconds)), percent(float64(c.ExposedSeconds)/float64(t.Seconds)),
			seconds(float64(c.WritingSeconds)), c.Late)
	}
	add("kernels", "%s, %s math", t.ISA, t.Math)
	add("parameters", "sha256 %s", t.ParameterSHA256)
	return facts
}

// quantity is something that was watched at every step of a worker.
type quantity struct {
	id, title, label, caption string
	values                    func(analysis.WatchedRank) []float64
	scale                     float64
}

// lossQuantity is the same on all ranks.
func lossQuantity() quantity {
	return quantity{"loss", "Loss", "loss, mean over the global batch",
		"Mean over the global batch, and over the steps between two points.",
		func(w analysis.WatchedRank) []float64 { return w.Loss }, 1}
}

// rankQuantities are those in which ranks differ, and the last two of them those of the network.
func rankQuantities() []quantity {
	return []quantity{
		{"time", "Step time", "step time, ms", "Mean over the steps between two points.",
			func(w analysis.WatchedRank) []float64 { return w.Seconds }, 1e3},
		{"cpu", "Processors in use", "cores",
			"Processor time of each worker's process over the time in which it was taken, a tenth of a " +
				"second or more. Evaluations are left out of both.",
			func(w analysis.WatchedRank) []float64 { return w.Cores }, 1},
		{"memory", "Memory", "resident, MiB",
			"Largest of the steps between two points, for each worker's process.",
			func(w analysis.WatchedRank) []float64 { return w.Memory }, 1. / (1 << 20)},
		{"sent", "Network, sent", "MB/s",
			"Bytes that each worker sent, without evaluations, over the same time.",
			func(w analysis.WatchedRank) []float64 { return w.Sent }, 1e-6},
		{"received", "Network, received", "MB/s",
			"Bytes that each worker received, without evaluations, over the same time.",
			func(w analysis.WatchedRank) []float64 { return w.Received }, 1e-6},
	}
}

// addAsync adds how an asynchronous run went.
func addAsync(t *analysis.Training, add func(name, format string, args ...any)) {
	if text := analysis.AsyncText(t.Async); text != "" {
		add("staleness", "%s", text)
	}
	if text := analysis.SharesText(t.Async); text != "" {
		add("computed", "%s", text)
	}
	if text := analysis.LostText(t.LostWorkers); text != "" {
		add("lost", "%s; the run went on", text)
	}
}

// trainingFigures plots the loss, the accuracy, and what each worker took.
func trainingFigures(t *analysis.Training) []figure {
	var figures []figure
	if len(t.Watched) > 0 {
		figures = append(figures, lossQuantity().figure(t.Watched[:1]))
	}
	figures = append(figures, evaluationFigures(t.Evaluations)...)
	if t.Async != nil && t.Async.Updates > 0 {
		figures = append(figures, stalenessFigure(t.Async))
	}
	if len(t.Growth) > 0 {
		figures = append(figures, growthFigure(t.Growth))
	}
	if len(t.Moves) > 0 && shardsQuantity().isKnown(t.Watched) {
		figures = append(figures, shardsQuantity().figure(t.Watched))
	}
	if len(t.Ranks) > 0 && len(t.Ranks[0].Buckets) > 0 {
		figures = append(figures, bucketFigure(t.Ranks[0].Buckets))
	}
	quantities := rankQuantities()
	if t.Workers == 1 {
		quantities = quantities[:len(quantities)-2]
	}
	for _, q := range quantities {
		if q.isKnown(t.Watched) {
			figures = append(figures, q.figure(t.Watched))
		}
	}
	return figures
}

// isKnown reports whether any rank tells the quantity.
func (q quantity) isKnown(ranks []analysis.WatchedRank) bool {
	return slices.ContainsFunc(ranks, func(w analysis.WatchedRank) bool {
		return slices.ContainsFunc(q.values(w), known)
	})
}

// figure plots the quantity of some ranks against the step.
func (q quantity) figure(ranks []analysis.WatchedRank) figure {
	var all []series
	var keys []legend
	top := 0.0
	for rank, w := range ranks {
		s := series{keys: []string{fmt.Sprint(rank)}, label: fmt.Sprintf("rank %d", rank),
			style: fmt.Sprintf("k%d d%d", rank%6, rank%6), at: w.Step}
		for _, v := range q.values(w) {
			s.values = append(s.values, q.scale*v)
			if known(v) {
				top = max(top, q.scale*v)
			}
		}
		all = append(all, s)
		keys = append(keys, legend{Swatch: swatch(s.style), Key: s.keys[0], Name: s.label})
	}
	p := curves{id: q.id, title: q.title + " against step",
		description: "One curve per rank. The values are in the table below the plot.",
		yLabel:      q.label, xLabel: "step", series: all, hi: top, format: trim}
	return figure{Title: q.title, Caption: q.caption, Plot: p.markup(), Legend: keys,
		Table: placesTable(q.title, "step", all)}
}

// bucketFigure plots what exchanging each bucket took on rank 0. Hidden times are shown if they are known.
func bucketFigure(buckets []record.BucketStat) figure {
	exposed := series{keys: []string{"e"}, label: "exposed", style: "k0 d0"}
	hidden := series{keys: []string{"h"}, label: "hidden", style: "k1 d1"}
	size := series{label: "size, MiB"}
	add := func(s *series, v float64) {
		s.at, s.values = append(s.at, float64(len(s.at)+1)), append(s.values, v)
	}
	for _, b := range buckets {
		add(&exposed, 1e3*float64(b.Exposed.StepSeconds))
		add(&size, float64(b.Bytes)/(1<<20))
		if b.Hidden != nil {
			add(&hidden, 1e3*float64(b.Hidden.StepSeconds))
		}
	}
	times, caption := []series{exposed, hidden}, "On rank 0. Hidden communication overlaps the backward "+
		"pass, exposed communication keeps training waiting."
	if len(hidden.values) == 0 {
		times, caption = times[:1], "On rank 0. Exposed: training waits for the new weights of a bucket. "+
			"What else it waits for, such as a slow worker or the next batch, belongs to no bucket."
	}
	top := 0.0
	for _, s := range times {
		top = max(top, slices.Max(s.values))
	}
	p := curves{id: "buckets", title: "Exchange of each bucket of gradients",
		description: "The values are in the table below the plot.", yLabel: "ms per step, mean",
		xLabel: "bucket, as backward completes them", series: times, hi: top, format: trim}
	f := figure{Title: "Exchange of each bucket", Caption: caption, Plot: p.markup(),
		Table: placesTable("Exchange of each bucket, ms per step", "bucket",
			append(slices.Clone(times), size))}
	for _, s := range times {
		f.Legend = append(f.Legend, legend{Swatch: swatch(s.style), Key: s.keys[0], Name: s.label})
	}
	return f
}

// placesTable shows series at about a dozen of the first one's places, the last among them.
func placesTable(name, place string, all []series) table {
	t := table{Name: name, Head: []heading{{place, ""}}}
	for _, s := range all {
		t.Head = append(t.Head, heading{s.label, ""})
	}
	const rows = 12
	n := len(all[0].at)
	for i := range min(n, rows) {
		at := (i+1)*n/min(n, rows) - 1
		cells := []cell{{Text: digits(all[0].at[at], 4)}}
		if place != "seconds" {
			cells[0].Text = trim(all[0].at[at])
		}
		for _, s := range all {
			text := dash
			if at < len(s.values) {
				text = digits(s.values[at], 4)
			}
			cells = append(cells, cell{Text: text})
		}
		t.Rows = append(t.Rows, row{Cells: cells})
	}
	return t
}
