package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Store is a folder with the checkpoints of one run: step-100 is the one after 100 steps. Only one
// process may write to it.
type Store struct {
	folder string
	disk   disk
}

// NewStore returns the store in a folder, which need not exist yet.
func NewStore(folder string) *Store { return &Store{folder, system{}} }

// Kept is how many checkpoints a store keeps.
const Kept = 2

const (
	stepPrefix      = "step-"
	temporaryPrefix = ".tmp-" // of a folder that is not a checkpoint yet, or no longer one
)

// File is a safetensors file to be written.
type File struct {
	Name     string
	Entries  []Entry
	Metadata map[string]string
}

// Commit writes a checkpoint entirely or not at all, and removes all others but the newest one
// before it. run is the state of the run itself and is encoded as JSON.
//
// Commit writes to a temporary folder: each file, synced, then the manifest, synced. It syncs and
// renames the folder, syncs the parent, and reads everything back. Only then does it remove others.
// If the process or the machine stops at any point, the newest valid checkpoint is this one or the
// one before. Errors are *WriteError.
func (s *Store) Commit(step int, run any, files []File) (*Checkpoint, error) {
	path := s.path(step)
	temporary := filepath.Join(s.folder, temporaryPrefix+filepath.Base(path))
	c, err := s.commit(temporary, path, step, run, files)
	if err != nil {
		_ = s.disk.Remove(temporary) // the first error is the one to report
		return nil, &WriteError{path, err}
	}
	if err := s.prune(step); err != nil {
		return nil, &WriteError{path, fmt.Errorf("remove older checkpoints: %w", err)}
	}
	return c, nil
}

func (s *Store) path(step int) string {
	return filepath.Join(s.folder, stepPrefix+strconv.Itoa(step))
}

// commit writes the checkpoint without removing others.
func (s *Store) commit(temporary, path string, step int, run any, files []File) (*Checkpoint, error) {
	if err := s.disk.MakeFolder(s.folder); err != nil {
		return nil, err
	}
	if err := s.disk.SyncFolder(filepath.Dir(s.folder)); err != nil {
		return nil, err
	}
	if err := s.disk.Remove(temporary); err != nil { // left by a process that was killed
		return nil, err
	}
	if err := s.disk.MakeFolder(temporary); err != nil {
		return nil, err
	}
	if err := s.fill(temporary, step, run, files); err != nil {
		return nil, err
	}
	// A folder of that name is damaged: a run continues from the newest valid checkpoint.
	if err := s.disk.Remove(path); err != nil {
		return nil, err
	}
	if err := s.disk.Rename(temporary, path); err != nil {
		return nil, err
	}
	if err := s.disk.SyncFolder(s.folder); err != nil {
		return nil, err
	}
	return OpenCheckpoint(path)
}

// fill writes and syncs all files of a checkpoint, the manifest last.
func (s *Store) fill(folder string, step int, run any, files []File) error {
	text, err := json.Marshal(run)
	if err != nil {
		return err
	}
	m := Manifest{Format: manifestFormat, Version: manifestVersion, Step: step, Run: text}
	for _, f := range files {
		part := Part{Name: f.Name}
		err := s.write(filepath.Join(folder, f.Name), func(w *countingWriter) (err error) {
			part.SHA256, err = encode(w, f.Entries, f.Metadata)
			part.Bytes = w.n
			return err
		})
		if err != nil {
			return err
		}
		m.Files = append(m.Files, part)
	}
	text, err = m.encode()
	if err != nil {
		return err
	}
	err = s.write(filepath.Join(folder, ManifestFile), func(w *countingWriter) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return s.disk.SyncFolder(folder)
}

// write writes and syncs one file.
func (s *Store) write(path string, fill func(*countingWriter) error) error {
	f, err := s.disk.Create(path)
	if err != nil {
		return err
	}
	w := newBuffer(f)
	err = fill(&countingWriter{w: w})
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// prune removes everything except the checkpoint of step and the newest ones before it: older ones,
// damaged ones of later steps, and what a killed process left.
func (s *Store) prune(step int) error {
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return err
	}
	steps, _ := s.steps()
	at := slices.Index(steps, step)
	kept := steps[at:min(at+Kept, len(steps))]
	for _, e := range entries {
		name := e.Name()
		number, isStep := stepOf(name)
		if isStep && slices.Contains(kept, number) ||
			!isStep && !strings.HasPrefix(name, temporaryPrefix) {
			continue
		}
		path := filepath.Join(s.folder, name)
		if isStep { // a part of it must not look like a checkpoint
			condemned := filepath.Join(s.folder, temporaryPrefix+name)
			if err := s.disk.Rename(path, condemned); err != nil {
				return err
			}
			path = condemned
		}
		if err := s.disk.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// steps lists the steps that have a folder, valid or not, newest first.
func (s *Store) steps() ([]int, error) {
	entries, err := os.ReadDir(s.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &ReadError{err}
	}
	var steps []int
	for _, e := range entries {
		if step, ok := stepOf(e.Name()); ok {
			steps = append(steps, step)
		}
	}
	slices.Sort(steps)
	slices.Reverse(steps)
	return steps, nil
}

// stepOf parses the step in the name of a checkpoint's folder.
func stepOf(name string) (step int, ok bool) {
	digits, ok := strings.CutPrefix(name, stepPrefix)
	step, err := strconv.Atoi(digits)
	return step, ok && err == nil && step >= 0 && strconv.Itoa(step) == digits
}

// Newest returns the newest intact checkpoint, and the fault of each newer one.
// Errors: *NoneError if there is none, *ReadError.
func (s *Store) Newest() (c *Checkpoint, faults []error, err error) {
	steps, err := s.steps()
	if err != nil {
		return nil, nil, err
	}
	for _, step := range steps {
		c, err := OpenCheckpoint(s.path(step))
		if err == nil && c.Step != step {
			err = &FormatError{File: c.Path, Offset: -1,
				Reason: fmt.Sprintf("is the checkpoint of step %d by its manifest", c.Step)}
		}
		if err == nil {
			return c, faults, nil
		}
		faults = append(faults, err)
	}
	return nil, faults, &NoneError{Folder: s.folder, Tried: faults}
}

// Count returns the number of checkpoints, valid or not.
func (s *Store) Count() int {
	steps, _ := s.steps()
	return len(steps)
}
