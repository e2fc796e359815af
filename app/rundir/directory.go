package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockstep/app/record"
	"lockstep/internal/regular"
)

// Files of a run directory.
const (
	ConfigFile  = "config.yaml"
	HostFile    = "host.json"
	StepsFile   = "steps.jsonl"
	SummaryFile = "summary.json"
	TraceFile   = "trace.json"
)

// BestFolder is where a run directory has the weights of the best evaluation on the validation samples.
const BestFolder = "best"

// CheckpointsFolder is where a run directory has its checkpoints.
const CheckpointsFolder = "checkpoints"

// Directory is a run directory; its value is the path.
type Directory string

// FolderError says why a folder cannot be the directory of a run.
type FolderError struct {
	Flag   string // that names the folder
	Reason string
}

// Error says what is wrong with the folder that the flag names.
func (e *FolderError) Error() string { return "--" + e.Flag + ": " + e.Reason }

// Claimed is a run directory that this process has taken.
type Claimed struct {
	Directory
	made []string // the folders that were created for it, outermost first
	lock *os.File // keeps other processes out
	// isResumed says that a part of the run has been done before, which left so many bytes of steps.
	isResumed bool
	logged    int64
	// Uncut says why there still are lines of steps or evaluations that the resumed run does again; nil:
	// there are none.
	Uncut error
}

// New creates the directory that Free names.
func New(name string, now time.Time) (Claimed, error) { return Claim(Free(name, now)) }

// Free returns the directory runs/<time>-<name>, with a number behind if that is taken.
func Free(name string, now time.Time) string {
	return Unused(filepath.Join("runs", now.Format("20060102-150405")+"-"+name))
}

// Unused returns path, or the first of path-2, path-3 and so on that does not exist.
func Unused(path string) string {
	free := path
	for i := 2; ; i++ {
		if _, err := os.Lstat(free); err != nil { // Claim says what else may be wrong with it
			return free
		}
		free = fmt.Sprintf("%s-%d", path, i)
	}
}

// Claim takes path, which must be an empty writable directory, or creates it.
func Claim(path string) (Claimed, error) {
	d, err := claim(path)
	if err != nil {
		return d, err
	}
	// Creating the first file exclusively decides between two runs that start together without locks.
	f, err := os.OpenFile(d.Path(ConfigFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return Claimed{}, d.refuse("cannot write to the folder: %v; choose another one", err)
	}
	return d, nil
}

// Reserve creates path, or takes it if it is an empty folder, for results, and keeps others from it until
// release is called, which removes what was created if it is still empty. The error is a *FolderError.
func Reserve(path string) (release func(), err error) {
	d, err := claim(path)
	if err != nil {
		return nil, err
	}
	return func() {
		d.unmake()
		d.Unlock()
	}, nil
}

// claim creates path, or takes it if it is an empty folder.
func claim(path string) (Claimed, error) {
	d := Claimed{Directory: Directory(path), made: absent(path)}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return d, d.refuse("cannot create the folder: %v; choose another one", err)
	}
	var busy error
	d.lock, busy = lockFolder(path)
	entries, err := os.ReadDir(path) // of two that start together, the one that holds the lock looks
	switch {
	case err != nil:
		return d, d.refuse("cannot read the folder: %v; choose another one", err)
	case len(entries) > 0:
		d.Unlock() // by which Cause would take the run for one that goes on
		text := "choose a new directory"
		if cause := d.Cause(); cause != "" {
			text = cause + "; " + text
		}
		return d, d.refuse("%s is already used: it holds %s; %s", path, entries[0].Name(), text)
	case busy != nil:
		return d, d.refuse("%v", busy)
	}
	return d, nil
}

// refuse gives up a folder that was claimed for --out.
func (d Claimed) refuse(format string, args ...any) error {
	d.Unlock()
	d.unmake()
	return &FolderError{"out", fmt.Sprintf(format, args...)}
}

// Reclaim takes the directory of a run to resume after a number of steps, and the evaluations so far. It sets
// aside what describes the run, with lines and the summary of one that had ended, and removes the lines of
// later steps, evaluations and updates. Lines of steps and evaluations that cannot be removed keep no run
// from going on; see Uncut.
func Reclaim(path string, step int, evaluations []record.Evaluation) (Claimed, error) {
	d := Claimed{Directory: Directory(path), isResumed: true}
	var err error
	if d.lock, err = lockFolder(path); err != nil {
		return Claimed{}, &FolderError{"resume", err.Error()}
	}
	if err = d.setAside(); err == nil {
		d.Uncut = errors.Join(d.cutSteps(step), d.cutEvaluations(evaluations))
		err = d.cutUpdates(step)
	}
	d.logged = d.size(StepsFile)
	if err != nil {
		d.Unlock()
		return Claimed{}, errors.Join(fmt.Errorf("run directory: resume: %w", err), d.putBack())
	}
	return d, nil
}

