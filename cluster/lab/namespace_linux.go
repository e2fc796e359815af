package lab

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// namespace is a network namespace without a name: it lives as long as a descriptor or a process holds
// it.
type namespace struct{ fd int }

// newNamespace creates a network in which there is nothing but a loopback interface.
func newNamespace() (ns namespace, err error) {
	failed := onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return missing("create a network namespace", err, hint)
		}
		ns.fd, err = unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		return err
	})
	return ns, failed
}

// do calls f on a thread that is in the namespace. Sockets and devices that f opens stay there.
func (ns namespace) do(f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(ns.fd, unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter a network namespace: %w", err)
		}
		return f()
	})
}

// path is where other processes of the user find the namespace, for as long as this one lives.
func (ns namespace) path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), ns.fd) }

func (ns namespace) close() error { return unix.Close(ns.fd) }

// onThread calls f on a thread that ends with the call, because it may leave this process's network.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- f()
	}()
	return <-done
}
