package data

import (
	"path/filepath"
	"slices"
	"strings"

	"lockstep/data/wordpiece"
)

// Stored is a file of a data set on this machine.
type Stored struct {
	// Path is where it is.
	Path string
	// Name is its path below the data folder, with slashes: in another data folder the file is found under
	// it.
	Name string
}

// Files lists the files of the named set that Load would read, and the vocabulary of texts unless o names
// one. It lists none for a set that is generated, not found, or the user's own. It reads only folders.
func (c Catalog) Files(name string, o Options) ([]Stored, error) {
	s, err := c.find(name)
	if err != nil || s.isMade() || s.path != "" {
		return nil, err
	}
	var stored []Stored
	for _, folder := range o.folders() {
		path := s.locate(folder)
		if path == "" {
			continue
		}
		paths := []string{path}
		if isFolder(path) {
			paths = s.members(path)
		}
		stored = storedBelow(folder, paths)
		break
	}
	if stored == nil || s.kind != TextKind || o.Vocabulary != "" {
		return stored, nil
	}
	for _, folder := range o.folders() {
		vocabulary := filepath.Join(folder, bertFolder, "vocab.txt")
		if !isFile(vocabulary) {
			continue
		}
		paths := []string{vocabulary}
		if cased := filepath.Join(folder, bertFolder, wordpiece.ConfigFile); isFile(cased) {
			paths = append(paths, cased)
		}
		return append(stored, storedBelow(folder, paths)...), nil
	}
	return stored, nil
}

// Paths returns what is read for the user's own data at a path: that path or, if it has a range in braces,
// those that it stands for; and what lies beside an array or a shard, its labels and the names of classes.
func Paths(path string) []string {
	paths := braced(path)
	if paths == nil {
		paths = []string{path}
	}
	ending := filepath.Ext(path)
	isArray := strings.EqualFold(ending, ".npy")
	if isFolder(path) || !isArray && !strings.EqualFold(ending, ".tar") {
		return paths
	}
	beside := []string{filepath.Join(filepath.Dir(paths[0]), "classes.txt")}
	if isArray {
		stem := strings.TrimSuffix(path, ending)
		beside = append(beside, stem+"-labels.npy", stem+"_labels.npy")
	}
	return append(paths, slices.DeleteFunc(beside, func(path string) bool { return !isFile(path) })...)
}

// storedBelow names files by their paths below a folder.
func storedBelow(folder string, paths []string) []Stored {
	var stored []Stored
	for _, path := range paths {
		if name, err := filepath.Rel(folder, path); err == nil {
			stored = append(stored, Stored{path, filepath.ToSlash(name)})
		}
	}
	return stored
}

// inFolder returns the paths of files in a folder.
func inFolder(names []string) func(dir string) []string {
	return func(dir string) []string {
		var paths []string
		for _, name := range names {
			paths = append(paths, filepath.Join(dir, name))
		}
		return paths
	}
}
