package launch

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

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

// sendData lets each host that is another machine have the data sets that the command needs. The command
// gets no --data-dir then: a folder of this machine means nothing on another, where data sets are found in
// the folder of LOCKSTEP_DATA or in the user's cache folder.
func (l *launching) sendData(ctx context.Context) error {
	away := slices.DeleteFunc(slices.Clone(l.agents), isHere)
	if len(away) == 0 || len(l.plan.Configs) == 0 {
		return nil
	}
	files, err := dataFiles(ctx, l.plan.Configs, l.Environment.With(l.environment()), l.Show)
	if err != nil {
		return err
	}
	folder := l.plan.Configs[0].DataDir
	if folder != "" {
		l.args = append(l.args, "--data-dir=")
		if isHere(l.agents[0]) {
			if l.dataDir, err = filepath.Abs(folder); err != nil {
				return err
			}
		}
	}
	return delivery{l.Console, away, []string{ReceiveArgument}, l.Show}.files(ctx, files)
}

// isHere reports whether the host of an agent is this machine.
func isHere(c *agent.Connection) bool { return agent.IsHere(c.Host.Name) }

// delivery sends files to hosts.
type delivery struct {
	console agent.Console
	hosts   []*agent.Connection
	ask     []string                // arguments of the command that receives them there
	show    func(launcher.Progress) // nil: not
}

// files sends the files that hosts lack.
func (d delivery) files(ctx context.Context, files []transfer.File) error {
	if len(d.hosts) == 0 || len(files) == 0 {
		return nil
	}
	cargo, err := transfer.Load(ctx, files)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	states := make([]transfer.Delivery, len(d.hosts))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	each(d.hosts, func(k int, c *agent.Connection) error {
		stream, err := d.console.Stream(ctx, c, d.ask...)
		if err != nil {
			cancel(err)
			return err
		}
		sent, err := cargo.Deliver(ctx, c.Host.Name, stream, func(state transfer.Delivery) {
			mu.Lock()
			defer mu.Unlock()
			states[k] = state
			d.tell(launcher.Progress{Phase: "sending files: " + total(states)})
		})
		if err != nil {
			cancel(err)
		} else if sent.Total > 0 {
			d.tell(launcher.Progress{Note: fmt.Sprintf("host %s: %d MiB of data sets were sent to it",
				c.Host.Name, (sent.Total+1<<20-1)>>20)})
		}
		return err
	})
	return context.Cause(ctx)
}

// tell shows progress, if it is to be shown.
func (d delivery) tell(p launcher.Progress) {
	if d.show != nil {
		d.show(p)
	}
}

// total sums what hosts have received.
func total(states []transfer.Delivery) string {
	var done, all int64
	for _, s := range states {
		done, all = done+s.Done, all+s.Total
	}
	return fmt.Sprintf("%d of %d MiB", done>>20, all>>20)
}

// ReceiveArgument is the command of lockstep that takes files from a console.
const ReceiveArgument = "receive"
