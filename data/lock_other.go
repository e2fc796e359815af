//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package data

import (
	"context"
	"os"
)

// lockFile takes no lock: here two processes that download at once write to the same file, and the hash of
// the finished file tells.
func lockFile(context.Context, *os.File) error { return nil }
