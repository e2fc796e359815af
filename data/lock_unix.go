//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockFile waits until this process alone may write file. The lock ends with the file's closing.
// Where the file system has no locks, it does without.
func lockFile(ctx context.Context, file *os.File) error {
	const period = 200 * time.Millisecond
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the process that downloads %s: %w", file.Name(), ctx.Err())
		case <-time.After(period):
		}
	}
}
