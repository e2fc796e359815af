package cluster

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// enterNetwork moves the calling thread, and the processes that it starts from now on, to the
// network namespace at path. This cannot be undone: the thread must end with its goroutine.
func enterNetwork(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the network namespace %s: %w", path, err)
	}
	defer unix.Close(fd)
	if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the network namespace %s: %w", path, err)
	}
	return nil
}
