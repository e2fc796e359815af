package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"lockstep/internal/regular"
)

// Fetch names a file or folder of results of a job.
type Fetch struct {
	Folder    string `json:"folder"` // of the job
	Name      string `json:"name"`   // below it
	IsResumed bool   `json:"-"`      // it is that of a run that has gone on, and replaces what is there
}

// Send answers a Fetch that it reads from in, with an archive of what is below the folder of jobs.
func Send(in io.Reader, out io.Writer, jobs string) error {
	text, err := bufio.NewReader(io.LimitReader(in, maxLine)).ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read what to send: %w", err)
	}
	var f Fetch
	if err := json.Unmarshal(text, &f); err != nil {
		return fmt.Errorf("read what to send: %w", err)
	}
	if !filepath.IsLocal(f.Folder) {
		return fmt.Errorf("folder %.80q is not below that of jobs", f.Folder)
	}
	return Pack(out, filepath.Join(jobs, f.Folder), f.Name)
}

// Fetch fetches results from the host of a connection, as Take does. The error is a *HostError if the host
// is lost, or if nothing comes from it for half a minute.
func (c Console) Fetch(ctx context.Context, a *Connection, f Fetch, to string) error {
	s, err := c.stream(ctx, a, Argument, "--send")
	if err != nil {
		return err
	}
	defer s.Close() // it is read to its end
	heard := &listener{stream: s, moves: c.watch(s.carrier)}
	err = Take(heard, f, to)
	isStalled := heard.moves.end()
	s.Close() // all its words are there then
	where := path.Join(a.Hello.Jobs, f.Folder)
	lost := &HostError{Host: a.Host.Name, IsLost: true}
	switch {
	case err == nil:
		return nil
	case isStalled:
		lost.Text = fmt.Sprintf("nothing of the results, which stay in %s there, has come for %v: its disk "+
			"or the connection hangs", where, heard.moves.limit)
	case ctx.Err() == nil && heard.err != nil:
		lost.Text = fmt.Sprintf("the results, which stay in %s there, did not come: %v%s", where, heard.err,
			said(s.words.last()))
	default:
		return fmt.Errorf("host %s: fetch the results, which stay in %s there: %w", a.Host.Name, where, err)
	}
	return lost
}

// listener is a stream that is watched while it is read.
type listener struct {
	*stream
	moves *movement
	err   error // of reading or writing
}

// Read reads. Only the time that it takes counts: a slow disk here is no fault of the host.
func (l *listener) Read(p []byte) (int, error) {
	l.moves.noted(0)
	defer l.moves.pause()
	n, err := l.stream.Read(p)
	l.err = err
	return n, err
}

// Write writes.
func (l *listener) Write(p []byte) (int, error) {
	n, err := l.stream.Write(p)
	if err != nil {
		l.err = err
	}
	return n, err
}

// Take asks for results over a stream to Send and puts them below the folder to, which must exist and be
// on the disk of their place. They appear there at once, and take the place of nothing but an empty folder,
// unless the run was resumed.
func Take(stream io.ReadWriter, f Fetch, to string) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if _, err := stream.Write(append(text, '\n')); err != nil {
		return err
	}
	scratch, remove, err := regular.MakeFolder(to, "results")
	if err != nil {
		return err
	}
	defer remove()
	if err := Unpack(stream, scratch); err != nil {
		return err
	}
	from, target := filepath.Join(scratch, f.Name), filepath.Join(to, f.Name)
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return err
	}
	if f.IsResumed {
		return replace(from, target)
	}
	// Remove takes nothing but an empty folder away.
	if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is no longer empty, and stays as it is: %w", target, err)
	}
	return os.Rename(from, target)
}

// replace renames a folder to a name that may be taken.
func replace(from, to string) error {
	old := from + ".old"
	if err := os.Rename(to, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return errors.Join(err, os.Rename(old, to))
	}
	return os.RemoveAll(old)
}
