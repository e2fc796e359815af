//go:build !unix

package shm

import (
	"context"
	"errors"
	"os"

	"lockstep/comm"
)

// IsSupported says whether this system has links by shared memory.
const IsSupported = false

var errUnsupported = errors.New("shm: shared memory between processes is not supported on this system")

// Create makes the segment of a group; not on this system.
func Create(int) (*os.File, error) { return nil, errUnsupported }

// Ranks returns for how many ranks a segment was made; not on this system.
func Ranks(*os.File) (int, error) { return 0, errUnsupported }

// Connect joins the group of a segment; not on this system.
func Connect(context.Context, *os.File, int) (comm.Mesh, error) { return nil, errUnsupported }
