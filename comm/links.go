package comm

import "hash/crc32"

// links is the state of a rank's links, in both directions, and what their frames have in common.
type links struct {
	mesh       Mesh
	generation uint32
	table      *crc32.Table
	isChecked  []bool   // by peer: whether bodies have a checksum
	out, in    []stream // by peer
	want       []Direction
	counts     []Count // by peer, since they were taken
}

func newLinks(mesh Mesh, generation uint32) links {
	n := mesh.Size()
	l := links{mesh: mesh, generation: generation, table: crc32.MakeTable(crc32.Castagnoli),
		isChecked: make([]bool, n), out: make([]stream, n), in: make([]stream, n),
		want: make([]Direction, n), counts: make([]Count, n)}
	for peer := range l.isChecked {
		l.isChecked[peer] = isChecked(mesh, peer)
	}
	return l
}
