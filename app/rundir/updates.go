package rundir

import (
	"bufio"
	"bytes"
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

// UpdateLog writes the order of updates, in whole lines that it buffers for up to a second. After an error it
// writes nothing more and leaves the last line of the file unfinished, because the log would otherwise look
// like that of a shorter run.
type UpdateLog struct {
	file     *os.File
	length   int64 // of the file
	buffer   bytes.Buffer
	encoder  *json.Encoder // into buffer
	wrote    time.Time
	err      error // the first
	isPrompt bool  // keep nothing back
}

// OpenUpdateLog creates the directory's log with its first line, or opens that of a resumed run for
// appending; Reclaim has removed the lines of updates that are made again. With isPrompt it does not buffer,
// because a run that is killed can be resumed from a checkpoint and needs the lines before that.
func (d Directory) OpenUpdateLog(o record.Order, isPrompt bool) (*UpdateLog, error) {
	f, err := os.OpenFile(d.Path(UpdatesFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("run directory: update log: %w", err)
	}
	l := &UpdateLog{file: f, length: d.size(UpdatesFile), isPrompt: isPrompt}
	l.encoder = json.NewEncoder(&l.buffer)
	if l.length == 0 {
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

// Add appends the line of an update. It returns the first error of the log.
func (l *UpdateLog) Add(u record.Update) error { return l.write(u) }

func (l *UpdateLog) write(line any) error {
	if l.err != nil {
		return l.err
	}
	l.fail(l.encoder.Encode(line))
	if l.isPrompt || time.Since(l.wrote) >= stepLogDelay {
		l.flush()
	}
	return l.err
}

func (l *UpdateLog) flush() {
	if l.err == nil {
		_, err := l.file.Write(l.buffer.Bytes())
		l.fail(err)
	}
	if l.err == nil {
		l.length += int64(l.buffer.Len())
	}
	l.buffer.Reset()
	l.wrote = time.Now()
}

// fail notes the first error, unless err is nil.
func (l *UpdateLog) fail(err error) {
	if err == nil || l.err != nil {
		return
	}
	l.err = errors.Join(err, leaveUnfinished(l.file.Name(), l.length))
}

// leaveUnfinished cuts an update log within the last line of its first length bytes, which are whole lines.
func leaveUnfinished(path string, length int64) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return present(err) // a device holds no lines
	}
	return os.Truncate(path, max(0, length-1))
}

// Close writes what is buffered and closes the file. It returns the first error of the log.
func (l *UpdateLog) Close() error {
	l.flush()
	l.fail(l.file.Close())
	return l.err
}

// KeepUpdates appends whole lines that another host wrote to the log. After an error the log is as that of an
// UpdateLog, and takes no more lines.
func (d Directory) KeepUpdates(lines []byte) error {
	length := d.size(UpdatesFile)
	f, err := os.OpenFile(d.Path(UpdatesFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, leaveUnfinished(d.Path(UpdatesFile), length))
	}
	return err
}

// errUnfinished is the error of a log that does not end with a whole line.
var errUnfinished = errors.New("is not whole: its last line is not finished, because its run was killed or " +
	"could not write it, as on a full disk")

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
		case err == io.EOF && endsLine(f):
			return o, updates, nil
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return o, nil, fmt.Errorf("%s %w", path, errUnfinished)
		case err != nil:
			return o, nil, fmt.Errorf("%s: line %d: %w", path, len(updates)+2, err)
		case !u.Dropped:
			updates = append(updates, u)
		}
	}
}

// endsLine reports whether the last byte of a file ends a line.
func endsLine(f *os.File) bool {
	var last [1]byte
	info, err := f.Stat()
	if err == nil {
		_, err = f.ReadAt(last[:], info.Size()-1)
	}
	return err == nil && last[0] == '\n'
}