// Lock keeps other processes from using a folder that is no run directory until unlock is called. It fails if
// one does.
func Lock(folder string) (unlock func(), err error) {
	f, err := lockFolder(folder)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil // only opened to be locked
}

// Unlock lets others use the directory.
func (d Claimed) Unlock() {
	if d.lock != nil {
		d.lock.Close() // only opened to be locked
	}
}

// IsEdited reports whether config.yaml is another than the one that the run has written, as far as host.json
// tells.
func (d Directory) IsEdited() bool {
	is, err := regular.Hash(d.Path(ConfigFile))
	was := d.Host().ConfigSHA256
	return err == nil && was != "" && is != was
}

// Host returns what host.json tells of the run; zero if that cannot be read.
func (d Directory) Host() (h record.RunHost) {
	f, err := regular.Open(d.Path(HostFile))
	if err != nil {
		return h
	}
	defer f.Close() // only read
	if record.ReadJSON(f, &h) != nil {
		return record.RunHost{}
	}
	return h
}

// Summary reads summary.json. Its error names the file, and wraps fs.ErrNotExist where the run has none.
func (d Directory) Summary() (*record.Summary, error) {
	f, err := regular.Open(d.Path(SummaryFile))
	if err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	defer f.Close() // only read
	s, err := record.DecodeSummary(f)
	if err != nil {
		return nil, fmt.Errorf("run directory: %s: %w", f.Name(), err)
	}
	return s, nil
}

// KeepCause lets Cause tell that the run ended with err, if its directory is still there and can be written.
func (d Directory) KeepCause(err error) {
	if h := d.Host(); !h.Started.IsZero() {
		h.Ended, _, _ = strings.Cut(fmt.Sprintf("%.500s", err.Error()), "\n")
		d.WriteJSON(HostFile, h) // its error adds nothing to err
	}
}

// Cause says how the run ended, which the process of one that was killed could not tell; "" if it goes on,
// has a summary, or is no run.
func (d Directory) Cause() string {
	h := d.Host()
	switch {
	case h.Started.IsZero() || d.size(SummaryFile) > 0 || d.IsGoingOn():
		return ""
	case h.Ended != "":
		return "the run ended with: " + h.Ended
	}
	return "the run ended without a word: its process was killed, perhaps by the system for want of " +
		"memory; " + filepath.Base(d.Log(0)) + " has what was planned"
}

// absent returns path and those of its parents that do not exist, outermost first.
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

// unmake removes the created folders that are empty, innermost first.
func (d Claimed) unmake() {
	for _, path := range slices.Backward(d.made) {
		os.Remove(path) // one that holds something stays
	}
}

// hasProgressed reports whether this process has done steps of the run.
func (d Claimed) hasProgressed() bool { return d.size(StepsFile) > d.logged }

// IsAsItWas reports whether the run was resumed and has done no step since.
func (d Claimed) IsAsItWas() bool { return d.isResumed && !d.hasProgressed() }

// Abandon removes a directory without progress: one that holds only the description of the run, logs, spans
// and events without a step. Logs that are wanted stay. The directory of a run to resume is restored.
func (d Claimed) Abandon(isLogWanted bool) error {
	switch {
	case d.IsAsItWas():
		return d.putBack()
	case d.isResumed:
		return d.Finish()
	case isLogWanted:
		return nil
	}
	entries, err := os.ReadDir(string(d.Directory))
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		isEmpty := err == nil && info.Size() == 0
		isLog := filepath.Ext(e.Name()) == ".log"
		isOurs := slices.Contains([]string{ConfigFile, HostFile, SpansFolder, EventsFolder}, e.Name())
		if !isOurs && !isLog && !isEmpty {
			return nil
		}
	}
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(d.Path(e.Name())))
	}
	d.unmake()
	return err
}

// aside is the path of a copy of a file as it was before the run was resumed.
func (d Directory) aside(name string) string { return d.Path("." + name + ".before") }

