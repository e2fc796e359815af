package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"lockstep/app/launch/agent"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/app/transfer"
	"lockstep/checkpoint"
	"lockstep/internal/regular"
)

// freight is the files of a command that works on other machines: those that its command line names, and its
// results, which come back. The first host needs all of them, and passes on what a run starts from; data that
// is no set by name all hosts need. A file below the current folder has the same name below the job's folder
// on a host; another one gets a name there, which replaces it on the command line.
type freight struct {
	isAway bool // the first host is another machine
	here   string
	extra  []string        // arguments that replace others
	files  []transfer.File // for the first host, if it is away
	data   []transfer.File // for all hosts that are away
	fetch  string          // name of the folder of results; "": none come back
	to     string          // the folder that it belongs to

	isResumed bool   // the folder of results is there, and has gone on
	release   func() // lets others use the folder that waits for results; nil: none does

	directory string // of a run, as the command knows it; "": not known before
}

// load finds the files of a command line.
func load(s Survey, isAway bool) (*freight, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the current folder: %w", err)
	}
	f := &freight{isAway: isAway, here: here, to: here}
	for _, name := range []string{"config", "plan", "resume"} {
		if err := f.add(name, s.Given[name]); err != nil {
			return nil, err
		}
	}
	for _, c := range s.Configs {
		if err := f.addInputs(c); err != nil {
			return nil, err
		}
	}
	resume, out := s.Given["resume"], s.Given["out"]
	if out == "" && len(s.Configs) == 1 && resume == "" { // whose configuration names its own folder
		out = s.Configs[0].Out
	}
	f.addResults(resume, out)
	return f, nil
}

// addInputs adds the files that a run of c reads.
func (f *freight) addInputs(c setting.Config) error {
	paths := map[string]string{"weights": c.Weights, "vocab": c.Vocab}
	if c.Datasets().IsPath(c.Data) {
		paths["data"] = c.Data
	}
	for _, name := range []string{"weights", "vocab", "data"} {
		if err := f.add(name, paths[name]); err != nil {
			return err
		}
	}
	return nil
}

// addResults notes the folders that --resume and --out name; "": neither does.
func (f *freight) addResults(resume, out string) {
	if resume != "" {
		f.directory, f.isResumed = resume, true
		f.result("resume", resume)
	}
	if out != "" {
		f.directory = out
		f.result("out", out)
	}
}

// direct gives a command without --out or --resume a directory, as it would itself: runs/<time>-<what>.
func (f *freight) direct(what string) {
	if f.directory == "" {
		f.directory = filepath.ToSlash(rundir.Free(what, time.Now()))
		f.replace("out", f.directory)
		f.fetch = f.directory
	}
}

// reserve keeps others from using the folder of results on this machine until they are here. It must be
// empty, unless the run in it goes on.
func (f *freight) reserve() (err error) {
	switch {
	case !f.isAway || f.fetch == "":
		return nil // the command does it, if it is here
	case f.isResumed:
		if f.release, err = rundir.Lock(f.local()); err != nil {
			err = &rundir.FolderError{Flag: "resume", Reason: err.Error()}
		}
	default:
		f.release, err = rundir.Reserve(f.local())
	}
	return err
}

// near returns the path below the current folder; "" if it is elsewhere.
func (f *freight) near(where string) string {
	full, err := filepath.Abs(where)
	if err != nil {
		return ""
	}
	name, err := filepath.Rel(f.here, full)
	if err != nil || name == "." || !filepath.IsLocal(name) {
		return ""
	}
	return filepath.ToSlash(name)
}

// add lets hosts have a file, or all files of a folder, that a flag names. Of what is not there, the command
// says that.
func (f *freight) add(flag, where string) error {
	info, err := os.Stat(where)
	if where == "" || err != nil {
		return nil
	}
	name := f.near(where)
	switch {
	case name == "" && !f.isAway:
		return nil // the command has it here, and hosts may have it at the same place
	case name == "":
		name = path.Join("files", flag, filepath.Base(where))
	}
	if f.isAway && filepath.FromSlash(name) != filepath.Clean(where) {
		f.replace(flag, name)
	}
	if flag == "data" {
		return addFiles(&f.data, where, name)
	}
	if err := addFiles(&f.files, where, name); err != nil {
		return err
	}
	if flag != "weights" && flag != "vocab" {
		return nil
	}
	if !info.IsDir() {
		name = path.Dir(name)
	}
	for _, file := range checkpoint.Companions(where) {
		if err := addFiles(&f.files, file, path.Join(name, filepath.Base(file))); err != nil {
			return err
		}
	}
	return nil
}

