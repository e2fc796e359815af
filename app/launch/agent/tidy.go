package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockstep/internal/regular"
)

// Note: job folders
//
// A job has a folder of its own on every host, which the console removes when it has fetched the results.
// The agent claims it: it holds a lock on a file in it for as long as it lives. A folder that nobody has
// locked was left behind. It goes when its agent ends or another one starts, unless the command of the job
// ran there: its checkpoints and results are kept for a month, to be fetched by hand. Several agents may
// have claimed the same folder, where hosts share their homes.

const (
	ownerFile = ".lockstep-owner"   // is locked, and empty unless the folder holds results
	emptyAge  = time.Hour           // after which a folder without results goes that nobody claims
	jobAge    = 30 * 24 * time.Hour // after which results that nobody has fetched go
)

// claim makes a job's folder and returns the file that keeps it until it is closed. Where there are no locks,
// the folder is kept by its age.
func claim(folder string) (*os.File, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(folder, ownerFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		regular.TryLock(f, true)
	}
	return f, err
}

// keepResults lets the folder of a claim stay when its agent is gone.
func keepResults(claim *os.File) error {
	_, err := claim.WriteString("the command of the job ran here\n")
	return err
}

// sweep removes a job's folder that nobody claims and that was used so long ago, if it is of no more use.
func sweep(folder string, unused time.Duration) {
	age := jobAge
	if f, err := os.OpenFile(filepath.Join(folder, ownerFile), os.O_WRONLY, 0); err == nil {
		defer f.Close() // nothing was written
		isFree, err := regular.TryLock(f, false)
		if !isFree && err == nil {
			return
		}
		if info, failed := f.Stat(); err == nil && failed == nil && info.Size() == 0 {
			age = emptyAge
		}
	}
	if unused >= age {
		os.RemoveAll(folder)
	}
}

const (
	keptPrograms = 4              // besides those of the last day
	programAge   = 24 * time.Hour // after which an unused program may go; a job may use one for longer
)

// Tidy removes what nobody needs from the cache of this host: programs that other versions of the console
// have copied there, all but the newest, parts of programs that did not arrive, and folders of jobs whose
// agent is gone (Note: job folders). program is that of this process, which stays and becomes the newest; if
// it was not copied there, programs stay. What cannot be removed stays.
func Tidy(program, jobs string, now time.Time) {
	own := filepath.Dir(program)
	if bin := filepath.Dir(own); filepath.Base(bin) == "bin" && len(filepath.Base(own)) == 64 {
		os.Chtimes(own, now, now)
		tidyPrograms(bin, own, now)
	}
	for _, job := range byAge(jobs) {
		sweep(job.path, now.Sub(job.used))
	}
}

// tidyPrograms removes old programs.
func tidyPrograms(bin, own string, now time.Time) {
	for i, folder := range byAge(bin) {
		if i >= keptPrograms && folder.path != own && now.Sub(folder.used) > programAge {
			os.RemoveAll(folder.path)
			continue
		}
		for _, part := range byAge(folder.path) {
			if strings.HasPrefix(filepath.Base(part.path), "new.") && now.Sub(part.used) > programAge {
				os.Remove(part.path)
			}
		}
	}
}

// entry is something in a folder, and when it was used last.
type entry struct {
	path string
	used time.Time
}

// byAge returns what is in a folder, the newest first.
func byAge(folder string) []entry {
	var all []entry
	names, _ := os.ReadDir(folder) // what cannot be read is not tidied
	for _, e := range names {
		if info, err := e.Info(); err == nil {
			all = append(all, entry{filepath.Join(folder, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return b.used.Compare(a.used) })
	return all
}
