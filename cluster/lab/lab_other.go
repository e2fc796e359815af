//go:build !linux

package lab

import (
	"errors"
	"runtime"
)

// Run fails: only Linux has network namespaces.
func Run(Config, Options) (*Report, error) {
	return nil, missing("create hosts on "+runtime.GOOS, errors.ErrUnsupported, "use Linux, in a virtual "+
		"machine if need be")
}
