//go:build !linux

package serve

import (
	"errors"
	"net"
)

// ignoreNew cannot keep clients from connecting to l.
func ignoreNew(net.Listener) error { return errors.ErrUnsupported }
