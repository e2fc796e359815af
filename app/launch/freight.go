package launch

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"lockstep/app/job/launcher"
	"lockstep/app/launch/agent"
	"lockstep/app/rundir"
	"lockstep/app/transfer"
	"lockstep/checkpoint"
	"lockstep/data"
	"lockstep/internal/regular"
)

// freight is the files of a command that works on other machines: those that its command line names, and its
// results, which come back. The first host needs all of them, and passes on what a run starts from; data that
// is no set by name all hosts need. A file below the current folder has the same name below the job's folder
// on a host; another one gets a name there, which replaces it on the command line.
type freight struct {
	isAway bool              // the first host is another machine
	extra  []string          // arguments that replace others
	files  map[string]string // for the first host, if it is away: paths by name
	data   map[string]string // for all hosts that are away

	directory string // of the run or the bench, as the command knows it; "": not known before
	local     string // the same on this machine
	isResumed bool   // it is there, and goes on
}

// load finds the files of a command line.
func load(s Survey, isAway bool) (f *freight, err error) {
	f = &freight{isAway: isAway, files: map[string]string{}, data: map[string]string{}}
	for _, flag := range []string{"config", "plan", "resume"} {
		err = errors.Join(err, f.add(flag, s.Given[flag]))
	}
	for _, c := range s.Configs {
		err = errors.Join(err, f.add("weights", c.Weights), f.add("vocab", c.Vocab),
			f.add("replay", c.Replay))
		if c.Datasets().IsPath(c.Data) {
			err = errors.Join(err, f.add("data", c.Data), f.add("validation", c.Validation.Path))
		}
		for name, path := range c.ClassFiles() {
			err = errors.Join(err, f.add(name, *path))
		}
	}
	resume, out := s.Given["resume"], s.Given["out"]
	switch {
	case out != "":
		f.direct("out", out)
	case resume != "":
		f.direct("resume", resume)
		f.isResumed = true
	case len(s.Configs) == 1 && s.Configs[0].Out != "": // whose configuration names its own folder
		f.direct("out", s.Configs[0].Out)
	}
	return f, err
}

// direct notes the directory of the command, which a flag names.
func (f *freight) direct(flag, where string) {
	f.directory, f.local = where, where
	if f.isAway {
		f.directory = f.rename(flag, where)
	}
}

// directFree gives a command without a directory one, as it would itself: runs/<time>-<what>.
func (f *freight) directFree(what string) {
	if f.directory == "" {
		f.directory = filepath.ToSlash(rundir.Free(what, time.Now()))
		f.local = f.directory
		f.replace("out", f.directory)
	}
}

// reserve keeps others from using the folder of results on this machine until they are here. It must be
// empty, unless the run in it goes on.
func (f *freight) reserve() (release func(), err error) {
	switch {
	case !f.isAway || f.directory == "": // the command does it, if it is here
	case f.isResumed:
		if release, err = rundir.Lock(f.local); err != nil {
			err = &rundir.FolderError{Flag: "resume", Reason: err.Error()}
		}
	default:
		release, err = rundir.Reserve(f.local)
	}
	return release, err
}

// near returns the path below the current folder; "" if it is elsewhere.
func near(where string) string {
	here, _ := filepath.Abs(".") // nothing is below "", with which the second fails as well
	full, _ := filepath.Abs(where)
	name, err := filepath.Rel(here, full)
	if err != nil || name == "." || !filepath.IsLocal(name) {
		return ""
	}
	return filepath.ToSlash(name)
}

// rename returns the name on the first host, which is away, of what a flag names, and gives the flag that
// value.
func (f *freight) rename(flag, where string) string {
	name := near(where)
	if name == "" {
		name = path.Join("files", flag, filepath.Base(where))
	}
	if filepath.FromSlash(name) != filepath.Clean(where) {
		f.replace(flag, name)
	}
	return name
}

// replace gives a flag another value.
func (f *freight) replace(flag, value string) {
	if argument := "--" + flag + "=" + value; !slices.Contains(f.extra, argument) {
		f.extra = append(f.extra, argument)
	}
}

