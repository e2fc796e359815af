//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package data

import (
	"context"
	"os"
)

// lockFile does nothing: this system's locks are not used.
func lockFile(context.Context, *os.File) error { return nil }
