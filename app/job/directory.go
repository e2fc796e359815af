package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lockstep/cluster"
	"lockstep/internal/regular"
)

// Files of a run directory.
const (
	configFile  = "config.yaml"
	hostFile    = "host.json"
	stepsFile   = "steps.jsonl"
	summaryFile = "summary.json"
	traceFile   = "trace.json"
)

// directory is a run directory; its value is the path.
type directory string

// claimed is a run directory that this process has taken.
type claimed struct {
	directory
	made []string // the folders that were created for it, outermost first
	lock *os.File // keeps other processes out
	// isResumed says that a part of the run has been done before, which left so many bytes of steps.
	isResumed bool
	logged    int64
}

// makeDirectory creates c.Out, or else runs/<time>-<model>-<strategy>-w<N>. An existing directory
// is taken only if it is empty. Errors are *UsageError.
func makeDirectory(c Config, now time.Time) (claimed, error) {
	if c.Out != "" {
		return claim(c.Out)
	}
	name := fmt.Sprintf("%s-%s-%s-w%d",
		now.Format("20060102-150405"), c.Model, c.Strategy, c.Workers)
	for i := 1; ; i++ {
		path := filepath.Join("runs", name)
		if i > 1 {
			path = fmt.Sprintf("%s-%d", path, i)
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return claim(path)
		}
	}
}

// claim makes sure that path is an empty directory in which files can be made.
func claim(path string) (claimed, error) {
	d := claimed{directory: directory(path), made: absent(path)}
	refuse := func(format string, args ...any) (claimed, error) {
		d.unmake()
		return claimed{}, &UsageError{Lines: []string{fmt.Sprintf("--out: "+format, args...)}}
	}
	const next = "choose another folder with --out"
	if err := os.MkdirAll(path, 0o777); err != nil {
		return refuse("cannot create the run directory: %v; %s", err, next)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return refuse("cannot read the run directory: %v; %s", err, next)
	}
	if len(entries) > 0 {
		return refuse("%s is already used: it holds %s; choose a new directory",
			path, entries[0].Name())
	}
	// Creating the first file exclusively decides between two runs that start together.
	f, err := os.OpenFile(filepath.Join(path, configFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return refuse("cannot write to the run directory: %v; %s", err, next)
	}
	if err := f.Close(); err != nil {
		return refuse("cannot write to the run directory: %v; %s", err, next)
	}
	if d.lock, err = lockFolder(path); err != nil {
		return refuse("%v", err)
	}
	return d, nil
}

// reclaim takes the directory of a run that is to go on after so many steps: lines of later steps
// are removed, and what a finished run has is set aside.
func reclaim(path string, step int) (claimed, error) {
	d := claimed{directory: directory(path), isResumed: true}
	var err error
	if d.lock, err = lockFolder(path); err != nil {
		return claimed{}, &UsageError{Lines: []string{fmt.Sprintf("--resume: %v", err)}}
	}
	if err = d.cutSteps(step); err == nil {
		d.logged = d.size(stepsFile)
		err = d.setAside()
	}
	if err != nil {
		d.unlock()
		return claimed{}, errors.Join(fmt.Errorf("job: resume: %w", err), d.putBack())
	}
	return d, nil
}

// unlock lets others use the directory.
func (d claimed) unlock() {
	if d.lock != nil {
		d.lock.Close() // only opened to be locked
	}
}

// absent returns path and its parents as far as they do not exist, outermost first.
func absent(path string) []string {
	var paths []string
	for path = filepath.Clean(path); ; path = filepath.Dir(path) {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		paths = append(paths, path)
	}
	slices.Reverse(paths)
	return paths
}

// unmake removes what was created, innermost first, as far as it is empty.
func (d claimed) unmake() {
	for _, path := range slices.Backward(d.made) {
		os.Remove(path) // one that holds something stays
	}
}

// hasProgressed reports whether this process has done steps of the run.
func (d claimed) hasProgressed() bool { return d.size(stepsFile) > d.logged }

// abandon removes a directory in which nothing has been done, because of cause: one that holds no
// more than the description of the run and logs without a step. Logs stay if cause points at one.
// The directory of a run that was to go on is as it was before.
func (d claimed) abandon(cause error) error {
	if d.isResumed && d.hasProgressed() {
		return d.dropAside()
	}
	if d.isResumed {
		return d.putBack()
	}
	worker := (*cluster.WorkerError)(nil)
	if errors.As(cause, &worker) && worker.Log != "" {
		return nil
	}
	entries, err := os.ReadDir(string(d.directory))
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		isEmpty := err == nil && info.Size() == 0
		isLog, _ := filepath.Match("rank*.log", e.Name()) // the pattern is well formed
		if e.Name() != configFile && e.Name() != hostFile && !isLog && !isEmpty {
			return nil
		}
	}
	for _, e := range entries {
		err = errors.Join(err, os.Remove(d.path(e.Name())))
	}
	d.unmake()
	return err
}

// outdated lists the files that do not hold for a run that goes on.
func outdated() []string { return []string{configFile, summaryFile, traceFile} }

// aside is where an outdated file lies until the run has gone on.
func (d directory) aside(name string) string { return d.path("." + name + ".before") }

// setAside takes the outdated files out of sight; what an earlier call left there is lost.
func (d directory) setAside() error {
	err := d.dropAside()
	for _, name := range outdated() {
		err = errors.Join(err, present(os.Rename(d.path(name), d.aside(name))))
	}
	return err
}

// putBack undoes setAside.
func (d directory) putBack() (err error) {
	for _, name := range outdated() {
		err = errors.Join(err, present(os.Rename(d.aside(name), d.path(name))))
	}
	return err
}

// dropAside removes what setAside has left.
func (d directory) dropAside() (err error) {
	for _, name := range outdated() {
		err = errors.Join(err, present(os.Remove(d.aside(name))))
	}
	return err
}

// present returns err unless it says that there is no such file.
func present(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// size returns the bytes of a file, 0 without one.
func (d directory) size(name string) int64 {
	info, err := os.Stat(d.path(name))
	if err != nil {
		return 0
	}
	return info.Size()
}

func (d directory) path(name string) string { return filepath.Join(string(d), name) }

func (d directory) log(rank int) string { return d.path(fmt.Sprintf("rank%d.log", rank)) }

// removeRecordings removes what workers have left of a trace that will not be merged.
func (d directory) removeRecordings(workers int) {
	for rank := range workers {
		os.Remove(d.recording(rank)) // not there, mostly
	}
}

// recording is where a worker leaves its spans until they are merged.
func (d directory) recording(rank int) string { return d.path(fmt.Sprintf(".trace%d.json", rank)) }

// writeJSON writes a whole file or nothing: a reader never sees half of it.
func (d directory) writeJSON(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("job: write %s: %w", name, err)
	}
	return d.write(name, append(text, '\n'))
}

// write replaces a file atomically.
func (d directory) write(name string, text []byte) error {
	err := regular.Replace(d.path(name), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("job: write %s: %w", name, err)
	}
	return nil
}
