//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package regular

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// TryLock takes the lock on file, which is shared with others who share it or exclusive, and reports whether
// it did; false without an error means that another process has it. The lock ends when the file is closed.
// The error says that the file system has no locks.
func TryLock(file *os.File, isShared bool) (isLocked bool, err error) {
	how := syscall.LOCK_EX
	if isShared {
		how = syscall.LOCK_SH
	}
	err = syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Lock blocks until this process has the exclusive lock on file. The lock ends when the file is
// closed. Without support by the file system it does nothing. The error wraps that of ctx.
func Lock(ctx context.Context, file *os.File) error {
	const period = 200 * time.Millisecond
	for {
		if isLocked, err := TryLock(file, false); isLocked || err != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the process that writes %s: %w", file.Name(), ctx.Err())
		case <-time.After(period):
		}
	}
}
