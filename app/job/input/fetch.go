package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/cluster"
	"lockstep/model"
)

// partBytes is the length of a part of a file that is sent: as JSON, it fits a line of the control
// connection.
const PartBytes = 32 << 10

// Relative returns c and b with paths below folder relative to it, which is the current one of every process
// of the run.
func Relative(c setting.Config, b Start, folder string) (setting.Config, Start) {
	paths := slices.AppendSeq([]*string{&c.DataDir, &c.Vocab, &c.Weights, &c.Validation.Path},
		maps.Values(c.ClassFiles()))
	if c.Datasets().IsPath(c.Data) {
		paths = append(paths, &c.Data)
	}
	if model.IsFile(c.Model) {
		paths = append(paths, &c.Model)
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

// The names by which ranks that are away fetch what a run starts from.
const (
	fetchWeights    = "weights"
	fetchVocabulary = "vocabulary"
	fetchCheckpoint = "checkpoint"
	fetchModel      = "model"
)

// FilesOf returns what gives ranks that are away the files that the run starts from, which only the
// launcher's host needs to have.
func FilesOf(c setting.Config, b Start) func(name string, send func([]byte) error) error {
	return func(name string, send func([]byte) error) error {
		switch {
		case name == fetchWeights && c.Weights != "":
			return sendFiles(weightFiles(c.Weights), send)
		case name == fetchVocabulary && c.Vocab != "":
			return sendFiles(append([]string{c.Vocab}, checkpoint.Companions(c.Vocab)...), send)
		case name == fetchModel && model.IsFile(c.Model):
			return sendFiles(weightFiles(c.Model), send)
		case c.ClassFiles()[name] != nil:
			return sendFiles([]string{*c.ClassFiles()[name]}, send)
		case name == fetchCheckpoint && b.Resumed != nil:
			return sendFiles(filesIn(b.Resumed.Path, nil), send)
		}
		return fmt.Errorf("the run starts from no %s", name)
	}
}

// weightFiles lists the files that belong to weights: a file and those beside it that say what it means, or
// all of a folder or behind an index.
func weightFiles(path string) []string {
	known := []string{".safetensors", ".json", ".txt"}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		files := append(filesIn(path, known), checkpoint.Companions(path)...)
		slices.Sort(files)
		return slices.Compact(files)
	case filepath.Ext(path) == ".json":
		return filesIn(filepath.Dir(path), known)
	}
	return append([]string{path}, checkpoint.Companions(path)...)
}

// filesIn lists the regular files of a folder, of these extensions or all.
func filesIn(folder string, extensions []string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return []string{folder} // whose opening says what is wrong
	}
	var files []string
	for _, e := range entries {
		isWanted := extensions == nil || slices.Contains(extensions, filepath.Ext(e.Name()))
		if path := filepath.Join(folder, e.Name()); isWanted && isRegular(path) {
			files = append(files, path)
		}
	}
	return files
}

// isRegular reports whether path is a file, or a link to one.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// fetched begins a file that is sent: a line of JSON before its bytes.
type fetched struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// sendFiles sends files one after the other.
func sendFiles(paths []string, send func([]byte) error) error {
	for _, path := range paths {
		if err := sendFile(path, send); err != nil {
			return err
		}
	}
	return nil
}

// sendFile sends the name and the size of a file as a line, then its bytes.
func sendFile(path string, send func([]byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head, err := json.Marshal(fetched{filepath.Base(path), info.Size()})
	if err == nil {
		err = send(append(head, '\n'))
	}
	left := info.Size()
	for part := make([]byte, PartBytes); left > 0 && err == nil; {
		n := min(left, PartBytes)
		if _, err = io.ReadFull(f, part[:n]); err == nil {
			err = send(part[:n])
		}
		left -= n
	}
	return err
}

// store writes fetched files to a folder.
type store struct {
	folder string
	file   *os.File // that is being written, or nil
	left   int64    // bytes that it lacks
}

// take takes one part: the beginning of a file, or some of its bytes.
func (s *store) take(part []byte) (err error) {
	if s.file == nil {
		var head fetched
		if err := json.Unmarshal(part, &head); err != nil {
			return fmt.Errorf("job: decode what the launcher sends: %w", err)
		}
		if head.Name != filepath.Base(head.Name) || !filepath.IsLocal(head.Name) || head.Size < 0 {
			return fmt.Errorf("job: the launcher sends a file named %.60q", head.Name)
		}
		s.left = head.Size
		path := filepath.Join(s.folder, head.Name)
		s.file, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	} else {
		s.left -= int64(len(part))
		_, err = s.file.Write(part)
	}
	if err == nil && s.left <= 0 {
		err, s.file = s.file.Close(), nil
	}
	return err
}

// Fetch gives a rank that is away the files that the run starts from and that its host lacks, in a folder
// that the returned function removes.
func Fetch(s *cluster.Session, rank int, c *setting.Config, b *Start) (remove func() error, err error) {
	folder, err := os.MkdirTemp(".", fmt.Sprintf("rank%d-start-", rank))
	if err != nil {
		return nil, fmt.Errorf("job: rank %d: %w", rank, err)
	}
	remove = func() error { return os.RemoveAll(folder) }
	for name, path := range startFiles(c, b) {
		if _, err := os.Stat(*path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		into := &store{folder: filepath.Join(folder, name)}
		err := os.Mkdir(into.folder, 0o700)
		if err == nil {
			err = s.Fetch(name, into.take)
		}
		if into.file != nil {
			err = errors.Join(err, into.file.Close(), io.ErrUnexpectedEOF)
		}
		if err != nil {
			return nil, errors.Join(err, remove())
		}
		at := into.folder
		if own := filepath.Join(at, filepath.Base(*path)); isRegular(own) {
			at = own
		}
		*path = at
	}
	if b.Weights != nil {
		b.Weights.Path = c.Weights
		if b.Resumed != nil {
			b.Weights.Path = b.Resumed.Path
		}
	}
	return remove, nil
}

// startFiles returns the paths of what a worker reads before it starts, by the names to fetch it by.
func startFiles(c *setting.Config, b *Start) map[string]*string {
	files := c.ClassFiles()
	if c.Vocab != "" {
		files[fetchVocabulary] = &c.Vocab
	}
	if b.Resumed != nil {
		files[fetchCheckpoint] = &b.Resumed.Path
	}
	if model.IsFile(c.Model) {
		files[fetchModel] = &c.Model
	}
	isNeeded := b.Resumed == nil || c.Models().ReadsTexts(c.Model) && c.Vocab == ""
	if c.Weights != "" && isNeeded {
		files[fetchWeights] = &c.Weights
	}
	return files
}
