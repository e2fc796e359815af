package job

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/internal/tail"
)

// Note: ranks away
//
// The run directory is on the launcher's host. A rank on another one, where the launcher's agent has started
// it, writes its logs of steps, events and spans to a folder of its own there. A courier sends what is new in
// that folder over the control connection every second, and at the end, so that the run directory holds the
// files of all ranks. A rank that is killed loses what it wrote in its last second.

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
	folder   string
	follower *tail.Follower
}

// newCourier returns a courier at work. Of lines, which several ranks write to one file, it sends whole ones
// only.
func newCourier(folder string, tell func(notice)) *courier {
	return &courier{folder, tail.Follow(tail.Config{Folder: folder, Every: courierEvery, Bytes: partBytes,
		KeepsLines: func(name string) bool { return path.Ext(name) == ".jsonl" },
		Send:       func(p tail.Part) { tell(notice{Part: &p}) }})}
}

// close sends the rest and removes the folder.
func (c *courier) close() error {
	return errors.Join(c.follower.Close(), os.RemoveAll(c.folder))
}

// keep appends a part to its file in the run directory, and writes nothing outside of that.
func (r *heard) keep(p tail.Part) error {
	isEvents, _ := path.Match(eventsPattern, p.Name) // the pattern is well formed
	isLines := p.Name == rundir.StepsFile || p.Name == rundir.UpdatesFile
	if !isLines && !isEvents && !rundir.IsRecording(p.Name) {
		return fmt.Errorf("job: %.80q is no file that a worker writes", p.Name)
	}
	if p.Name == rundir.UpdatesFile {
		return r.dir.KeepUpdates(p.Bytes)
	}
	root, err := os.OpenRoot(string(r.dir))
	if err != nil {
		return err
	}
	defer root.Close() // it holds no data
	if err := root.MkdirAll(path.Dir(p.Name), 0o777); err != nil {
		return err
	}
	f, err := root.OpenFile(p.Name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
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
	for _, p := range paths {
		near, err := filepath.Rel(folder, *p)
		if filepath.IsAbs(*p) && err == nil && filepath.IsLocal(near) {
			*p = near
		}
	}
	return c, b
}
