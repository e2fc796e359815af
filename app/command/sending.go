package command

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lockstep/app/bench"
	"lockstep/app/job/launcher"
	"lockstep/app/launch"
	"lockstep/app/setting"
	"lockstep/app/transfer"
	"lockstep/cluster"
	"lockstep/data"
)

// survey collects the configurations that a command line would run, instead of running them.
type survey struct{ configs []setting.Config }

// surveyed notes configurations if the command line is only surveyed, and reports whether it is.
func (a *app) surveyed(configs ...setting.Config) bool {
	if a.survey == nil {
		return false
	}
	a.survey.configs = append(a.survey.configs, configs...)
	return true
}

// configsOf returns the configurations that a command line would run on hosts; none if it trains nothing.
// The error is that with which the command would refuse its arguments.
func (a *app) configsOf(ctx context.Context, args []string) ([]setting.Config, error) {
	s := &app{stdout: io.Discard, stderr: io.Discard, environment: a.environment, catalog: a.catalog,
		survey: &survey{}}
	root := s.root()
	command, _, err := root.Find(args)
	if err != nil || command == root || command.Annotations[spreads] == "" ||
		slices.ContainsFunc(args, func(arg string) bool {
			return strings.HasPrefix(arg, "--help") || arg == "-h"
		}) {
		return nil, nil // the command itself says what is wrong
	}
	root.SetArgs(args)
	err = root.ExecuteContext(ctx)
	return s.survey.configs, err
}

// basesOf returns a configuration for each part of a benchmark and each of its data sets, of its first model.
func basesOf(c bench.Config) []setting.Config {
	var all []setting.Config
	for _, p := range c.Parts {
		names := p.Data
		if len(names) == 0 {
			names = []string{p.Base.Data}
		}
		for _, name := range names {
			base := p.Base
			base.Data = name
			if len(p.Models) > 0 {
				base.Model = p.Models[0]
			}
			all = append(all, base)
		}
	}
	return all
}

// dataFiles returns the files of the data sets that some configurations use. Those that are not on this
// machine are downloaded. Generated sets and the user's own data have none.
func (a *app) dataFiles(ctx context.Context, configs []setting.Config, show func(launcher.Progress)) (
	[]transfer.File, error) {
	var files []transfer.File
	seen := map[string]bool{}
	for _, c := range configs {
		o := c.DataOptions(a.environment)
		key := fmt.Sprintf("%q %q %q", c.Data, o.Dir, o.Vocabulary)
		if seen[key] || c.Datasets().IsPath(c.Data) {
			continue
		}
		seen[key] = true
		o.Progress = func(p data.Progress) { show(launcher.DownloadProgress(p)) }
		if _, err := c.Datasets().Fetch(ctx, c.Data, o); err != nil {
			return nil, err
		}
		stored, err := c.Datasets().Files(c.Data, o)
		if err != nil {
			return nil, err
		}
		for _, f := range stored {
			file := transfer.File{Path: f.Path, Name: f.Name}
			if !slices.ContainsFunc(files, func(o transfer.File) bool { return o.Name == f.Name }) {
				files = append(files, file)
			}
		}
	}
	return files, nil
}

// prepared is a command line for hosts that have its data sets.
type prepared struct {
	args        []string
	environment cluster.Environment // of the command, on the first host
}

// sendData lets each host have the data sets that a command line will need. The result has no --data-dir: a
// folder of this machine means nothing on another, where data sets are found in the folder of LOCKSTEP_DATA
// or in the user's cache folder. A folder that all hosts have, with the same files, stays.
func (a *app) sendData(ctx context.Context, args []string, c launch.Console, agents []*launch.Connection) (
	prepared, error) {
	as := prepared{args, cluster.Environment{}}
	isAway := func(c *launch.Connection) bool { return !launch.IsHere(c.Host.Name) }
	if !slices.ContainsFunc(agents, isAway) {
		return as, nil
	}
	configs, err := a.configsOf(ctx, args)
	if err != nil || len(configs) == 0 {
		return as, err
	}
	progress := newProgress(a, false)
	defer progress.end()
	files, err := a.dataFiles(ctx, configs, progress.show)
	if err != nil {
		return as, err
	}
	folder := configs[0].DataDir
	if folder != "" {
		if folder, err = filepath.Abs(folder); err != nil {
			return as, err
		}
	}
	cargo, err := transfer.Load(ctx, files)
	if err != nil {
		return as, err
	}
	s := sending{cargo: cargo, console: c, agents: slices.DeleteFunc(slices.Clone(agents),
		func(c *launch.Connection) bool { return !isAway(c) }), show: progress.show}
	isCommon, err := s.place(ctx, folder, len(files) > 0)
	if err != nil || isCommon || folder == "" {
		return as, err
	}
	if !isAway(agents[0]) {
		as.environment[cluster.EnvData] = folder
	}
	as.args = withoutFlag(args, "data-dir")
	if configs, err = a.configsOf(ctx, as.args); err == nil && configs[0].DataDir != "" {
		as.args = append(as.args, "--data-dir=") // a file or a variable names it
	}
	return as, err
}

