package job

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"lockstep/cluster"
	"lockstep/data"
)

// A disk that is full or cannot be written is no fault of the program, whichever file it is found by.
func TestFullDiskHasItsExitStatus(t *testing.T) {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS,
		syscall.EACCES, syscall.EPERM} {
		err := fmt.Errorf("write config.yaml: %w", &fs.PathError{Op: "write", Path: "x", Err: full})
		if got := ExitCode(err); got != ExitCheckpoint {
			t.Errorf("%v: exit %d, want %d", err, got, ExitCheckpoint)
		}
	}
}

// What is wrong with a data set is told by its status, whether it is one of Lockstep's or of the program that
// calls it; an interrupted load is an interruption.
func TestOwnDataHasTheStatusOfData(t *testing.T) {
	malformed := &data.Set{Name: "train", Classes: []string{"a", "b"}, Labels: []int32{0, 2}}
	for name, made := range map[string]struct {
		train *data.Set
		err   error
	}{"fails": {nil, errors.New("no such table")}, "none": {}, "malformed": {malformed, nil}} {
		own, err := data.Catalog{}.With(name, func(context.Context, data.Options) (train, test *data.Set,
			err error) {
			return made.train, nil, made.err
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = own.Load(t.Context(), name, data.Options{}); ExitCode(err) != ExitData {
			t.Errorf("%s: %v ends with %d, want %d", name, err, ExitCode(err), ExitData)
		}
	}
	own, err := data.Catalog{}.With("slow", func(ctx context.Context, _ data.Options) (train, test *data.Set,
		err error) {
		return nil, nil, ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := own.Load(ctx, "slow", data.Options{}); ExitCode(err) != ExitInterrupted {
		t.Errorf("%v ends with %d, want %d", err, ExitCode(err), ExitInterrupted)
	}
}

// A worker that reports an error with a status that no failed run has, such as that of success, has failed.
func TestAFailureIsNoSuccess(t *testing.T) {
	for status, want := range map[int]int{ExitOK: ExitInternal, -1: ExitInternal, 256: ExitInternal,
		ExitData: ExitData, ExitDiverged: ExitDiverged} {
		if got := ExitCode(&cluster.WorkerError{Reported: true, Status: status}); got != want {
			t.Errorf("reported %d: exit %d, want %d", status, got, want)
		}
	}
}