// replace gives a flag another value.
func (f *freight) replace(flag, value string) {
	if argument := "--" + flag + "=" + value; !slices.Contains(f.extra, argument) {
		f.extra = append(f.extra, argument)
	}
}

// addFiles adds a file or the files of a folder under a name.
func addFiles(files *[]transfer.File, where, name string) error {
	return filepath.WalkDir(where, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			return nil
		}
		below, err := filepath.Rel(where, file)
		if err != nil {
			return err
		}
		entry := transfer.File{Path: file, Name: path.Join(name, filepath.ToSlash(below))}
		if !slices.ContainsFunc(*files, func(o transfer.File) bool { return o.Name == entry.Name }) {
			*files = append(*files, entry)
		}
		return nil
	})
}

// result notes the folder of results that a flag names, if the first host is another machine.
func (f *freight) result(flag, where string) {
	if !f.isAway {
		return
	}
	if name := f.near(where); name != "" {
		f.fetch, f.to = name, f.here
		if filepath.FromSlash(name) != filepath.Clean(where) {
			f.directory = name
			f.replace(flag, name)
		}
		return
	}
	if full, err := filepath.Abs(where); err == nil {
		where = full
	}
	name := filepath.Base(where)
	if flag == "resume" {
		name = path.Join("files", flag, name) // under which it was sent
	}
	f.fetch, f.to, f.directory = name, filepath.Dir(where), name
	f.replace(flag, name)
}

// send sends the files to the hosts.
func (f *freight) send(ctx context.Context, c agent.Console, agents []*agent.Connection,
	folder string) error {
	ask := []string{ReceiveArgument, "--job", folder}
	if f.isAway {
		d := delivery{c, agents[:1], ask, nil}
		if err := d.files(ctx, slices.Concat(f.files, f.data)); err != nil {
			return err
		}
	}
	return delivery{c, agents[1:], ask, nil}.files(ctx, f.data)
}

// bring fetches the results of a first host that is another machine. They appear at once, and take the place
// of nothing but an empty folder, unless the run was resumed. A command that has left none is no error.
func (f *freight) bring(ctx context.Context, c agent.Console, first *agent.Connection,
	folder string) error {
	if !f.isAway || f.fetch == "" {
		return nil
	}
	scratch, remove, err := regular.MakeFolder(f.to, "results")
	if err != nil {
		return err
	}
	defer remove()
	stream, err := c.Stream(ctx, first, agent.Argument, "--send", sentName(folder, f.fetch))
	if err != nil {
		return err
	}
	defer stream.Close() // it is read to its end
	err = transfer.Receive(ctx, stream, stream, scratch)
	where := path.Join(first.Hello.Jobs, folder)
	if errors.Is(err, io.ErrUnexpectedEOF) && ctx.Err() == nil {
		return &agent.HostError{Host: first.Host.Name, IsLost: true, Text: fmt.Sprintf(
			"the results, which stay in %s there, did not come: %v", where, err)}
	}
	if err != nil {
		return fmt.Errorf("host %s: fetch the results, which stay in %s there: %w", first.Host.Name,
			where, err)
	}
	return f.place(scratch)
}

// place gives the results in a folder their name.
func (f *freight) place(folder string) error {
	from, target := filepath.Join(folder, f.fetch), filepath.Join(f.to, f.fetch)
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return err
	}
	if f.isResumed {
		old := from + ".old" // goes with the folder
		if err := os.Rename(target, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Rename(from, target); err != nil {
			return errors.Join(err, os.Rename(old, target))
		}
		return nil
	}
	// Remove takes nothing but an empty folder away.
	if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is no longer empty, and stays as it is: %w", target, err)
	}
	return os.Rename(from, target)
}

// local returns the directory of the run on this machine, once its results are here.
func (f *freight) local() string {
	switch {
	case !f.isAway:
		return f.directory
	case f.to == f.here:
		return filepath.FromSlash(f.directory)
	}
	return filepath.Join(f.to, path.Base(f.directory))
}