// place lets all hosts have the cargo, and reports whether all of them have it in a folder of this name.
func (s sending) place(ctx context.Context, folder string, hasFiles bool) (isCommon bool, err error) {
	if isPlainPath(folder) {
		folders, err := s.deliver(ctx, folder)
		isCommon := !slices.ContainsFunc(folders, func(f string) bool { return f != folder })
		if err != nil || isCommon && hasFiles {
			return isCommon, err
		}
	}
	if hasFiles {
		_, err = s.deliver(ctx, "")
	}
	return false, err
}

// isPlainPath reports whether a folder is one that a shell takes as it is.
func isPlainPath(folder string) bool {
	return folder != "" && !strings.ContainsFunc(folder, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("/._-", r))
	})
}

// withoutFlag returns arguments without a flag that has a value.
func withoutFlag(args []string, name string) []string {
	var rest []string
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--"+name:
			i++ // its value
		case !strings.HasPrefix(args[i], "--"+name+"="):
			rest = append(rest, args[i])
		}
	}
	return rest
}

// sending is a cargo for hosts.
type sending struct {
	cargo   *transfer.Cargo
	console launch.Console
	agents  []*launch.Connection
	show    func(launcher.Progress)
}

// deliver sends the cargo to hosts that lack it, and returns the folder of each in which it is. A host may
// have it also in a folder of this name.
func (s sending) deliver(ctx context.Context, also string) ([]string, error) {
	shown := &sendingProgress{show: s.show, hosts: map[string]transfer.Progress{}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	command := []string{receiveArgument}
	if also != "" {
		command = append(command, "--also", also)
	}
	var all sync.WaitGroup
	slots, folders := make(chan struct{}, maxDeliveries), make([]string, len(s.agents))
	for i, agent := range s.agents {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			d, err := s.cargo.Deliver(ctx, transfer.Destination{Host: agent.Host.Name, Progress: shown.note,
				Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
					return s.console.Stream(ctx, agent, command...)
				}})
			if folders[i] = d.Folder; err != nil {
				cancel(err)
			} else if d.Sent > 0 {
				s.show(launcher.Progress{Note: fmt.Sprintf("host %s: %d MiB of data sets were sent to it",
					agent.Host.Name, (d.Sent+1<<20-1)>>20)})
			}
		})
	}
	all.Wait()
	return folders, context.Cause(ctx)
}

// maxDeliveries is how many hosts are sent to at once: they share the link of this machine.
const maxDeliveries = 4

// sendingProgress shows the progress of deliveries in one line.
type sendingProgress struct {
	show func(launcher.Progress)

	mu    sync.Mutex
	order []string
	hosts map[string]transfer.Progress
}

// note shows the progress of a host with that of the others.
func (s *sendingProgress) note(p transfer.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.hosts[p.Host]; !ok {
		s.order = append(s.order, p.Host)
	}
	s.hosts[p.Host] = p
	var parts []string
	remaining, file := time.Duration(0), p.File
	for _, host := range s.order {
		one := s.hosts[host]
		remaining = max(remaining, one.Remaining)
		parts = append(parts, fmt.Sprintf("%s %d of %d MiB", host, one.Done>>20, one.Total>>20))
	}
	s.show(launcher.Progress{Phase: fmt.Sprintf("sending %s: %s, %v left", file, strings.Join(parts, ", "),
		remaining.Round(time.Second))})
}
