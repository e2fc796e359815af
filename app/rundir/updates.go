package rundir

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"lockstep/app/record"
	"lockstep/internal/regular"
)

// UpdatesFile holds the order of an asynchronous run's updates.
const UpdatesFile = "updates.jsonl"

// UpdateLog writes the order of updates. It buffers lines for up to a second.
type UpdateLog struct {
	file     *os.File
	buffer   *bufio.Writer
	encoder  *json.Encoder
	flushed  time.Time
	isPrompt bool // keep nothing back
}

// OpenUpdateLog creates the directory's log with its first line, or opens that of a resumed run for
// appending; Reclaim has removed the lines of updates that are made again. With isPrompt it does not buffer,
// because a run that is killed can be resumed from a checkpoint and needs the lines before that.
func (d Directory) OpenUpdateLog(o record.Order, isPrompt bool) (*UpdateLog, error) {
	f, err := os.OpenFile(d.Path(UpdatesFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("run directory: update log: %w", err)
	}
	l := &UpdateLog{file: f, buffer: bufio.NewWriter(f), isPrompt: isPrompt}
	l.encoder = json.NewEncoder(l.buffer)
	if d.size(UpdatesFile) == 0 {
		err = l.write(o)
	}
	return l, err
}

// cutUpdates removes from updates.jsonl the lines from the given update on, and a last line that was not
// finished, whatever makes these updates again: a log of a history that was given up would look whole.
func (d Directory) cutUpdates(done int) error {
	length, err := keptLength(d.Path(UpdatesFile), done)
	if err != nil {
		return present(err) // without the file, no part of the run was asynchronous
	}
	return os.Truncate(d.Path(UpdatesFile), length)
}

// keptLength returns the length of the lines up to the last of so many updates.
func keptLength(path string, done int) (length int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for n := 0; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return 0, err
		}
		var u record.Update
		if err == io.EOF || n > 0 && (json.Unmarshal(line, &u) != nil || u.Update >= done) {
			return length, nil
		}
		length += int64(len(line))
	}
}

// Add appends the line of an update.
func (l *UpdateLog) Add(u record.Update) error { return l.write(u) }

func (l *UpdateLog) write(line any) error {
	err := l.encoder.Encode(line)
	if now := time.Now(); err == nil && (l.isPrompt || now.Sub(l.flushed) >= time.Second) {
		l.flushed = now
		err = l.buffer.Flush()
	}
	if err != nil {
		return fmt.Errorf("run directory: update log: %w", err)
	}
	return nil
}

// Close writes what is buffered and closes the file.
func (l *UpdateLog) Close() error { return errors.Join(l.buffer.Flush(), l.file.Close()) }

// ReadUpdates reads an update log, without the gradients that were dropped.
func ReadUpdates(path string) (o record.Order, updates []record.Update, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return o, nil, err
	}
	defer f.Close()
	lines := json.NewDecoder(bufio.NewReader(f))
	if err := lines.Decode(&o); err != nil || o.Settings == nil {
		return o, nil, fmt.Errorf("%s is no %s: its first line does not describe a run", path, UpdatesFile)
	}
	for {
		var u record.Update
		switch err := lines.Decode(&u); {
		case err == io.EOF:
			return o, updates, nil
		case err != nil:
			return o, nil, fmt.Errorf("%s: line %d: %w", path, len(updates)+2, err)
		case !u.Dropped:
			updates = append(updates, u)
		}
	}
}
