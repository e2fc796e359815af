package command

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/cluster"
	"lockstep/internal/spelling"
)

// rows prints lines of a name and a text.
type rows struct{ w *tabwriter.Writer }

func (r rows) add(name, format string, args ...any) {
	fmt.Fprintf(r.w, "  %s\t%s\n", name, fmt.Sprintf(format, args...))
}

// printSummary prints the outcome of a run for people. Control characters, which names of files may hold, are
// escaped.
func printSummary(w io.Writer, s *record.Summary) error {
	out := &bytes.Buffer{}
	kind := ""
	if s.Generated {
		kind = " (generated)"
	}
	fmt.Fprintf(out, "%s on %s%s: %s, %s x %s, batch %d in %s\n", s.Model, spelling.Plain(s.Data), kind,
		strategyName(s), spelling.Count(s.Workers, "worker")+onHosts(s),
		spelling.Count(s.Threads, "thread")+report.SinceText(s), s.Batch, spelling.Count(s.Shards, "shard"))
	r := rows{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	r.learned(s)
	r.took(s)
	r.changed(s)
	r.exchanged(s)
	r.add("memory", "%s at most, %s planned", setting.Size(s.PeakRSSBytes), setting.Size(s.PlannedBytes))
	r.add("kernels", "%s, %s math", s.Kernels(), s.Math)
	r.left(s)
	if err := r.w.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, spelling.PlainLines(out.String()))
	return err
}

// onHosts says on how many hosts the workers were; "" if that is one.
func onHosts(s *record.Summary) string {
	hosts := map[string]bool{}
	for _, r := range s.Ranks {
		hosts[r.Host] = true
	}
	if len(hosts) < 2 {
		return ""
	}
	return fmt.Sprintf(" on %d hosts", len(hosts))
}

// learned prints the accuracy and the loss of the model.
func (r rows) learned(s *record.Summary) {
	samples, views := "images", ""
	if s.Texts != nil {
		samples = "texts"
	}
	if s.TTA != "none" {
		views = ", test-time augmentation " + s.TTA
	}
	part := record.FinalPart(s.Evaluations)
	if s.TestAccuracy != nil {
		r.add(part+" accuracy", "%.2f %% of %d %s%s", 100**s.TestAccuracy, s.TestSamples, samples, views)
	}
	if s.TestLoss != nil {
		r.add(part+" loss", "%.4f", *s.TestLoss)
	}
	if during := record.Followed(s.Evaluations); len(during) > 0 && len(during) < len(s.Evaluations) {
		last := during[len(during)-1]
		r.add(last.Of(), "accuracy %.2f %% of %d %s, loss %.4f", 100*last.Accuracy, last.Samples, samples,
			last.Loss)
	}
	if s.Target != nil {
		r.add("target", "%s", outcome(s.Target))
	}
	if s.TrainAccuracy != nil {
		r.add("train accuracy", "%.2f %% in the last epoch", 100**s.TrainAccuracy)
	}
	if cut := cutTexts(s.Texts); cut != "" {
		r.add("too long", "%s", cut)
	}
	if s.Steps > 0 {
		r.add("loss", "%.4f at first, %.4f at last", s.Loss.First, s.Loss.Last)
		r.add("learning rate", "%.4g times the schedule, for steps of %s", s.LearningRate,
			spelling.Count(stepSamples(s), "sample"))
	}
}

// cutTexts says how many texts are too long; "" if none is. A run may end before it has read all of them.
func cutTexts(t *record.TextStat) string {
	var parts []string
	if t != nil && t.TrainCut > 0 {
		parts = append(parts, spelling.Count(t.TrainCut, "training text"))
	}
	if t != nil && t.TestCut > 0 {
		parts = append(parts, spelling.Count(t.TestCut, "test text"))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, " and ") + ", cut when read"
}

// stepSamples returns the samples of a full step: no more than an epoch has.
func stepSamples(s *record.Summary) int {
	n := s.Batch * s.Accumulate
	if s.Epochs > 0 {
		n = min(n, int(math.Round(float64(s.Samples)/s.Epochs)))
	}
	return n
}

// took prints time and work of the run.
func (r rows) took(s *record.Summary) {
	if s.Steps > 0 {
		steps := spelling.Count(s.Steps, "step")
		if from := s.Resumed; from != nil {
			r.add("time", "%.2f s of training for the last %d of %s (%.4g epochs), %.0f samples/s; %.2f s "+
				"with evaluations", s.Trained(), s.Steps-from.Steps, steps, s.Epochs, s.SamplesPerSecond,
				s.Seconds)
			r.add("all parts", "%.2f s of training", s.TrainSeconds)
		} else {
			r.add("time", "%.2f s for %s (%.4g epochs), %.0f samples/s of training", s.Seconds, steps,
				s.Epochs, s.SamplesPerSecond)
		}
		r.add("step", "%.2f ms median, %.2f to %.2f in 8 of 10",
			s.StepMS.Median, s.StepMS.P10, s.StepMS.P90)
	} else {
		r.add("time", "%.2f s, no training", s.Seconds)
	}
	if s.Encryption == string(cluster.EncryptTLS) || s.Encryption == string(cluster.EncryptNone) ||
		s.Streams > 1 {
		r.add("links", "%s", record.LinkText(s.Link, s.Encryption, s.Streams))
	}
	if w := s.Work; w != nil {
		r.add("work", "%.3g TFLOP, %.3g GFLOP/s: %.0f %% of the %.3g that %s reach%s",
			float64(w.FLOPs)/1e12, w.Rate/1e9, 100*w.Of, w.Peak/1e9, report.PeakText(s.GPU), w.Again())
	}
	for _, one := range s.Ranks {
		if text := report.GPUText(one.GPU); text != "" {
			r.add(fmt.Sprintf("GPU of rank %d", one.Rank), "%s", text)
		}
	}
	if text := report.TakenText(s.Taken); text != "" {
		r.add("cores", "%s", text)
	}
	if s.For != "" && s.Steps > 0 {
		r.add("batches", "%s in %.2f s of training", batches(s), s.TrainSeconds)
	}
	r.add("of the time", "%s", phaseShares(s))
}

