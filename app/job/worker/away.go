package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"

	"lockstep/app/job"
	"lockstep/app/rundir"
	"lockstep/internal/tail"
)

// Note: ranks away
//
// The run directory is on the launcher's host. A rank on another one, where the launcher's agent has started
// it, writes its logs of steps, events and spans to a folder of its own there. A courier sends what is new in
// that folder over the control connection every second, and at the end, so that the run directory holds the
// files of all ranks. A rank that is killed loses what it wrote in its last second.

const (
	courierEvery = time.Second // between two looks of a courier at what is new
	partBytes    = 32 << 10    // of what it sends at once: as JSON, it fits a line of the control connection
)

// isAway reports whether a rank is on another host than the launcher.
func (a Assignment) isAway(rank int) bool { return a.Hosts != nil && a.Hosts[rank] != 0 }

// numHere returns how many workers are on the host of a rank.
func (a Assignment) numHere(rank int) int {
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
func (a *Assignment) settleAway(rank int, tell func(job.Notice)) (*courier, error) {
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
func newCourier(folder string, tell func(job.Notice)) *courier {
	return &courier{folder, tail.Follow(tail.Config{Folder: folder, Every: courierEvery,
		Bytes:      partBytes,
		KeepsLines: func(name string) bool { return path.Ext(name) == ".jsonl" },
		Send:       func(p tail.Part) { tell(job.Notice{Part: (*job.Part)(&p)}) }})}
}

// close sends the rest and removes the folder.
func (c *courier) close() error {
	return errors.Join(c.follower.Close(), os.RemoveAll(c.folder))
}
