package comm

import (
	"encoding/binary"
	"hash/crc32"
)

// ParseFrame reads a header as the executor does and applies only the rules that hold for every
// frame.
func ParseFrame(b []byte) error {
	_, err := parse(b, crc32.MakeTable(crc32.Castagnoli))
	return err
}

// SealFrame puts the right checksum into a header.
func SealFrame(b []byte) []byte {
	sum := crc32.Checksum(b[:28], crc32.MakeTable(crc32.Castagnoli))
	return binary.LittleEndian.AppendUint32(append([]byte(nil), b[:28]...), sum)
}

// CheckFrame reads a header, compares it with the one expected and returns the length of the body.
func CheckFrame(b []byte, op Op, generation, sequence uint32, length uint64) (uint64, error) {
	h, err := parse(b, crc32.MakeTable(crc32.Castagnoli))
	if err != nil {
		return 0, err
	}
	want := header{kind: uint8(op), generation: generation, sequence: sequence, length: length}
	return h.length, h.check(want)
}

// AppendFrame appends a header to b.
func AppendFrame(b []byte, op Op, generation, sequence uint32, length uint64) []byte {
	h := header{kind: uint8(op), generation: generation, sequence: sequence, length: length}
	var head [headBytes]byte
	h.put(head[:], crc32.MakeTable(crc32.Castagnoli))
	return append(b, head[:]...)
}

// AppendReport appends to b a report that rank lost was lost.
func AppendReport(b []byte, generation, lost uint32) []byte {
	h := header{kind: abortFrame, generation: generation, lost: lost}
	var head [headBytes]byte
	h.put(head[:], crc32.MakeTable(crc32.Castagnoli))
	return append(b, head[:]...)
}

// Force makes the group use one algorithm for every size, as if it had been measured to be the
// fastest.
func (g *Group) Force(algorithm string) {
	g.exec.tuning = &Tuning{Choices: []Choice{{SegmentElems * 4, algorithm, 0}}}
	clear(g.exec.plans)
}
