//go:build !unix

package cluster

import (
	"errors"
	"net"
	"os"
)

// checkPrivate returns an error on this system: folders have no mode.
func checkPrivate(string) error { return errors.ErrUnsupported }

func peerProcess(net.Conn) (pid int, err error) { return 0, errors.ErrUnsupported }

// RedirectOutput returns an error on this system.
func RedirectOutput(string) error { return errors.ErrUnsupported }

func pathOf(*os.File) string { return "" }
