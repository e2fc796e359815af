//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package regular

import (
	"context"
	"os"
)

// Lock takes no lock: here two processes that fill the same file write over each other, and the hash of the
// finished file tells.
func Lock(context.Context, *os.File) error { return nil }
