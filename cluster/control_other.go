//go:build !unix

package cluster

import (
	"errors"
	"net"
	"os"
)

// hasSocketPairs says whether workers can inherit a connection on this system.
const hasSocketPairs = false

// socketPair fails.
func socketPair() (net.Conn, *os.File, error) { return nil, nil, errors.ErrUnsupported }
