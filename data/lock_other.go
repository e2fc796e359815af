//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package data

import (
	"context"
	"os"
)

// lockFile does nothing: locks are not implemented for this system.
func lockFile(context.Context, *os.File) error { return nil }
