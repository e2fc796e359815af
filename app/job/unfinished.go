package job

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/internal/regular"
	"lockstep/internal/spelling"
)

// EndedError is the error of a run that ended early and has left a run directory.
type EndedError struct {
	Directory string
	Err       error
}

// Error returns the text of Err.
func (e *EndedError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *EndedError) Unwrap() error { return e.Err }

// HasSteps reports whether folder is the directory of a run that has done steps.
func HasSteps(folder string) bool {
	info, err := os.Stat(rundir.Directory(folder).Path(rundir.StepsFile))
	return err == nil && info.Size() > 0
}

// Standing says where a run that has ended early can go on.
type Standing struct {
	Checkpoint string    `json:"checkpoint"` // path of the newest valid one; "": none was written yet
	Step       int       `json:"step"`       // of the checkpoint
	Done       int       `json:"done"`       // steps that were done, at least Step
	Written    time.Time `json:"written"`    // when the checkpoint was, or the run began; zero: not known
}

// Stand returns where the run in folder can go on: at its newest checkpoint, or at its beginning if it was
// lost before it had written one. The error is that of opening checkpoints of which none is valid.
func Stand(folder string) (s Standing, err error) {
	d := rundir.Directory(folder)
	since := d.Path(rundir.ConfigFile)
	newest, err := openNewest(d, func(string) {})
	if none := (*checkpoint.NoneError)(nil); err != nil && !(errors.As(err, &none) && len(none.Tried) == 0) {
		return Standing{}, err
	}
	if err == nil {
		since, s.Checkpoint = newest.Path, newest.Path
		s.Step, s.Done = newest.Kept.Progress.Step, newest.Kept.Progress.Step
	}
	if info, err := os.Stat(since); err == nil {
		s.Written = info.ModTime()
	}
	if summary, err := Unfinished(folder); err == nil { // without lines of steps, no steps are known
		s.Done = max(s.Done, summary.Steps)
	}
	return s, nil
}

// Restart returns what it costs to go on there now, after something was lost.
func (s Standing) Restart(cause string, now time.Time) record.Restart {
	r := record.Restart{Cause: cause, Step: s.Step, Redone: s.Done - s.Step}
	if !s.Written.IsZero() {
		r.Seconds = now.Sub(s.Written).Seconds()
	}
	return r
}

// restarted says what restarts have cost; "" without any.
func restarted(all []record.Restart) string {
	if len(all) == 0 {
		return ""
	}
	redone, seconds := 0, 0.0
	for _, r := range all {
		redone += r.Redone
		seconds += r.Seconds
	}
	return fmt.Sprintf("%s after a loss (at last: %s): %s done again, %.1f s "+
		"lost", spelling.Count(len(all), "restart"),
		all[len(all)-1].Cause, spelling.Count(redone, "step"), seconds)
}

// Unfinished returns a summary, marked IsInterrupted, of a run that ended early or is still running. It is
// made from steps.jsonl and the newest checkpoint. Figures that are known only at
// the end are zero; times are those of rank 0's steps.
func Unfinished(folder string) (*record.Summary, error) {
	d := rundir.Directory(folder)
	c, err := setting.ReadFile(d.Path(rundir.ConfigFile))
	if err != nil {
		return nil, err
	}
	s := &record.Summary{Schema: record.Schema, Model: c.Model, Data: c.Data, Strategy: c.Strategy,
		Link: c.Link, Workers: c.Workers, Threads: c.Threads, Batch: c.Batch, Shards: c.Shards,
		Accumulate:   c.Accumulate,
		LearningRate: c.UpdateRule().LR, Wire: c.GradientWire().String(), Seed: c.Seed, Math: c.Math,
		TTA: c.TTA, For: c.For, Directory: folder, IsInterrupted: true}
	s.ISA, s.Device, s.SlowWorkers = c.ISA, c.Device, c.SlowWorkers.String()
	f, err := regular.Open(d.Path(rundir.StepsFile))
	if err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	defer f.Close() // only read
	if err := countSteps(s, f, c.IsIsolated() || c.Averages()); err != nil {
		return nil, fmt.Errorf("job: %s: %w", d.Path(rundir.StepsFile), err)
	}
	if newest, err := openNewest(d, func(string) {}); err == nil { // most runs have no checkpoint
		s.Evaluations = newest.Kept.Evaluations
		s.Moves, s.Growth = newest.Kept.Moves, newest.Kept.Growth
	}
	return s, nil
}

// countSteps adds up the lines of steps.jsonl and skips a line that was not written completely. isOwn says
// that each worker counts its own samples only.
func countSteps(s *record.Summary, lines io.Reader, isOwn bool) error {
	memory := map[int]int64{} // peak by rank
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
		if l.Rank > 0 {
			continue
		}
		if s.Steps == 0 {
			s.Loss.First = float64(l.Loss)
		}
		s.Steps, s.Epochs, s.Loss.Last = l.Step+1, float64(l.Epoch), float64(l.Loss)
		s.Seconds += float64(l.Seconds)
	}
	for _, bytes := range memory {
		s.PeakRSSBytes += bytes
	}
	s.TrainSeconds = s.Seconds
	if s.Seconds > 0 {
		s.SamplesPerSecond = float64(s.Samples) / s.Seconds
	}
	return nil
}
