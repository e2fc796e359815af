package checkpoint

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"lockstep/internal/regular"
)

// maxFiles is the maximum number of files of one index.
const maxFiles = 1 << 10

// addIndexed opens the files of an index, {"metadata": {...}, "weight_map": {name: file, ...}}, in
// the order of their names, and checks that each holds the tensors that the index lists for it.
func (r *Reader) addIndexed(path string) error {
	where, err := readIndex(path)
	if err != nil {
		return placed(err, path, 0)
	}
	files := slices.Compact(slices.Sorted(maps.Values(where)))
	refuse := func(name, format string, args ...any) error {
		return &FormatError{File: path, Offset: -1, Tensor: name,
			Reason: fmt.Sprintf(format, args...)}
	}
	if len(files) > maxFiles {
		return refuse("", "%d files, want at most %d", len(files), maxFiles)
	}
	for _, name := range files {
		if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
			return refuse("", "file %s is not in the folder of the index", quote(name))
		}
		if err := r.add(filepath.Join(filepath.Dir(path), name)); err != nil {
			return err
		}
	}
	for _, t := range r.Tensors {
		if want, got := where[t.Name], filepath.Base(t.file.path); want != got {
			return refuse(t.Name, "is in %s, but the index does not list it there", got)
		}
		delete(where, t.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(where)) {
		return refuse(name, "not in %s, where the index lists it", where[name])
	}
	return nil
}

// readIndex returns the file of each tensor.
func readIndex(path string) (map[string]string, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, &ReadError{err}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxHeader+1))
	if err != nil {
		return nil, &ReadError{err}
	}
	s := scanner{text: text}
	switch {
	case len(text) > maxHeader:
		return nil, s.fail("index of more than %d bytes", maxHeader)
	case !utf8.Valid(text):
		return nil, s.fail("index is not UTF-8")
	}
	var where map[string]string
	hasMetadata := false
	err = s.object(func(key string) error {
		switch {
		case key == "metadata" && !hasMetadata:
			hasMetadata = true
			return s.skip()
		case key != "weight_map" || where != nil:
			return s.fail("key %s, want metadata and weight_map, each once", quote(key))
		}
		where = map[string]string{}
		return s.object(func(name string) (err error) {
			if _, isThere := where[name]; isThere || len(where) == maxTensors {
				return s.fail("second entry of the name %s, or more than %d", quote(name), maxTensors)
			}
			where[name], err = s.string(maxKey)
			return err
		})
	})
	if err == nil {
		err = s.end()
	}
	if err == nil && where == nil {
		err = s.fail("no weight_map")
	}
	return where, err
}
