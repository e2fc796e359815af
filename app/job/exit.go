package job

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/comm/tcp"
	"lockstep/data"
	"lockstep/model"
	"lockstep/train"
)

// The exit statuses of the command line. They are part of its contract.
const (
	ExitOK          = 0
	ExitInternal    = 1   // a bug, or a failing machine
	ExitUsage       = 2   // flags, configuration, run directory
	ExitData        = 3   // a data or model file is missing or malformed
	ExitRendezvous  = 4   // workers cannot meet, or were not admitted
	ExitPeerLost    = 5   // a worker died or went silent, or the machine allows no process for it
	ExitCheckpoint  = 6   // weights or checkpoints cannot be written, a full disk, or no checkpoint to resume
	ExitDiverged    = 7   // the loss is not finite
	ExitCheck       = 8   // a target or claim was not met, or a record was edited
	ExitPreempted   = 75  // ended by SIGTERM or SIGUSR1, with a checkpoint saved
	ExitInterrupted = 130 // Ctrl-C, or SIGTERM without a checkpoint
)

// ExitCode returns the exit status for an error of this module, ExitOK for nil. An error reported by a worker
// has the status of the worker's error.
func ExitCode(err error) int {
	var (
		worker *cluster.WorkerError
		usage  *setting.UsageError

		stopped *StoppedError
	)
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &worker):
		switch {
		case worker.Reported && !isFailure(worker.Status):
			return ExitInternal // it says what no worker of this program does
		case worker.Reported, worker.Phase == "" && worker.Status == ExitRendezvous:
			return worker.Status // without a phase: the worker has not joined
		}
		return ExitPeerLost
	case IsA[*train.DivergedError](err):
		return ExitDiverged
	case IsA[*MissedError](err):
		return ExitCheck
	case errors.As(err, &usage), IsA[*rundir.FolderError](err), IsA[*cluster.EnvironmentError](err),
		IsA[*data.UnknownError](err):
		return ExitUsage
	case IsA[*data.MissingError](err), IsA[*data.FormatError](err),
		IsA[*data.ReadError](err), IsA[*data.OwnError](err), IsA[*checkpoint.FormatError](err),
		IsA[*checkpoint.MatchError](err), IsA[*checkpoint.ReadError](err), IsA[*model.FileError](err):
		return ExitData
	case IsA[*checkpoint.WriteError](err), IsA[*checkpoint.NoneError](err):
		return ExitCheckpoint
	case errors.As(err, &stopped):
		if stopped.IsPreempted && stopped.Step > 0 {
			return ExitPreempted
		}
		return ExitInterrupted
	case IsInterrupt(err):
		return ExitInterrupted
	case IsA[*cluster.RendezvousError](err), IsA[*tcp.HelloError](err):
		return ExitRendezvous
	case IsA[*comm.PeerError](err), IsA[*cluster.LimitError](err), IsA[*cluster.VerdictError](err),
		errors.Is(err, cluster.ErrLauncherLost):
		return ExitPeerLost
	case IsFull(err), isBarred(err):
		return ExitCheckpoint
	}
	return ExitInternal
}

// isFailure reports whether a status is one of those above for a run that has failed.
func isFailure(status int) bool {
	isOwn := status >= ExitInternal && status <= ExitCheck
	return isOwn || status == ExitPreempted || status == ExitInterrupted
}

// IsFull reports whether err says that a disk has no room.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// isBarred reports whether err says that a file may not grow (ulimit -f), that its disk is read-only, or that
// its folder is another user's.
func isBarred(err error) bool {
	isOfFile := IsA[*fs.PathError](err) || IsA[*os.LinkError](err)
	return errors.Is(err, syscall.EFBIG) || errors.Is(err, syscall.EROFS) ||
		isOfFile && errors.Is(err, fs.ErrPermission)
}

// IsA reports whether err is, or wraps, an E.
func IsA[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// IsInterrupt reports whether err comes from a signal that asks the run to stop.
func IsInterrupt(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, cluster.ErrStopped)
}

// StoppedError is the error of a run with checkpoints that was asked to stop.
type StoppedError struct {
	Directory string
	// Resume is the command line that goes on.
	Resume string
	// Step is the step of the newest checkpoint; 0: there is none.
	Step int
	// Unsaved is the reason why the last steps were not saved; nil: they were.
	Unsaved error
	// IsPreempted tells a scheduler's signal from Ctrl-C.
	IsPreempted bool
}

// Error says how to go on.
func (e *StoppedError) Error() string {
	switch {
	case e.Unsaved != nil && e.Step == 0:
		return fmt.Sprintf("interrupted; no checkpoint was saved: %v", e.Unsaved)
	case e.Unsaved != nil:
		return fmt.Sprintf("interrupted; the last steps were not saved: %v; the newest checkpoint is that "+
			"after step %d, and %s goes on from there", e.Unsaved, e.Step, e.Resume)
	case e.Step == 0:
		return "interrupted; no checkpoint has been written to resume from"
	}
	return fmt.Sprintf("interrupted; the checkpoint after step %d is saved, and %s goes on from there",
		e.Step, e.Resume)
}

// EndedError is the error of a run that ended early and has left a run directory.
type EndedError struct {
	Directory string
	Err       error
}

// Error returns the text of Err.
func (e *EndedError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *EndedError) Unwrap() error { return e.Err }
