package data

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
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
	var texts []string
	total := 0
	endings := slices.SortedFunc(maps.Keys(l.files), func(a, b string) int {
		if l.files[a] != l.files[b] {
			return l.files[b] - l.files[a]
		}
		return strings.Compare(a, b)
	})
	for i, ending := range endings {
		total += l.files[ending]
		if i < most {
			if ending == "" {
				ending = "without an ending"
			}
			texts = append(texts, fmt.Sprintf("%d %s", l.files[endings[i]], plainName(ending)))
		}
	}
	var all []string
	switch {
	case total == 1:
		all = append(all, "1 file ("+strings.TrimPrefix(texts[0], "1 ")+")")
	case total > 1:
		all = append(all, fmt.Sprintf("%d files (%s)", total, strings.Join(texts, ", ")))
	}
	notes := l.notes
	if len(notes) > most {
		notes = append(slices.Clone(notes[:most]), fmt.Sprintf("%d more folders", len(notes)-most))
	}
	return strings.Join(append(all, notes...), ", ")
}
