package input

import (
	"archive/tar"
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
// launcher's host needs to have: as a tar archive, without their folders.
func FilesOf(c setting.Config, b Start) func(name string, to io.Writer) error {
	return func(name string, to io.Writer) error {
		switch {
		case name == fetchWeights && c.Weights != "":
			return pack(to, weightFiles(c.Weights))
		case name == fetchVocabulary && c.Vocab != "":
			return pack(to, append([]string{c.Vocab}, checkpoint.Companions(c.Vocab)...))
		case name == fetchModel && model.IsFile(c.Model):
			return pack(to, weightFiles(c.Model))
		case c.ClassFiles()[name] != nil:
			return pack(to, []string{*c.ClassFiles()[name]})
		case name == fetchCheckpoint && b.Resumed != nil:
			return pack(to, filesIn(b.Resumed.Path, nil))
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

// pack writes files as a tar archive.
func pack(to io.Writer, paths []string) error {
	archive := tar.NewWriter(to)
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err == nil {
			err = archive.WriteHeader(&tar.Header{Name: filepath.Base(path), Size: info.Size(), Mode: 0o600})
		}
		if err == nil {
			_, err = io.CopyN(archive, f, info.Size())
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return archive.Close()
}

// unpack writes the files of an archive to a folder.
func unpack(from io.Reader, folder string) error {
	for archive := tar.NewReader(from); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Name != filepath.Base(h.Name) || !filepath.IsLocal(h.Name) {
			return fmt.Errorf("job: the launcher sends a file named %.60q", h.Name)
		}
		f, err := os.OpenFile(filepath.Join(folder, h.Name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = io.Copy(f, archive)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return err
		}
	}
}

// fetch writes the files that the launcher has by name to a folder.
func fetch(s *cluster.Session, name, folder string) error {
	from, to := io.Pipe()
	fetched := make(chan struct{})
	go func() {
		defer close(fetched)
		to.CloseWithError(s.Fetch(name, to))
	}()
	err := unpack(from, folder)
	if err == nil {
		_, err = io.Copy(io.Discard, from) // what Fetch says at its end
	}
	from.Close()
	<-fetched
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
		at := filepath.Join(folder, name)
		err := os.Mkdir(at, 0o700)
		if err == nil {
			err = fetch(s, name, at)
		}
		if err != nil {
			return nil, errors.Join(err, remove())
		}
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
