package rundir

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"lockstep/app/record"
	"lockstep/internal/regular"
)

// UpdatesFile holds the order of an asynchronous run's updates.
const UpdatesFile = "updates.jsonl"

// UpdateLog writes the order of updates. After an error it leaves the last line of the file unfinished,
// because the log would otherwise look like that of a shorter run.
type UpdateLog struct{ *lineLog }

// OpenUpdateLog creates the directory's log with its first line, or opens that of a resumed run for
// appending; Reclaim has removed the lines of updates that are made again. With isPrompt it does not buffer.
func (d Directory) OpenUpdateLog(o record.Order, isPrompt bool) (*UpdateLog, error) {
	lines, err := d.openLines(UpdatesFile, isPrompt)
	if err != nil {
		return nil, err
	}
	l := &UpdateLog{lines}
	if d.size(UpdatesFile) == 0 {
		err = l.add(o)
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
func (l *UpdateLog) Add(u record.Update) error { return l.add(u) }

func (l *UpdateLog) add(line any) error {
	if l.err == nil && l.write(line) != nil {
		l.err = errors.Join(l.err, leaveUnfinished(l.file.Name()))
	}
	return l.err
}

// Close writes what is buffered and closes the file. It returns the first error of the log.
func (l *UpdateLog) Close() error {
	isWhole := l.err == nil
	if l.close() != nil && isWhole {
		l.err = errors.Join(l.err, leaveUnfinished(l.file.Name()))
	}
	return l.err
}

// leaveUnfinished takes the last byte from an update log, so that its last line is not finished.
func leaveUnfinished(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return present(err) // a device holds no lines
	}
	return os.Truncate(path, max(0, info.Size()-1))
}

// KeepUpdates appends whole lines that another host wrote to the log. After an error the log is as that of an
// UpdateLog, and takes no more lines.
func (d Directory) KeepUpdates(lines []byte) error {
	f, err := os.OpenFile(d.Path(UpdatesFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, leaveUnfinished(d.Path(UpdatesFile)))
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