// add lets hosts have a file, or all files of a folder, that a flag names, and what lies beside it. Of what
// is not there, the command says that.
func (f *freight) add(flag, where string) error {
	paths, to := []string{where}, f.files
	switch flag {
	case "data", "validation":
		paths, to = data.Paths(where), f.data
	case "weights", "vocab":
		paths = append(paths, checkpoint.Companions(where)...)
	}
	info, err := os.Stat(paths[0])
	if where == "" || err != nil {
		return nil
	}
	name := near(where)
	switch {
	case f.isAway:
		name = f.rename(flag, where)
	case name == "":
		return nil // the command has it here, and hosts may have it at the same place
	}
	folder := name
	if !info.IsDir() {
		folder = path.Dir(name)
	}
	for _, file := range paths {
		as := path.Join(folder, filepath.Base(file))
		if file == where {
			as = name
		}
		err = errors.Join(err, addFiles(to, file, as))
	}
	return err
}

// addFiles adds a file or the files of a folder under a name.
func addFiles(files map[string]string, where, name string) error {
	return filepath.WalkDir(where, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			return nil
		}
		below, err := filepath.Rel(where, file)
		files[path.Join(name, filepath.ToSlash(below))] = file
		return err
	})
}

// send sends the files to the hosts.
func (f *freight) send(ctx context.Context, c agent.Console, agents []*agent.Connection,
	folder string) error {
	quiet := func(launcher.Progress) {}
	err := deliver(ctx, c, agents[1:], f.data, quiet, ReceiveArgument, "--job", folder)
	if err != nil || !f.isAway {
		return err
	}
	maps.Copy(f.files, f.data)
	return deliver(ctx, c, agents[:1], f.files, quiet, ReceiveArgument, "--job", folder)
}

// sentFolder is the folder of results on their way.
const sentFolder = "results"

// bring fetches the results of a first host that is another machine. They appear at once, and take the place
// of nothing but an empty folder, unless the run was resumed. A command that has left none is no error.
func (f *freight) bring(ctx context.Context, c agent.Console, first *agent.Connection,
	folder string) error {
	if !f.isAway || f.directory == "" {
		return nil
	}
	scratch, remove, err := regular.MakeFolder(filepath.Dir(f.local), sentFolder)
	if err != nil {
		return err
	}
	defer remove()
	where := path.Join(first.Hello.Jobs, folder)
	stream, err := c.Stream(ctx, first, agent.Argument, "--send",
		base64.RawURLEncoding.EncodeToString([]byte(path.Join(where, f.directory))))
	if err != nil {
		return err
	}
	defer stream.Close() // it is read to its end
	err = transfer.Receive(ctx, stream, stream, scratch)
	if errors.Is(err, io.ErrUnexpectedEOF) && ctx.Err() == nil {
		return &agent.HostError{Host: first.Host.Name, IsLost: true, Text: fmt.Sprintf(
			"the results, which stay in %s there, did not come: %v", where, err)}
	}
	if err != nil {
		return fmt.Errorf("host %s: fetch the results, which stay in %s there: %w", first.Host.Name,
			where, err)
	}
	return f.place(filepath.Join(scratch, sentFolder))
}

// Send sends the results in a folder of this host to the console, on whose side is [transfer.Receive]. The
// name of the folder comes in a form that a shell takes as it is.
func Send(ctx context.Context, in io.ReadCloser, out io.Writer, name string) error {
	folder, err := base64.RawURLEncoding.DecodeString(name)
	if err != nil {
		return fmt.Errorf("agent: --send: %w", err)
	}
	files := map[string]string{}
	err = addFiles(files, string(folder), sentFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	cargo, err := transfer.Load(ctx, files)
	if err != nil {
		return err
	}
	_, err = cargo.Deliver(ctx, "console", struct {
		io.ReadCloser
		io.Writer
	}{in, out}, nil)
	return err
}

// place gives the results that came into a folder their name.
func (f *freight) place(from string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if f.isResumed {
		old := from + ".old" // goes with the scratch folder
		if err := os.Rename(f.local, old); err != nil {
			return err
		}
		if err := os.Rename(from, f.local); err != nil {
			return errors.Join(err, os.Rename(old, f.local))
		}
		return nil
	}
	// Remove takes nothing but an empty folder away.
	if err := os.Remove(f.local); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is no longer empty, and stays as it is: %w", f.local, err)
	}
	return os.Rename(from, f.local)
}
