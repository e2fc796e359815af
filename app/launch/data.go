package launch

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lockstep/app/job/launcher"
	"lockstep/app/launch/agent"
	"lockstep/app/setting"
	"lockstep/app/transfer"
	"lockstep/cluster"
	"lockstep/data"
)

// dataFiles returns the files of the data sets that some configurations use. Those that are not on this
// machine are downloaded. Generated sets and the user's own data have none.
func dataFiles(ctx context.Context, configs []setting.Config, e cluster.Environment,
	show func(launcher.Progress)) ([]transfer.File, error) {
	var files []transfer.File
	seen := map[string]bool{}
	for _, c := range configs {
		o := c.DataOptions(e)
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
func (l *launching) sendData(ctx context.Context) (prepared, error) {
	as := prepared{l.Arguments, cluster.Environment{}}
	isAway := func(c *agent.Connection) bool { return !agent.IsHere(c.Host.Name) }
	if !slices.ContainsFunc(l.agents, isAway) {
		return as, nil
	}
	survey, err := l.survey(ctx, l.Arguments)
	if err != nil || len(survey.Configs) == 0 {
		return as, err
	}
	files, err := dataFiles(ctx, survey.Configs, l.Environment.With(l.environment()), l.Show)
	if err != nil {
		return as, err
	}
	folder := survey.Configs[0].DataDir
	if folder != "" {
		if folder, err = filepath.Abs(folder); err != nil {
			return as, err
		}
	}
	away := slices.DeleteFunc(slices.Clone(l.agents), func(c *agent.Connection) bool { return !isAway(c) })
	isCommon, err := l.place(ctx, away, folder, files)
	if err != nil || isCommon || folder == "" {
		return as, err
	}
	if !isAway(l.agents[0]) {
		as.environment[cluster.EnvData] = folder
	}
	as.args = withoutFlag(l.Arguments, "data-dir")
	survey, err = l.survey(ctx, as.args)
	if err == nil && survey.Configs[0].DataDir != "" {
		as.args = append(as.args, "--data-dir=") // a file or a variable names it
	}
	return as, err
}

// place lets hosts have files, and reports whether all of them have them in a folder of this name.
func (l *launching) place(ctx context.Context, hosts []*agent.Connection, folder string,
	files []transfer.File) (isCommon bool, err error) {
	if len(files) == 0 && !isPlainPath(folder) {
		return false, nil
	}
	ask := []string{ReceiveArgument}
	if isPlainPath(folder) {
		folders, err := delivery{l.Console, hosts, append(ask, "--also", folder), l.Show}.files(ctx, files)
		isCommon := !slices.ContainsFunc(folders, func(f string) bool { return f != folder })
		if err != nil || isCommon || len(files) == 0 {
			return isCommon && len(files) > 0, err
		}
	}
	_, err = delivery{l.Console, hosts, ask, l.Show}.files(ctx, files)
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

// delivery sends files to hosts.
type delivery struct {
	console agent.Console
	hosts   []*agent.Connection
	ask     []string                // arguments of the command that receives them there
	show    func(launcher.Progress) // nil: not
}

// files sends the files that hosts lack, and returns the folder of each in which they are.
func (d delivery) files(ctx context.Context, files []transfer.File) ([]string, error) {
	folders := make([]string, len(d.hosts))
	if len(d.hosts) == 0 || len(files) == 0 {
		return folders, nil
	}
	cargo, err := transfer.Load(ctx, files)
	if err != nil {
		return nil, err
	}
	shown := &sendingProgress{show: d.show, hosts: map[string]transfer.Progress{}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, maxDeliveries)
	each(d.hosts, func(k int, c *agent.Connection) error {
		slots <- struct{}{}
		defer func() { <-slots }()
		sent, err := cargo.Deliver(ctx, transfer.Destination{Host: c.Host.Name, Progress: shown.note,
			Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
				return d.console.Stream(ctx, c, d.ask...)
			}})
		if folders[k] = sent.Folder; err != nil {
			cancel(err)
		} else if sent.Sent > 0 && d.show != nil {
			d.show(launcher.Progress{Note: fmt.Sprintf("host %s: %d MiB of data sets were sent to it",
				c.Host.Name,
				(sent.Sent+1<<20-1)>>20)})
		}
		return err
	})
	return folders, context.Cause(ctx)
}

// ReceiveArgument is the command of lockstep that takes files from a console.
const ReceiveArgument = "receive"

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
	if s.show == nil {
		return
	}
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
