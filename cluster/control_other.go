//go:build !unix

package cluster

import (
	"errors"
	"net"
	"os"
)

// hasSocketPairs reports whether workers can inherit a connection on this system.
const hasSocketPairs = false

// socketPair returns an error on this system.
func socketPair() (net.Conn, *os.File, error) { return nil, nil, errors.ErrUnsupported }
