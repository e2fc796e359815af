package comm

import (
	"hash/crc32"

	"lockstep/shard"
)

// ParseFrame reads a header as the executor does and compares it with nothing but the rules that
// hold for every frame.
func ParseFrame(b []byte) error {
	_, err := parse(b, crc32.MakeTable(crc32.Castagnoli))
	return err
}

// AppendFrame appends a header to b.
func AppendFrame(b []byte, op Op, generation, sequence uint32, length uint64) []byte {
	h := header{kind: uint8(op), generation: generation, sequence: sequence, length: length}
	var head [headBytes]byte
	h.put(head[:], crc32.MakeTable(crc32.Castagnoli))
	return append(b, head[:]...)
}

// AppendReport appends a report that rank lost was lost to b.
func AppendReport(b []byte, generation, lost uint32) []byte {
	h := header{kind: abortFrame, generation: generation, lost: lost}
	var head [headBytes]byte
	h.put(head[:], crc32.MakeTable(crc32.Castagnoli))
	return append(b, head[:]...)
}

// Choose is choose, for figures that were not measured.
func (t *Tuning) Choose(hosts Topology, plan shard.Plan) { t.choose(hosts, plan) }

// Force makes the group take one algorithm for every size, as if it had been measured to be the quickest.
func (g *Group) Force(algorithm string) {
	g.exec.tuning = &Tuning{Choices: []Choice{{SegmentElems * 4, algorithm, 0}}}
	clear(g.exec.plans)
}
