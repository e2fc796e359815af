//go:build !unix

package tcp

import (
	"fmt"
	"net"
	"runtime"

	"lockstep/comm"
)

// newMesh returns an error: the mesh needs poll(2).
func newMesh(_ int, conns []net.Conn, _ []*seal) (comm.Mesh, error) {
	for _, conn := range conns {
		if conn != nil {
			conn.Close()
		}
	}
	return nil, fmt.Errorf("tcp: links between processes are not supported on %s", runtime.GOOS)
}
