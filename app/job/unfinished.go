package job

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// Unended returns the newest checkpoint of the run in folder if that goes on or ended early, also after it
// was resumed; else "".
func Unended(folder string) string {
	d := rundir.Directory(folder)
	if _, err := os.Stat(d.Path(rundir.SummaryFile)); folder == "" || err == nil {
		return ""
	}
	newest, _, err := d.Store().Newest()
	if err != nil {
		return ""
	}
	return newest.Path
}

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

// OtherSettings says what the configuration in a run's folder has otherwise than its summary tells; "" if
// nothing, and where it cannot be read, as that of another version.
func OtherSettings(folder string, s *record.Summary) string {
	c, err := setting.ReadFile(rundir.Directory(folder).Path(rundir.ConfigFile))
	if err != nil {
		return ""
	}
	var is record.Summary
	AddSettings(&is, c)
	for _, v := range []struct { // a path of data may be whole here, and as it was given there
		name     string
		was, now any
	}{
		{"model", s.Model, is.Model}, {"data", filepath.Base(s.Data), filepath.Base(is.Data)},
		{"batch", s.Batch, is.Batch}, {"shards", s.Shards, is.Shards},
		{"lr", s.LearningRate, is.LearningRate}, {"seed", s.Seed, is.Seed}, {"math", s.Math, is.Math},
	} {
		if v.was != v.now {
			return fmt.Sprintf("config.yaml has %s %v, and summary.json tells of %v: one of them was "+
				"changed.", v.name, v.now, v.was)
		}
	}
	return ""
}

