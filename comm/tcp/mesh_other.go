//go:build !unix

package tcp

import (
	"fmt"
	"runtime"
	"slices"

	"lockstep/comm"
)

// newMesh returns an error: the mesh needs poll(2).
func newMesh(_ *Config, ends [][]end) (comm.Mesh, error) {
	for _, e := range slices.Concat(ends...) {
		e.conn.Close()
	}
	return nil, fmt.Errorf("tcp: links between processes are not supported on %s", runtime.GOOS)
}
