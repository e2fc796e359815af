package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"lockstep/internal/job"
)

// printSummary prints the outcome of a run for people.
func printSummary(out io.Writer, s *job.Summary) error {
	kind := ""
	if s.Generated {
		kind = " (generated)"
	}
	fmt.Fprintf(out, "%s on %s%s: %s, %s x %s, batch %d in %s\n", s.Model, s.Data, kind,
		strategyName(s), count(s.Workers, "worker"), count(s.Threads, "thread"), s.Batch,
		count(s.Shards, "shard"))
	samples, views := "images", ""
	if s.Texts != nil {
		samples = "texts"
	}
	if s.TTA != "none" {
		views = ", test-time augmentation " + s.TTA
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	if s.TestAccuracy != nil {
		row("test accuracy", "%.2f %% of %d %s%s", 100**s.TestAccuracy, s.TestSamples, samples, views)
	}
	if s.Target != nil {
		row("target", "%s", outcome(s.Target))
	}
	if s.TrainAccuracy != nil {
		row("train accuracy", "%.2f %% in the last epoch", 100**s.TrainAccuracy)
	}
	if t := s.Texts; t != nil && t.TrainCut+t.TestCut > 0 {
		row("cut", "%d training and %d test texts, too long", t.TrainCut, t.TestCut)
	}
	if s.Steps > 0 {
		row("loss", "%.4f at first, %.4f at last", s.Loss.First, s.Loss.Last)
		row("learning rate", "%.4g times the schedule, for steps of %s", s.LearningRate,
			count(s.Batch*s.Accumulate, "sample"))
		row("time", "%.2f s for %s (%.4g epochs), %.0f samples/s", s.Seconds,
			count(s.Steps, "step"), s.Epochs, s.SamplesPerSecond)
		row("step", "%.2f ms median, %.2f to %.2f in 8 of 10",
			s.StepMS.Median, s.StepMS.P10, s.StepMS.P90)
		if s.For != "" {
			row("batches", "%s in %.2f s of training", batches(s), s.TrainSeconds)
		}
	} else {
		row("time", "%.2f s, no training", s.Seconds)
	}
	row("of the time", "%s", phaseShares(s))
	if s.Workers > 1 {
		as := ""
		if s.Wire != "fp32" {
			as = fmt.Sprintf(", as %s in place of %s", s.Wire, job.Size(s.BytesVectors))
		}
		row("exchanged", "%s sent, %s received%s", job.Size(s.BytesSent), job.Size(s.BytesReceived), as)
	}
	row("memory", "%s at most, %s planned", job.Size(s.PeakRSSBytes),
		job.Size(s.PlannedBytes))
	row("kernels", "%s, %s math", s.ISA, s.Math)
	row("parameters", "sha256 %s", s.ParameterSHA256)
	if w := s.Weights; w != nil {
		row("started from", "%s, %s", w.Path, count(w.Tensors, "tensor"))
		if len(w.Fresh) > 0 {
			row("fresh", "%s", strings.Join(w.Fresh, ", "))
		}
		if len(w.Unused) > 0 {
			row("unused", "%s of the file", count(len(w.Unused), "tensor"))
		}
	}
	if r := s.Resumed; r != nil {
		row("resumed", "from %s, after %.2f s; times above are those since", r.From, r.Seconds)
	}
	if c := s.Checkpoints; c != nil && c.Count > 0 {
		row("checkpoints", "%d, %s; %.2f s of copying in the run, %.2f s of writing beside it, last %s",
			c.Count, job.Size(c.Bytes), c.ExposedSeconds, c.WritingSeconds, c.Last)
	}
	if s.Saved != nil {
		row("weights", "%s", s.Saved.Path)
	}
	row("run directory", "%s", s.Directory)
	return w.Flush()
}

// outcome says what came of a target.
func outcome(t *job.Target) string {
	what := "not reached"
	if t.IsReached {
		what = "reached"
	}
	return fmt.Sprintf("%.4g %% %s: %.2f %% at best, %s (%.4g epochs) in %.2f s of training, and %.2f s of "+
		"evaluation", 100*t.Accuracy, what, 100*t.Best, count(t.Steps, "step"), t.Epochs, t.TrainSeconds,
		t.EvaluationSeconds)
}

// batches says how many steps each worker made.
func batches(s *job.Summary) string {
	if s.Strategy != "none" {
		return fmt.Sprintf("%d of each worker", s.Steps)
	}
	var parts []string
	for _, r := range s.Ranks {
		parts = append(parts, fmt.Sprintf("%d of rank %d", r.Steps, r.Rank))
	}
	return strings.Join(parts, ", ")
}

func strategyName(s *job.Summary) string {
	switch {
	case s.Strategy == "none":
		return "none (workers never exchange: a floor to compare with, not training)"
	case s.Workers > 1:
		return s.Strategy + " by " + s.Algorithm
	}
	return s.Strategy
}

// phaseShares lists the phases that took at least one percent.
func phaseShares(s *job.Summary) string {
	phases := []struct {
		name    string
		seconds float64
	}{
		{"forward", s.Phases.Forward}, {"backward", s.Phases.Backward},
		{"exposed exchange", s.Phases.SyncExposed}, {"optimizer", s.Phases.Optimizer},
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

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
