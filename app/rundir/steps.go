package rundir

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"lockstep/app/record"
	"lockstep/internal/regular"
)

// lineLog appends lines of JSON to a file that several processes may share. It writes only whole lines, with
// O_APPEND, so that lines do not mix, and buffers them for up to a second. After an error it writes nothing
// more.
type lineLog struct {
	file     *os.File
	buffer   bytes.Buffer
	encoder  *json.Encoder // into buffer
	wrote    time.Time
	err      error // the first
	isPrompt bool  // keep nothing back
}

const (
	logBytes = 64 << 10
	logDelay = time.Second
	lineRoom = 1 << 10 // more than the longest line
)

// openLines opens or creates a log for appending. With isPrompt it does not buffer, because a run that is
// killed can be resumed and needs its lines.
func (d Directory) openLines(name string, isPrompt bool) (*lineLog, error) {
	f, err := os.OpenFile(d.Path(name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("run directory: %s: %w", name, err)
	}
	l := &lineLog{file: f, isPrompt: isPrompt, wrote: time.Now()}
	l.encoder = json.NewEncoder(&l.buffer)
	return l, nil
}

// write appends a line to the buffer, and writes that when it is due. It returns the first error of the log.
func (l *lineLog) write(line any) error {
	l.err = cmp.Or(l.err, l.encoder.Encode(line))
	if l.isPrompt || l.buffer.Len() > logBytes-lineRoom || time.Since(l.wrote) > logDelay {
		l.flush()
	}
	return l.err
}

func (l *lineLog) flush() {
	if l.err == nil {
		_, l.err = l.file.Write(l.buffer.Bytes())
	}
	l.buffer.Reset()
	l.wrote = time.Now()
}

// Err returns the first error of the log.
func (l *lineLog) Err() error { return l.err }

// close writes what is left and returns the first error of the log.
func (l *lineLog) close() error {
	l.flush()
	l.err = cmp.Or(l.err, l.file.Close())
	return l.err
}

// StepLog is a log with a line for each step.
type StepLog struct {
	*lineLog
	held []record.Step // until what was lost in them is known
}

const stepsHeld = 256

// OpenStepLog opens or creates the directory's step log for appending; with isPrompt it does not buffer.
func (d Directory) OpenStepLog(isPrompt bool) (*StepLog, error) {
	l, err := d.openLines(StepsFile, isPrompt)
	if err != nil {
		return nil, err
	}
	return &StepLog{lineLog: l}, nil
}

// Add appends a step's line. With isShared the step's delayed and paused seconds are those of all steps since
// the last one that had some, and are shared among them by their times; a log without buffer does not.
func (l *StepLog) Add(s record.Step, isShared bool) {
	if l.isPrompt {
		l.write(&s)
		return
	}
	l.held = append(l.held, s)
	if isShared {
		share(l.held)
	}
	if isShared || len(l.held) == stepsHeld {
		l.release()
	}
}

// share spreads what the last step has of delays and pauses over all of them.
func share(steps []record.Step) {
	lost, total, exchange := steps[len(steps)-1].Parts, 0.0, 0.0
	for _, s := range steps {
		total, exchange = total+float64(s.Seconds), exchange+s.Phases.SyncExposed
	}
	if total == 0 {
		return
	}
	for i := range steps {
		s := &steps[i]
		part, late := float64(s.Seconds)/total, s.Phases.SyncExposed/max(exchange, 1e-12)
		s.DelayedSeconds, s.PausedSeconds = part*lost.DelayedSeconds, part*lost.PausedSeconds
		s.ExchangeDelayedSeconds = late * lost.ExchangeDelayedSeconds
	}
}

// release writes the lines that were held.
func (l *StepLog) release() {
	for i := range l.held {
		l.write(&l.held[i])
	}
	l.held = l.held[:0]
}

// Close writes what is left and reports the first error of the log.
func (l *StepLog) Close() error {
	l.release()
	return l.close()
}

// StepsSHA256 returns the SHA-256 of steps.jsonl, of no bytes if there is no such file.
func (d Directory) StepsSHA256() (string, error) {
	sum, err := regular.Hash(d.Path(StepsFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		none := sha256.Sum256(nil)
		return hex.EncodeToString(none[:]), nil
	case err != nil:
		return "", fmt.Errorf("run directory: step log: %w", err)
	}
	return sum, nil
}

// cutSteps removes from steps.jsonl the lines of the given step and of later ones, and a last line
// that was not finished. It writes in place, which a full disk has room for. Workers append in the order
// of steps, so few lines that stay follow the first that goes, and only these move.
func (d Directory) cutSteps(step int) error {
	f, err := os.OpenFile(d.Path(StepsFile), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	size, moved, err := stepsBefore(f, step)
	if err == nil {
		_, err = f.WriteAt(moved, size)
	}
	if err == nil {
		err = f.Truncate(size + int64(len(moved)))
	}
	return errors.Join(err, f.Close())
}

// stepsBefore finds the lines of steps before the given one: the first size bytes of steps hold nothing
// else, and moved are those that come later.
func stepsBefore(steps io.Reader, step int) (size int64, moved []byte, err error) {
	isHead := true
	for lines := bufio.NewReader(steps); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return size, moved, nil
		}
		if err != nil {
			return 0, nil, err
		}
		var l struct{ Step int }
		isKept := json.Unmarshal(line, &l) == nil && l.Step < step
		isHead = isHead && isKept
		switch {
		case isHead:
			size += int64(len(line))
		case isKept:
			moved = append(moved, line...)
		}
	}
}
