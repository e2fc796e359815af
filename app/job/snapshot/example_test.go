package snapshot_test

import (
	"fmt"
	"syscall"

	"lockstep/app/job"
	"lockstep/app/job/snapshot"
)

// An error of a full disk names the disk and what it has left.
func ExampleWithRoom() {
	err := snapshot.WithRoom(syscall.ENOSPC, ".", "2 GiB")
	fmt.Println(job.ExitCode(err) == job.ExitCheckpoint)
	// Output: true
}