// unfinished is [Unfinished] of the run in d, whose newest checkpoint is given; nil: it has none.
func unfinished(d rundir.Directory, newest *Resumption) (*record.Summary, error) {
	c, err := setting.ReadFile(d.Path(rundir.ConfigFile))
	if err != nil {
		return nil, err
	}
	s := settingsOf(c, string(d))
	if newest != nil {
		s.Resumed = resumedBefore(c, d, newest)
	}
	f, err := regular.Open(d.Path(rundir.StepsFile))
	if err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	defer f.Close() // only read
	perEpoch, err := countSteps(s, f, c)
	if err != nil {
		return nil, fmt.Errorf("job: %s: %w", d.Path(rundir.StepsFile), err)
	}
	if newest != nil {
		k := newest.Kept
		s.Evaluations, s.Moves = k.Evaluations, k.Moves
		s.TestSamples, perEpoch = int64(k.TestSamples), c.StepsPerEpoch(k.TrainSamples)
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
	if perEpoch > 0 {
		s.Epochs = float64(s.Steps) / float64(perEpoch)
	}
	s.Standing = new(standingOf(d, newest, s.Steps))
	s.Standing.Planned = planned(c, perEpoch)
	return s, nil
}

// NotBegun returns a summary, marked IsInterrupted, of a run of c that ended before its first step. One that
// was resumed has its directory as it was: the summary tells what had been done before, and how to go on as c
// and its origins ask. Any other has left none.
func NotBegun(c setting.Config, origins setting.Origins) *record.Summary {
	if s := notResumed(c, origins); s != nil {
		return s
	}
	s := settingsOf(c, "")
	if s.Strategy == setting.Auto {
		s.Strategy = "" // none was chosen yet
	}
	if !c.EvalOnly { // which has no steps to go on with
		s.Standing = &record.Standing{Planned: planned(c, 0)}
	}
	return s
}

// notResumed is NotBegun of a run that c resumes; nil: it resumes none that can be read.
func notResumed(c setting.Config, origins setting.Origins) *record.Summary {
	if c.Resume == "" {
		return nil
	}
	d := rundir.Directory(c.Resume)
	newest, err := OpenNewest(d, func(string) {})
	if err != nil {
		return nil
	}
	s, err := unfinished(d, newest)
	if err != nil {
		return nil
	}
	s.Standing.Planned = planned(c, c.StepsPerEpoch(newest.Kept.TrainSamples))
	s.Standing.Resume = ResumeCommand(d, origins.FromFlags(c)...)
	return s
}

// settingsOf returns what a summary of a run of c tells before its first step.
func settingsOf(c setting.Config, directory string) *record.Summary {
	s := &record.Summary{Wire: c.GradientWire().String(), Directory: directory, IsInterrupted: true}
	AddSettings(s, c)
	s.Generated = slices.ContainsFunc(c.Datasets().List(), func(i data.Info) bool {
		return i.Name == c.Data && i.Generated
	})
	return s
}

// resumedBefore says what the run of c in d, with its newest checkpoint, had done before it was resumed; nil
// if it was not, as far as the checkpoint tells.
func resumedBefore(c setting.Config, d rundir.Directory, newest *Resumption) *record.Resumed {
	k := newest.Kept
	isLike := c.Workers == k.Config.Workers && c.Threads == k.Config.Threads &&
		c.Strategy == k.Config.Strategy
	isFirst := k.Progress.Step <= d.Host().ResumedStep // the last part of the run has written none
	if !isLike || isFirst {
		return newest.Summary() // it was resumed from this checkpoint
	}
	before := k.before()
	if before != nil && before.From != "" { // which may be on another host, or in a folder of another name
		before.From = filepath.Join(d.Path(rundir.CheckpointsFolder), filepath.Base(before.From))
	}
	return before
}

// addEvaluations adds to s what its evaluations tell: those that rank 0 made in the last part of the run took
// time.
func addEvaluations(s *record.Summary) {
	for _, e := range s.Evaluations {
		if e.Rank == 0 && (s.Resumed == nil || e.Steps > s.Resumed.Steps) {
			s.Phases.Evaluation += e.Seconds
			s.Seconds += e.Seconds
		}
	}
	if n := len(s.Evaluations); n > 0 {
		last := s.Evaluations[n-1]
		s.TestAccuracy, s.TestLoss = &last.Accuracy, new(float64(last.Loss))
		s.TestSamples = max(s.TestSamples, last.Samples)
	}
}

// planned words the length that a run of c was given; an epoch has so many steps, 0 if that is not known.
func planned(c setting.Config, perEpoch int) string {
	switch {
	case c.For != "":
		return c.For + " of training"
	case c.Steps > 0:
		return spelling.Count(c.Steps, "step")
	case perEpoch > 0:
		return spelling.Count(c.Epochs*perEpoch, "step")
	}
	return spelling.Count(c.Epochs, "epoch")
}

// countSteps adds up the lines that a run of c has in steps.jsonl, and skips a line that was not written
// completely. It returns the steps of the first epoch, 0 if that did not end. Steps of asynchronous workers
// are each of one of them; other workers take each step together, and some of those count their own samples
// only. Times, bytes and memory are those of the steps since the run was resumed.
func countSteps(s *record.Summary, lines io.Reader, c setting.Config) (perEpoch int, err error) {
	isOwn := c.IsAsync() || c.IsIsolated() || c.Averages()
	last, most := lastPart{memory: map[int]int64{}}, 0 // samples of a batch
	if s.Resumed != nil {
		last.from = s.Resumed.Steps
	}
	for r := bufio.NewReader(lines); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		var l record.Step
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		samples := int64(0)
		if l.Rank == 0 || isOwn {
			samples = int64(l.Samples)
		}
		s.Samples += samples
		if l.Step >= last.from {
			last.add(s, l, samples)
		}
		if l.Rank == 0 && l.Step < last.from {
			s.TrainSeconds += float64(l.Seconds)
		}
		if l.Rank > 0 && !c.IsAsync() {
			continue
		}
		if s.Steps == 0 || l.Step == 0 {
			s.Loss.First = float64(l.Loss)
		}
		if l.Step >= s.Steps {
			most = max(most, l.Samples, 1)
			s.Loss.Last = train.LossAfter(s.Loss.Last, float64(l.Loss), l.Samples, most)
			s.Steps, s.Epochs = l.Step+1, float64(l.Epoch)
		}
		if l.Epoch == 1 && (perEpoch == 0 || l.Step < perEpoch) {
			perEpoch = l.Step
		}
	}
	last.end(s)
	return perEpoch, nil
}

// lastPart adds up the steps since a run was resumed; all if it was not.
type lastPart struct {
	from    int // the first of them
	samples int64
	memory  map[int]int64   // peak by rank
	times   []time.Duration // of rank 0
}

// add adds a line of a step, in which so many samples count.
func (p *lastPart) add(s *record.Summary, l record.Step, samples int64) {
	s.BytesSent += l.BytesSent
	s.BytesReceived += l.BytesReceived
	p.memory[l.Rank] = max(p.memory[l.Rank], l.RSSBytes)
	p.samples += samples
	if l.Rank == 0 {
		s.Seconds += float64(l.Seconds)
		s.Phases.Add(l.Phases)
		p.times = append(p.times, Seconds(float64(l.Seconds)))
	}
}

// end completes s, which has the seconds of the steps.
func (p *lastPart) end(s *record.Summary) {
	if s.Resumed != nil && s.Resumed.TrainSeconds > 0 {
		s.TrainSeconds = s.Resumed.TrainSeconds
	}
	s.TrainSeconds += s.Seconds
	s.StepMS = StepQuantiles(p.times)
	for _, bytes := range p.memory {
		s.PeakRSSBytes += bytes
	}
	if s.Seconds > 0 {
		s.SamplesPerSecond = float64(p.samples) / s.Seconds
	}
}
