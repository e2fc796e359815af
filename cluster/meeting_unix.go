//go:build unix

package cluster

import (
	"fmt"
	"os"
	"syscall"
)

// checkPrivate returns an error unless the folder belongs to this user and nobody else may enter it.
func checkPrivate(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(s.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s must be a folder of this user with mode 700; remove it", folder)
	}
	return nil
}

// RedirectOutput makes the file at path the standard output and error of this process, also for
// what the Go runtime says about a panic.
func RedirectOutput(path string) error {
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer log.Close()
	for _, standard := range []int{1, 2} {
		if err := duplicate(int(log.Fd()), standard); err != nil {
			return os.NewSyscallError("dup2", err)
		}
	}
	return nil
}
