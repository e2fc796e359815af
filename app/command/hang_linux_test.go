package command

import (
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"lockstep/cluster"
)

// The worker of a test whose rank the variable names hangs when it may not write to its files any more.
const hangRank = "LOCKSTEP_TEST_HANG"

// stderrOf returns the standard error of this process, which in a worker that shall hang does so.
func stderrOf(e cluster.Environment) io.Writer {
	if rank := e[hangRank]; rank == "" || rank != e[cluster.EnvRank] {
		return os.Stderr
	}
	return hang{}
}

// hang is a standard error that never takes a line about a full file, of which a worker tells after a step.
type hang struct{}

func (hang) Write(text []byte) (int, error) {
	if strings.Contains(string(text), syscall.EFBIG.Error()) {
		mayWrite(os.Getpid(), true) // the stacks
		time.Sleep(time.Hour)
	}
	return os.Stderr.Write(text)
}
