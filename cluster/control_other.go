//go:build !unix

package cluster

import (
	"errors"
	"net"
	"os"
)

// hasSocketPairs reports whether workers can inherit a connection on this system.
const hasSocketPairs = false

// AgentConnection returns an error on this system.
func AgentConnection() (net.Conn, *os.File, error) { return nil, nil, errors.ErrUnsupported }

// agentConnection returns an error on this system.
func (e Environment) agentConnection() (net.Conn, error) { return nil, errors.ErrUnsupported }

// socketPair returns an error on this system.
func socketPair() (net.Conn, *os.File, error) { return nil, nil, errors.ErrUnsupported }
