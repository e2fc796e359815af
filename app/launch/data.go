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

// dataFiles returns the paths, by name, of the files of the data sets that some configurations use. Those
// that are not on this machine are downloaded. Generated sets and the user's own data have none.
func dataFiles(ctx context.Context, configs []setting.Config, e cluster.Environment,
	show func(launcher.Progress)) (map[string]string, error) {
	files := map[string]string{}
	seen := map[[3]string]bool{}
	for _, c := range configs {
		o := c.DataOptions(e)
		key := [3]string{c.Data, o.Dir, o.Vocabulary}
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
			files[f.Name] = f.Path
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
	if folder := l.plan.Configs[0].DataDir; folder != "" {
		l.args = append(l.args, "--data-dir=")
		if isHere(l.agents[0]) {
			l.dataDir, err = filepath.Abs(folder)
		}
	}
	if err != nil {
		return err
	}
	return deliver(ctx, l.Console, away, files, l.Show, ReceiveArgument)
}

// isHere reports whether the host of an agent is this machine.
func isHere(c *agent.Connection) bool { return agent.IsHere(c.Host.Name) }

// deliver sends to hosts the files that they lack. A command of this program takes them there.
func deliver(ctx context.Context, c agent.Console, hosts []*agent.Connection, files map[string]string,
	show func(launcher.Progress), command ...string) error {
	if len(hosts) == 0 || len(files) == 0 {
		return nil
	}
	cargo, err := transfer.Load(ctx, files)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex // one at a time is shown
	agent.Each(hosts, func(_ int, host *agent.Connection) error {
		stream, err := c.Stream(ctx, host, command...)
		if err != nil {
			cancel(err)
			return err
		}
		sent, err := cargo.Deliver(ctx, host.Host.Name, stream, func(d transfer.Delivery) {
			mu.Lock()
			defer mu.Unlock()
			show(launcher.Progress{Phase: fmt.Sprintf("sending files to %s: %d of %d MiB", host.Host.Name,
				d.Done>>20, d.Total>>20)})
		})
		if err != nil {
			cancel(err)
		} else if sent.Total > 0 {
			mu.Lock()
			defer mu.Unlock()
			show(launcher.Progress{Note: fmt.Sprintf("host %s: %d MiB of data sets were sent to it",
				host.Host.Name, (sent.Total+1<<20-1)>>20)})
		}
		return err
	})
	return context.Cause(ctx)
}

// ReceiveArgument is the command of lockstep that takes files from a console.
const ReceiveArgument = "receive"
