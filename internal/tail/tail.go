package tail

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Part is what has been added to a file.
type Part struct {
	Name  string `json:"name"` // path below the folder, with slashes
	Bytes []byte `json:"bytes"`
}

// Config says what is followed, and how.
type Config struct {
	Folder string        // it may come later
	Every  time.Duration // time between two looks
	Bytes  int           // of a part at most, at least 1
	// Send takes a part, in the order of its file. It owns the bytes only until it returns.
	Send func(Part)
	// KeepsLines reports whether the parts of a file are whole lines, which Bytes must hold; nil: of none.
	KeepsLines func(name string) bool
}

// Follower follows a folder until it is closed.
type Follower struct {
	Config
	sent    map[string]int64 // bytes by name
	stop    chan struct{}
	running sync.WaitGroup
}

// Follow returns a follower at work. Close it.
func Follow(c Config) *Follower {
	f := &Follower{Config: c, sent: map[string]int64{}, stop: make(chan struct{})}
	f.running.Go(func() {
		tick := time.NewTicker(c.Every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				f.lookAtAll() // what fails now is tried again
			case <-f.stop:
				return
			}
		}
	})
	return f
}

// Close sends the rest. The error joins those of files whose rest cannot be read.
func (f *Follower) Close() error {
	close(f.stop)
	f.running.Wait()
	return f.lookAtAll()
}

// lookAtAll sends what is new in every file, and joins the errors. The folder may be missing.
func (f *Follower) lookAtAll() error {
	var failed []error
	err := filepath.WalkDir(f.Folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(f.Folder, path)
		if err != nil {
			return err
		}
		failed = append(failed, f.look(path, filepath.ToSlash(name)))
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(append(failed, err)...)
}

// look sends what is new in one file.
func (f *Follower) look(path, name string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() // nothing was written
	buffer := make([]byte, f.Bytes)
	for {
		n, err := file.ReadAt(buffer, f.sent[name])
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if f.KeepsLines != nil && f.KeepsLines(name) {
			n = bytes.LastIndexByte(buffer[:n], '\n') + 1
		}
		if n == 0 {
			return nil
		}
		f.Send(Part{name, buffer[:n]})
		f.sent[name] += int64(n)
	}
}
