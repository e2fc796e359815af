//go:build !linux

package command

import (
	"io"
	"os"

	"lockstep/cluster"
)

// stderrOf returns the standard error of this process; no worker hangs on this system.
func stderrOf(cluster.Environment) io.Writer { return os.Stderr }
