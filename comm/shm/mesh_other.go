//go:build !unix

package shm

import (
	"context"
	"errors"
	"os"

	"lockstep/comm"
)

// IsSupported reports whether this system has links by shared memory.
const IsSupported = false

var errUnsupported = errors.New("shm: shared memory between processes is not supported on this system")

// Create returns an error on this system.
func Create(int) (*os.File, error) { return nil, errUnsupported }

// Ranks returns an error on this system.
func Ranks(*os.File) (int, error) { return 0, errUnsupported }

// Connect returns an error on this system.
func Connect(context.Context, *os.File, int) (comm.Mesh, error) { return nil, errUnsupported }
