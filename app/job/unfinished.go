package job

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/data"
	"lockstep/internal/regular"
	"lockstep/internal/spelling"
	"lockstep/train"
)

// HasSteps reports whether folder is the directory of a run that has done steps.
func HasSteps(folder string) bool {
	info, err := os.Stat(rundir.Directory(folder).Path(rundir.StepsFile))
	return err == nil && info.Size() > 0
}

// Stand returns where the run in folder can go on: at its newest checkpoint, or at its beginning if it was
// lost before it had written one. The error is that of opening checkpoints of which none is valid.
func Stand(folder string) (record.Standing, error) {
	d := rundir.Directory(folder)
	newest, err := OpenNewest(d, func(string) {})
	if none := (*checkpoint.NoneError)(nil); err != nil && !(errors.As(err, &none) && len(none.Tried) == 0) {
		return record.Standing{}, err
	}
	if summary, err := unfinished(d, newest); err == nil {
		return *summary.Standing, nil
	}
	return standingOf(d, newest, 0), nil // without lines of steps, no steps are known
}

// standingOf returns where a run that has done so many steps can go on: at newest, unless that is nil.
func standingOf(d rundir.Directory, newest *Resumption, done int) record.Standing {
	s := record.Standing{Done: done, IsGoingOn: d.IsGoingOn(), Cause: d.Cause(),
		Written: d.Host().Started}
	if newest != nil {
		s.Checkpoint, s.Resume, s.Written = newest.Path, ResumeCommand(d), newest.Kept.Written
		s.Step = newest.Kept.Progress.Step
		s.Done = max(done, s.Step)
	}
	return s
}

// ResumeCommand returns the command line that lets the run in d go on from its newest checkpoint, in a lab or
// on hosts like those on which it was; flags are those that its files do not tell.
func ResumeCommand(d rundir.Directory, flags ...string) string {
	machine := d.Host()
	words := slices.Concat([]string{"lockstep"}, record.Behind(machine.Lab, machine.Preflight),
		[]string{"train", "--resume", string(d)}, flags)
	return spelling.Line(words...)
}

// Unfinished returns a summary, marked IsInterrupted, of a run that ended early or is still running. It is
// made from steps.jsonl, evaluations.jsonl and the newest checkpoint. Figures that are known only at the end
// are zero or nil; times are those of rank 0's steps and evaluations.
func Unfinished(folder string) (*record.Summary, error) {
	d := rundir.Directory(folder)
	newest, err := OpenNewest(d, func(string) {})
	if err != nil {
		newest = nil // most runs have no checkpoint
	}
	return unfinished(d, newest)
}

// unfinished is [Unfinished] of the run in d, whose newest checkpoint is given; nil: it has none.
func unfinished(d rundir.Directory, newest *Resumption) (*record.Summary, error) {
	c, err := setting.ReadFile(d.Path(rundir.ConfigFile))
	if err != nil {
		return nil, err
	}
	s := &record.Summary{Wire: c.GradientWire().String(), Directory: string(d), IsInterrupted: true}
	AddSettings(s, c)
	s.Generated = slices.ContainsFunc(c.Datasets().List(), func(i data.Info) bool {
		return i.Name == c.Data && i.Generated
	})
	f, err := regular.Open(d.Path(rundir.StepsFile))
	if err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	defer f.Close() // only read
	if err := countSteps(s, f, c); err != nil {
		return nil, fmt.Errorf("job: %s: %w", d.Path(rundir.StepsFile), err)
	}
	s.Standing = new(standingOf(d, newest, s.Steps))
	s.Standing.Planned = planned(c)
	if newest != nil {
		k := newest.Kept
		s.Evaluations, s.Moves, s.TestSamples = k.Evaluations, k.Moves, int64(k.TestSamples)
		s.Epochs = float64(s.Steps) / float64(c.StepsPerEpoch(k.TrainSamples))
	}
	told, err := d.Evaluations()
	if err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	if len(told) > len(s.Evaluations) { // all since the run began, unless the disk was full
		s.Evaluations = told
	}
	addEvaluations(s)
	s.Target = TargetOf(c, s.Evaluations)
	return s, nil
}

// addEvaluations adds to s what its evaluations tell. Those of rank 0 took time.
func addEvaluations(s *record.Summary) {
	for _, e := range s.Evaluations {
		if e.Rank == 0 {
			s.Phases.Evaluation += e.Seconds
			s.Seconds += e.Seconds
		}
	}
	if n := len(s.Evaluations); n > 0 {
		last := s.Evaluations[n-1]
		s.TestLoss = new(float64(last.Loss))
		if a := float64(last.Accuracy); !math.IsNaN(a) {
			s.TestAccuracy = &a
		}
		s.TestSamples = max(s.TestSamples, last.Samples)
	}
}

// planned words the length that a run of c was given.
func planned(c setting.Config) string {
	switch {
	case c.For != "":
		return c.For + " of training"
	case c.Steps > 0:
		return spelling.Count(c.Steps, "step")
	}
	return spelling.Count(c.Epochs, "epoch")
}

// countSteps adds up the lines that a run of c has in steps.jsonl, and skips a line that was not written
// completely. Steps of asynchronous workers are each of one of them; other workers take each step together,
// and some of those count their own samples only.
func countSteps(s *record.Summary, lines io.Reader, c setting.Config) error {
	isOwn := c.IsAsync() || c.IsIsolated() || c.Averages()
	memory, most, times := map[int]int64{}, 1, []time.Duration(nil) // peaks by rank, samples of a batch
	perEpoch := 0                                                   // steps; 0: the first has not ended
	for r := bufio.NewReader(lines); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var l record.Step
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		s.BytesSent += l.BytesSent
		s.BytesReceived += l.BytesReceived
		memory[l.Rank] = max(memory[l.Rank], l.RSSBytes)
		if l.Rank == 0 || isOwn {
			s.Samples += int64(l.Samples)
		}
		if l.Rank == 0 {
			s.Seconds += float64(l.Seconds)
			s.Phases.Add(l.Phases)
			times = append(times, Seconds(float64(l.Seconds)))
		} else if !c.IsAsync() {
			continue
		}
		if l.Epoch == 1 && (perEpoch == 0 || l.Step < perEpoch) {
			perEpoch = l.Step
		}
		if s.Steps == 0 || l.Step == 0 {
			s.Loss.First = float64(l.Loss)
		}
		if l.Step >= s.Steps {
			most = max(most, l.Samples)
			s.Loss.Last = train.LossAfter(s.Loss.Last, float64(l.Loss), l.Samples, most)
			s.Steps, s.Epochs = l.Step+1, float64(l.Epoch)
		}
	}
	if perEpoch > 0 {
		s.Epochs = float64(s.Steps) / float64(perEpoch)
	}
	s.TrainSeconds, s.StepMS = s.Seconds, StepQuantiles(times)
	for _, bytes := range memory {
		s.PeakRSSBytes += bytes
	}
	if s.Seconds > 0 {
		s.SamplesPerSecond = float64(s.Samples) / s.Seconds
	}
	return nil
}
