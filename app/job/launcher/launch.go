package launcher

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/host"
	"lockstep/app/job"
	"lockstep/app/job/input"
	"lockstep/app/job/server"
	"lockstep/app/job/worker"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
)

// runWorkers runs the workers, here or in processes of their own, and returns their results and the
// kernel path they used.
func runWorkers(ctx context.Context, c setting.Config, dir rundir.Directory, start input.Start,
	told *heard, o Options) (results []job.Result, isa string, err error) {
	if c.IsOneProcess() {
		path, err := c.KernelPath()
		if err != nil {
			return nil, "", err
		}
		c.ISA = path.String()
		results, err := runHere(ctx, c, dir, start, told, o)
		return results, c.ISA, err
	}
	return launch(ctx, c, dir, start, told, o)
}

// launch runs each worker as a process.
func launch(ctx context.Context, c setting.Config, dir rundir.Directory, start input.Start, told *heard,
	o Options) (results []job.Result, isa string, err error) {
	if err := o.setCommands(); err != nil {
		return nil, "", err
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, "", fmt.Errorf("job: find the current folder: %w", err)
	}
	hosts, err := o.Environment.HostNumbers(c.Workers, c.NumApart())
	if err != nil {
		return nil, "", err
	}
	sent, files := c, input.FilesOf(c, start)
	if hosts != nil {
		sent, start = input.Relative(c, start, folder)
	}
	bound := c.Threads
	if o.Meeting != nil {
		bound = 0 // that is the launcher's affair
	}
	texts, err := cluster.Launch(ctx, cluster.LaunchConfig{
		World: c.World(), Servers: c.NumApart(), Threads: bound,
		Command: o.Worker, ServerCommand: o.Server, Host: c.MasterAddr, Port: c.MasterPort,
		Environment: o.Environment.With(cluster.Environment{
			cluster.EnvMaxProcs: strconv.Itoa(c.Threads + job.ComputeExtra), cluster.EnvISA: c.ISA}),
		Log:          func(rank int) string { return job.LogOf(c, dir, rank) },
		SharedMemory: c.SharesMemory(),
		Job: worker.Assignment{Config: sent, Directory: dir, Crowded: o.isCrowded(c), Start: start,
			Folder: folder, Probes: o.Probes, Hosts: hosts},
		Files: files, Encryption: encryption(c), Streams: c.Streams, SocketBuffer: c.SocketBuffer,
		Meeting: o.Meeting, Asked: o.Asked,
		Refused:   func(err error) { fmt.Fprintf(o.Stderr, "warning: %v\n", err) },
		Waits:     func(err error) { fmt.Fprintf(o.Stderr, "note: %v\n", err) },
		Starving:  host.Starving,
		StopGrace: stopGrace(c), SavesAtStop: c.KeepsCheckpoints(),
		Event:   told.decode,
		MayLose: server.MayLose(c),
		Lost:    told.loseWorker,
		Progress: func(rank int, p cluster.Progress) {
			if rank == 0 && o.Progress != nil {
				o.Progress(progressOf(p))
			}
		},
	})
	if err != nil {
		return nil, "", err
	}
	if results, err = decodeResults(texts[:c.Workers]); err != nil {
		return nil, "", err
	}
	return results, pathsOf(results), nil
}

// pathsOf lists the kernel paths that workers used, in the order of their ranks.
func pathsOf(results []job.Result) string {
	var paths []string
	for _, r := range results {
		if !slices.Contains(paths, r.ISA) {
			paths = append(paths, r.ISA)
		}
	}
	return strings.Join(paths, ", ")
}

// decodeResults decodes the last messages of the workers, by rank. The run went on without those that sent
// none.
func decodeResults(texts []json.RawMessage) (results []job.Result, err error) {
	for rank, text := range texts {
		if text == nil {
			continue
		}
		var r job.Result
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("job: decode the result of rank %d: %w", rank, err)
		}
		results = append(results, r)
	}
	return results, nil
}

// setCommands fills in the commands of processes.
func (o *Options) setCommands() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("job: find this program to start workers: %w", err)
	}
	if o.Worker == nil {
		o.Worker = []string{self, "worker"}
	}
	if o.Server == nil {
		o.Server = []string{self, "server"}
	}
	return nil
}

// encryption returns what c asks for.
func encryption(c setting.Config) cluster.Encryption {
	if c.Insecure {
		return cluster.EncryptNone
	}
	return ""
}
