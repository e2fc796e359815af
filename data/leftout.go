package data

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"lockstep/internal/spelling"
)

// leftOut counts what lies in a folder of images and is not read.
type leftOut struct {
	files map[string]int // by ending
	notes []string       // of folders
}

// leave counts a file or notes a folder. Hidden files are not counted.
func (l *leftOut) leave(path string) {
	name := filepath.Base(path)
	switch {
	case isFolder(path) && !strings.HasPrefix(name, "."):
		l.note("folder " + plainName(name))
	case !isHidden(name):
		if l.files == nil {
			l.files = map[string]int{}
		}
		l.files[strings.ToLower(filepath.Ext(name))]++
	}
}

func (l *leftOut) note(text string) { l.notes = append(l.notes, text) }

// add adds what another has counted.
func (l *leftOut) add(other leftOut) {
	if l.files == nil {
		l.files = map[string]int{}
	}
	for ending, n := range other.files {
		l.files[ending] += n
	}
	l.notes = append(l.notes, other.notes...)
}

// String lists files by their endings, the most frequent first, and folders.
func (l leftOut) String() string {
	const most = 8
	endings := slices.SortedFunc(maps.Keys(l.files), func(a, b string) int {
		return cmp.Or(l.files[b]-l.files[a], strings.Compare(a, b))
	})
	total, kinds := 0, []string{}
	for _, ending := range endings {
		total += l.files[ending]
		kinds = append(kinds, fmt.Sprintf("%d %s", l.files[ending],
			plainName(cmp.Or(ending, "without an ending"))))
	}
	var all []string
	if total > 0 {
		all = append(all, fmt.Sprintf("%s (%s)", spelling.Count(total, "file"),
			strings.Join(kinds[:min(most, len(kinds))], ", ")))
	}
	all = append(all, l.notes[:min(most, len(l.notes))]...)
	if more := len(l.notes) - most; more > 0 {
		all = append(all, fmt.Sprintf("%d more folders", more))
	}
	return strings.Join(all, ", ")
}