// changed prints what changed in the run, and which gradients it did without.
func (r rows) changed(s *record.Summary) {
	if text := report.GrowthText(s.Growth); text != "" {
		r.add("batch", "%s", text)
	}
	if text := report.MovesText(s.Moves); text != "" {
		r.add("shards", "%s", text)
	}
	if text := report.AsyncText(s.Async); text != "" {
		r.add("staleness", "%s", text)
	}
	if text := report.SharesText(s.Async); text != "" {
		r.add("computed", "%s", text)
	}
	if text := report.LostText(s.LostWorkers); text != "" {
		r.add("lost", "%s; the run went on", text)
	}
}

// exchanged prints the traffic between processes.
func (r rows) exchanged(s *record.Summary) {
	if s.Workers > 1 || s.BytesSent > 0 {
		as := ""
		if s.Wire != "fp32" {
			as = fmt.Sprintf(", as %s in place of %s", s.Wire, setting.Size(s.BytesVectors))
		}
		r.add("exchanged", "%s sent, %s received%s", setting.Size(s.BytesSent),
			setting.Size(s.BytesReceived), as)
		if len(s.Servers) > 0 {
			r.add("busiest", "%s in and out of a process, %s of one with a server",
				setting.Size(s.BusiestBytes), setting.Size(s.ServerBytes))
		}
	}
	if text := report.AveragesText(s.Averages); text != "" {
		r.add("averages", "%s", text)
	}
}

// left prints where the run started from and the files that it wrote.
func (r rows) left(s *record.Summary) {
	r.add("parameters", "sha256 %s", s.ParameterSHA256)
	if w := s.Weights; w != nil {
		r.add("started from", "%s, %s", w.Path, spelling.Count(w.Tensors, "tensor"))
		if len(w.Fresh) > 0 {
			r.add("fresh", "%s", strings.Join(w.Fresh, ", "))
		}
		if len(w.Unused) > 0 {
			r.add("unused", "%s of the file", spelling.Count(len(w.Unused), "tensor"))
		}
	}
	if from := s.Resumed; from != nil {
		r.add("resumed", "from %s, after %s; times above are those since, but for \"all parts\"", from.From,
			spelling.Count(from.Steps, "step"))
		if text := report.PartsText(s); text != "" {
			r.add("before", "%s", text)
		}
	}
	if c := s.Checkpoints; c != nil && c.Count > 0 {
		r.add("checkpoints", "%d, %s; %.2f s of copying in the run, %.2f s of writing beside it, last %s",
			c.Count, setting.Size(c.Bytes), c.ExposedSeconds, c.WritingSeconds, c.Last)
	}
	if s.Saved != nil {
		r.add("weights", "%s", s.Saved.Path)
	}
	for _, l := range s.Lost {
		r.add("not whole", "%v", l)
	}
	r.add("run directory", "%s", s.Directory)
	for _, text := range s.Cautions {
		r.add("caution", "%s", text)
	}
}

// outcome says whether the target was reached, and when.
func outcome(t *record.Target) string {
	what := "not reached"
	if t.IsReached {
		what = "reached"
	}
	return fmt.Sprintf("%.4g %% %s: %.2f %% at best, %s (%.4g epochs) in %.2f s of training, and %.2f s of "+
		"evaluation", 100*t.Accuracy, what, 100*t.Best, spelling.Count(t.Steps, "step"), t.Epochs,
		t.TrainSeconds, t.EvaluationSeconds)
}

// batches says how many steps each worker made.
func batches(s *record.Summary) string {
	if !strategy.Named(s.Strategy).IsFloor {
		return fmt.Sprintf("%d of each worker", s.Steps)
	}
	var parts []string
	for _, r := range s.Ranks {
		parts = append(parts, fmt.Sprintf("%d of rank %d", r.Steps, r.Rank))
	}
	return strings.Join(parts, ", ")
}

func strategyName(s *record.Summary) string {
	switch {
	case strategy.Named(s.Strategy).IsFloor:
		return "none (workers never exchange: a floor to compare with, not training)"
	case len(s.Servers) > 0:
		return s.Strategy + ", " + s.ServerText()
	case s.Workers > 1:
		return s.Strategy + " by " + s.Algorithm
	}
	return s.Strategy
}

// phaseShares lists the phases that took at least one percent.
func phaseShares(s *record.Summary) string {
	phases := []struct {
		name    string
		seconds float64
	}{
		{"forward", s.Phases.Forward}, {"backward", s.Phases.Backward},
		{"exposed communication", s.Phases.SyncExposed}, {"optimizer", s.Phases.Optimizer},
		{"data", s.Phases.Data}, {"evaluation", s.Phases.Evaluation}, {"other", s.Phases.Other},
	}
	var parts []string
	for _, p := range phases {
		if share := 100 * p.seconds / s.Seconds; share >= 1 {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", p.name, share))
		}
	}
	return strings.Join(parts, ", ")
}
