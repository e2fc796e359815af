package launcher

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"lockstep/app/host"
	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
)

// prepare creates the run directory, or prepares that of a resumed run, and writes the files that describe
// the run.
func prepare(c setting.Config, o Options, from *job.Resumption) (dir rundir.Claimed, err error) {
	switch {
	case from != nil:
		dir, err = rundir.Reclaim(c.Out, from.Kept.Progress.Step, from.Kept.Evaluations)
	case isLeft(c.Out, o.Environment):
		dir, err = rundir.Reclaim(c.Out, 0, nil)
	default:
		dir, err = newDirectory(c)
	}
	if err != nil {
		return rundir.Claimed{}, err
	}
	if dir.Uncut != nil {
		o.warn(fmt.Sprintf("warning: lines of what is done again stay in the run directory: %v", dir.Uncut))
	}
	text := c.Rooted().YAML(o.Origins)
	err = dir.Write(rundir.ConfigFile, text)
	if err == nil {
		machine := host.Describe()
		machine.Lab = o.Environment[cluster.EnvLabFlags]
		described := record.RunHost{Host: machine, GPU: o.gpu,
			Started:      time.Now().UTC().Truncate(time.Second),
			ConfigSHA256: fmt.Sprintf("%x", sha256.Sum256(text))}
		if from != nil {
			described.ResumedStep = from.Kept.Progress.Step
		}
		if described.Preflight, err = record.ParseHosts(o.Environment[cluster.EnvPreflight]); err != nil {
			o.warn("warning: " + err.Error())
		}
		err = dir.WriteJSON(rundir.HostFile, described)
	}
	if err != nil {
		dir.Unlock()
		return rundir.Claimed{}, errors.Join(err, abandon(dir, err))
	}
	return dir, nil
}

// isLeft reports whether an attempt at this run that was lost before its first checkpoint has left folder.
func isLeft(folder string, e cluster.Environment) bool {
	if folder == "" || e[cluster.EnvRestarts] == "" {
		return false
	}
	_, err := os.Stat(rundir.Directory(folder).Path(rundir.ConfigFile))
	return err == nil
}

// newDirectory claims the folder that c names, or creates one in runs/.
func newDirectory(c setting.Config) (rundir.Claimed, error) {
	if c.Out != "" {
		return rundir.Claim(c.Out)
	}
	return rundir.New(fmt.Sprintf("%s-%s-w%d", filepath.Base(c.Model), c.Strategy, c.Workers), time.Now())
}

// abandon removes the directory of a run that failed with cause, unless it finished a step. The logs stay if
// cause points at one.
func abandon(dir rundir.Claimed, cause error) error {
	worker := (*cluster.WorkerError)(nil)
	return dir.Abandon(errors.As(cause, &worker) && worker.Log != "")
}

// writeTrace writes the trace of all ranks, if the spans of all are complete.
func writeTrace(d rundir.Directory, ranks int, told *heard) {
	if told.hasLost(rundir.SpansFolder) {
		return
	}
	if err := d.WriteTrace(ranks); err != nil {
		told.take(0, job.Notice{Lost: &record.Lost{File: rundir.TraceFile, Reason: err.Error()}})
	}
}
