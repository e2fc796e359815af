//go:build !linux

package lab

import (
	"errors"
	"runtime"
)

// Run fails: only Linux has network namespaces.
func Run(Config, Options) (*Report, error) {
	return nil, &MissingError{What: "create hosts on " + runtime.GOOS,
		Err: errors.ErrUnsupported, Hint: "use Linux, in a virtual machine if need be"}
}
