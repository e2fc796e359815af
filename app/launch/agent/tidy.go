package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

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
