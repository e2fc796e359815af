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

// Lock blocks until this process has the exclusive lock on file. The lock ends when the file is
// closed. Without support by the file system it does nothing. The error wraps that of ctx.
func Lock(ctx context.Context, file *os.File) error {
	const period = 200 * time.Millisecond
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the process that writes %s: %w", file.Name(), ctx.Err())
		case <-time.After(period):
		}
	}
}
