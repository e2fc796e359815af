package job

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lockstep/app/rundir"
	"lockstep/app/setting"
)

// Note: ranks away
//
// The run directory is on the launcher's host. A rank on another one, where the launcher's agent has started
// it, writes its logs of steps, events and spans to a folder of its own there. A courier sends what is new in
// that folder over the control connection every second, and at the end, so that the run directory holds the
// files of all ranks. A rank that is killed loses what it wrote in its last second.

// part is a piece of a file of a rank that is away, which belongs at the end of the file with that name in
// the run directory.
type part struct {
	Name  string `json:"name"` // path in the run directory, with slashes
	Bytes []byte `json:"bytes"`
}

const (
	courierEvery = time.Second
	partBytes    = 32 << 10 // as JSON, it fits a line of the control connection
)

// isAway reports whether a rank is on another host than the launcher.
func (a assignment) isAway(rank int) bool { return a.Hosts != nil && a.Hosts[rank] != 0 }

// numHere returns how many workers are on the host of a rank.
func (a assignment) numHere(rank int) int {
	if a.Hosts == nil {
		return a.Config.Workers
	}
	n := 0
	for _, host := range a.Hosts[:a.Config.Workers] {
		if host == a.Hosts[rank] {
			n++
		}
	}
	return n
}

// settleAway gives a rank that is away a folder of its own in place of the run directory, and returns its
// courier. The data of its host is that which the host's environment names, unless the folder that the run
// names is there too.
func (a *assignment) settleAway(rank int, tell func(notice)) (*courier, error) {
	folder, err := os.MkdirTemp(".", fmt.Sprintf("rank%d-", rank))
	if err != nil {
		return nil, fmt.Errorf("job: rank %d: %w", rank, err)
	}
	a.Directory = rundir.Directory(folder)
	if _, err := os.Stat(a.Config.DataDir); errors.Is(err, fs.ErrNotExist) {
		a.Config.DataDir = ""
	}
	return newCourier(folder, tell), nil
}

// courier sends the files of a folder to the launcher while they grow.
type courier struct {
	folder  string
	tell    func(notice)
	sent    map[string]int64 // bytes by name
	stop    chan struct{}
	running sync.WaitGroup
}

// newCourier returns a courier at work.
func newCourier(folder string, tell func(notice)) *courier {
	c := &courier{folder: folder, tell: tell, sent: map[string]int64{}, stop: make(chan struct{})}
	c.running.Go(func() {
		tick := time.NewTicker(courierEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				c.carry() // what fails now is tried again
			case <-c.stop:
				return
			}
		}
	})
	return c
}

// close sends the rest and removes the folder.
func (c *courier) close() error {
	close(c.stop)
	c.running.Wait()
	return errors.Join(c.carry(), os.RemoveAll(c.folder))
}

// carry sends what is new in all files.
func (c *courier) carry() error {
	return filepath.WalkDir(c.folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(c.folder, path)
		if err != nil {
			return err
		}
		return c.carryFile(path, filepath.ToSlash(name))
	})
}

// carryFile sends what is new in one file. Of lines, which several ranks write to one file, it sends whole
// ones only.
func (c *courier) carryFile(path, name string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	buffer := make([]byte, partBytes)
	for {
		n, err := f.ReadAt(buffer, c.sent[name])
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if strings.HasSuffix(name, ".jsonl") {
			n = bytes.LastIndexByte(buffer[:n], '\n') + 1
		}
		if n == 0 {
			return nil
		}
		c.tell(notice{Part: &part{name, buffer[:n]}})
		c.sent[name] += int64(n)
	}
}

// keep appends a part to its file in the run directory.
func (r *heard) keep(p part) error {
	name := filepath.FromSlash(p.Name)
	isKnown := name == rundir.StepsFile || name == rundir.UpdatesFile || rundir.IsRecording(name) ||
		filepath.IsLocal(name) && strings.HasPrefix(p.Name, eventsFolder+"/")
	if !isKnown {
		return fmt.Errorf("job: %q is no file that a worker writes", p.Name)
	}
	path := r.dir.Path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(p.Bytes)
	return errors.Join(err, f.Close())
}

// relative returns c and b with paths below folder relative to it, which is the current one of every process
// of the run.
func relative(c setting.Config, b beginning, folder string) (setting.Config, beginning) {
	paths := []*string{&c.DataDir, &c.Vocab, &c.Weights}
	if c.Datasets().IsPath(c.Data) {
		paths = append(paths, &c.Data)
	}
	if b.Weights != nil {
		w := *b.Weights
		b.Weights = &w
		paths = append(paths, &w.Path)
	}
	if b.Resumed != nil {
		r := *b.Resumed
		b.Resumed = &r
		paths = append(paths, &r.Path)
	}
	for _, path := range paths {
		near, err := filepath.Rel(folder, *path)
		if filepath.IsAbs(*path) && err == nil && filepath.IsLocal(near) {
			*path = near
		}
	}
	return c, b
}
