package rundir

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"time"

	"lockstep/app/host"
	"lockstep/trace"
	"lockstep/train"
)

// StepLog appends one line per step to a file that several processes share. It writes whole
// lines only, which O_APPEND keeps apart, and keeps up to a buffer full back for a second. After an
// error it writes nothing more.
type StepLog struct {
	file     *os.File
	buffer   []byte
	wrote    time.Time
	err      error // the first
	isPrompt bool  // keep nothing back
}

const (
	stepLogBytes = 64 << 10
	stepLogDelay = time.Second
	stepLineRoom = 1 << 10 // more than the longest line
)

// OpenStepLog opens the directory's step log, which may be there, to add to it. If it isPrompt it keeps
// nothing back: a run that is killed can be resumed, and its lines are wanted.
func (d Directory) OpenStepLog(isPrompt bool) (*StepLog, error) {
	f, err := os.OpenFile(d.Path(StepsFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("run directory: step log: %w", err)
	}
	return &StepLog{file: f, isPrompt: isPrompt, buffer: make([]byte, 0, stepLogBytes),
		wrote: time.Now()}, nil
}

// Add appends a step's line: a JSON object with the fields of train.Step, times in seconds, and
// what this worker took for the step: bytes and processor time in usage_seconds, see [host.Usage].
// own_loss is null where the rank had no sample. It allocates nothing.
func (l *StepLog) Add(rank int, s train.Step, u host.Usage) {
	b := append(l.buffer, `{"rank":`...)
	b = strconv.AppendInt(b, int64(rank), 10)
	b = append(b, `,"step":`...)
	b = strconv.AppendInt(b, int64(s.Number), 10)
	b = append(b, `,"epoch":`...)
	b = strconv.AppendInt(b, int64(s.Epoch), 10)
	b = append(b, `,"loss":`...)
	b = strconv.AppendFloat(b, s.Loss, 'g', -1, 64)
	b = append(b, `,"own_loss":`...)
	if math.IsNaN(s.OwnLoss) {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendFloat(b, s.OwnLoss, 'g', -1, 64)
	}
	b = append(b, `,"samples":`...)
	b = strconv.AppendInt(b, int64(s.Samples), 10)
	b = append(b, `,"rate":`...)
	b = strconv.AppendFloat(b, s.Rate, 'g', -1, 64)
	b = append(b, `,"seconds":`...)
	b = strconv.AppendFloat(b, s.Time.Seconds(), 'g', -1, 64)
	b = append(b, `,"phases":{`...)
	for p, d := range s.Phases {
		if p > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, trace.Phase(p).String()...)
		b = append(b, `":`...)
		b = strconv.AppendFloat(b, d.Seconds(), 'g', -1, 64)
	}
	b = append(b, `},"bytes_sent":`...)
	b = strconv.AppendInt(b, u.Sent, 10)
	b = append(b, `,"bytes_received":`...)
	b = strconv.AppendInt(b, u.Received, 10)
	b = append(b, `,"usage_seconds":`...)
	b = strconv.AppendFloat(b, u.Wall.Seconds(), 'g', -1, 64)
	b = append(b, `,"cpu_seconds":`...)
	b = strconv.AppendFloat(b, u.CPU.Seconds(), 'g', -1, 64)
	b = append(b, `,"rss_bytes":`...)
	b = strconv.AppendInt(b, u.RSS, 10)
	l.buffer = append(b, "}\n"...)
	if l.isPrompt || len(l.buffer) > stepLogBytes-stepLineRoom || time.Since(l.wrote) > stepLogDelay {
		l.flush()
	}
}

// Err returns the first error of the log.
func (l *StepLog) Err() error { return l.err }

func (l *StepLog) flush() {
	if l.err == nil {
		_, l.err = l.file.Write(l.buffer)
	}
	l.buffer = l.buffer[:0]
	l.wrote = time.Now()
}

// Close writes what is left and reports the first error of the log.
func (l *StepLog) Close() error {
	l.flush()
	if err := l.file.Close(); l.err == nil {
		l.err = err
	}
	return l.err
}

// cutSteps removes from steps.jsonl the lines of the given step and of later ones, and a last line
// that was not finished.
func (d Directory) cutSteps(step int) error {
	old, err := os.Open(d.Path(StepsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer old.Close() // only read
	kept, err := os.Create(d.Path("." + StepsFile))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(kept)
	for lines := bufio.NewReader(old); err == nil; {
		var line []byte
		line, err = lines.ReadBytes('\n')
		var l struct{ Step int }
		if err == nil && json.Unmarshal(line, &l) == nil && l.Step < step {
			_, err = w.Write(line)
		}
	}
	if errors.Is(err, io.EOF) {
		err = w.Flush()
	}
	if err = errors.Join(err, kept.Close()); err != nil {
		os.Remove(kept.Name()) // the first error is the one to report
		return err
	}
	return os.Rename(kept.Name(), d.Path(StepsFile))
}
