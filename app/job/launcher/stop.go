package launcher

import (
	"context"
	"errors"
	"fmt"

	"lockstep/app/job"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/cluster"
)

// endedEarly tidies the directory of a run whose workers ended with cause, and returns the error to report.
func endedEarly(ctx context.Context, c setting.Config, dir rundir.Claimed, origins setting.Origins,
	cause error) error {
	var flags []string // that the directory does not tell
	if dir.IsAsItWas() {
		flags = origins.FromFlags(c)
	}
	resume := job.ResumeCommand(dir.Directory, flags...)
	err := errors.Join(stopped(ctx, c, dir.Directory, resume, cause), abandon(dir, cause))
	if dir.IsAsItWas() {
		return err // and so is its report
	}
	dir.KeepCause(err)
	return &job.EndedError{Directory: string(dir.Directory), Err: err}
}

// ErrTerminated is the cause of a context cancelled by SIGTERM or SIGUSR1, which schedulers send before they
// preempt a job.
var ErrTerminated = fmt.Errorf("terminated: %w", context.Canceled)

// stopped returns the error to report for a run that was asked to stop and ended with err. It says how to
// resume, by that command line, from the newest checkpoint, and why the last steps were not saved, if so.
func stopped(ctx context.Context, c setting.Config, dir rundir.Directory, resume string, err error) error {
	if ctx.Err() == nil || !c.KeepsCheckpoints() || !job.IsInterrupt(err) {
		return err
	}
	stopped := &job.StoppedError{Directory: string(dir), Resume: resume,
		IsPreempted: errors.Is(context.Cause(ctx), ErrTerminated)}
	newest, _, failed := dir.Store().Newest()
	if failed == nil {
		stopped.Step = newest.Step
	}
	if asked := (*cluster.StopError)(nil); errors.As(err, &asked) && asked.Killed != nil &&
		(failed != nil || newest.Step < asked.Step) {
		stopped.Unsaved = asked.Killed
	} else if none := (*checkpoint.NoneError)(nil); failed != nil &&
		(!errors.As(failed, &none) || len(none.Tried) > 0) {
		return err
	}
	return stopped
}