// asides lists the files that have one. Of a run that had ended the summary is the last to be moved there and
// to come back, and the first to be removed: where it is aside, so are the others that belong to it.
func asides() []string {
	return []string{ConfigFile, HostFile, StepsFile, EvaluationsFile, UpdatesFile, TraceFile, SpansFolder,
		SummaryFile}
}

// setAside keeps the files that a resumed run changes. Those of a run that had ended are complete before its
// summary, which is no longer true, loses its name. Without room for a copy of the lines the run goes on as
// well: Recover then cuts them.
func (d Directory) setAside() error {
	err := errors.Join(d.Finish(), d.copyAside(ConfigFile), d.copyAside(HostFile),
		present(os.Rename(d.Path(SpansFolder), d.aside(SpansFolder)))) // the spans are those of one part
	if _, absent := os.Stat(d.Path(SummaryFile)); absent != nil {
		return err
	}
	for _, name := range []string{StepsFile, EvaluationsFile, UpdatesFile} {
		d.copyAside(name)
	}
	for _, name := range []string{SummaryFile, TraceFile} {
		err = errors.Join(err, present(os.Rename(d.Path(name), d.aside(name))))
	}
	return err
}

// copyAside copies a file, if there is one, to its path aside.
func (d Directory) copyAside(name string) error {
	from, err := regular.Open(d.Path(name))
	if err != nil {
		return present(err)
	}
	defer from.Close() // only read
	err = regular.Replace(d.aside(name), func(w io.Writer) error {
		_, err := io.Copy(w, from)
		return err
	})
	if info, failed := from.Stat(); err == nil && failed == nil {
		err = os.Chtimes(d.aside(name), time.Time{}, info.ModTime())
	}
	return err
}

// putBack undoes setAside.
func (d Directory) putBack() (err error) {
	for _, name := range asides() {
		if _, absent := os.Lstat(d.aside(name)); name == SpansFolder && absent == nil {
			err = errors.Join(err, os.RemoveAll(d.Path(name))) // a folder takes no other's place
		}
		err = errors.Join(err, present(os.Rename(d.aside(name), d.Path(name))))
	}
	return err
}

// Finish removes what Reclaim has set aside.
func (d Directory) Finish() (err error) {
	for _, name := range slices.Backward(asides()) {
		err = errors.Join(err, os.RemoveAll(d.aside(name)))
	}
	return err
}

// Recover gives a run that had ended its files back, if the process that had resumed it was killed before it
// saved a later step than the given one, that of the newest checkpoint. The caller holds the lock.
func (d Directory) Recover(step int) error {
	f, err := regular.Open(d.aside(SummaryFile))
	if err != nil {
		return present(err)
	}
	defer f.Close() // only read
	var s record.Summary
	_, absent := os.Stat(d.Path(SummaryFile))
	if absent == nil || record.ReadJSON(f, &s) != nil || s.Steps < step {
		return d.Finish() // the run has a later end, or is on its way to it
	}
	return errors.Join(d.cutSteps(s.Steps), d.cutUpdates(s.Steps), d.putBack())
}

// present returns err unless it says that there is no such file.
func present(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// size returns the bytes of a file, 0 without one.
func (d Directory) size(name string) int64 {
	info, err := os.Stat(d.Path(name))
	if err != nil {
		return 0
	}
	return info.Size()
}

// Path returns the path of a file in the directory.
func (d Directory) Path(name string) string { return filepath.Join(string(d), name) }

// Log is the path of a worker's log.
func (d Directory) Log(rank int) string { return d.Path(fmt.Sprintf("rank%d.log", rank)) }

// ServerLog is the path of the log of a server that has a process of its own.
func (d Directory) ServerLog(server int) string { return d.Path(fmt.Sprintf("server%d.log", server)) }

// WriteSummary writes the summary of the run, sealed.
func (d Directory) WriteSummary(s *record.Summary) error {
	text, err := record.EncodeSummary(s)
	if err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	return d.Write(SummaryFile, text)
}

// WriteJSON writes a whole file or nothing: a reader never sees half of it.
func (d Directory) WriteJSON(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("run directory: write %s: %w", name, err)
	}
	return d.Write(name, append(text, '\n'))
}

// Write replaces a file atomically.
func (d Directory) Write(name string, text []byte) error {
	if err := regular.Write(d.Path(name), text); err != nil {
		return fmt.Errorf("run directory: write %s: %w", name, err)
	}
	return nil
}
