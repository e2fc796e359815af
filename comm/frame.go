package comm

import (
	"encoding/binary"
	"hash/crc32"
)

// Layout of a frame's header, little-endian:
//
//	 0  magic "LSF" and version 2
//	 4  type: the Op, or abortFrame
//	 5  zero
//	 6  number of the frame on this link in the collective, of a Message since the start, modulo 2^16;
//	    of an abortFrame 1 if the rank was in another collective than the sender, which the body then
//	    describes, else 0
//	 8  generation
//	12  sequence number of the collective, modulo 2^32, or the tag of a Message
//	16  length of the body in bytes
//	24  of an abortFrame the rank that was lost, else the CRC-32C of the body on a link that is
//	    checked (see [Checker]) and zero on others
//	28  CRC-32C of bytes 0 to 27
const (
	headBytes  = 32
	frameMagic = 'L' | 'S'<<8 | 'F'<<16 | 2<<24
	abortFrame = 0xff
	mismatched = 1   // number of an abortFrame
	maxAbout   = 512 // bytes of its body
)

// MaxFrame is the most bytes one frame's body may have; longer messages travel in several frames.
const MaxFrame = 64 << 20

// maxChecked is MaxFrame on a checked link. A sender needs the checksum of a whole body before it
// sends the first byte; with short frames the link stays busy with one frame while the checksum of
// the next is computed.
const maxChecked = 1 << 20

type header struct {
	kind       uint8
	frame      uint16
	generation uint32
	sequence   uint32
	length     uint64
	lost       uint32 // of an abortFrame
	sum        uint32 // of any other frame on a checked link
}

func (h header) put(b []byte, table *crc32.Table) {
	le := binary.LittleEndian
	le.PutUint32(b[0:], frameMagic)
	le.PutUint16(b[4:], uint16(h.kind))
	le.PutUint16(b[6:], h.frame)
	le.PutUint32(b[8:], h.generation)
	le.PutUint32(b[12:], h.sequence)
	le.PutUint64(b[16:], h.length)
	le.PutUint32(b[24:], h.lost|h.sum) // one of them is zero
	le.PutUint32(b[28:], crc32.Checksum(b[:28], table))
}

// parse checks what holds for every frame; check compares the rest with the expected header.
func parse(b []byte, table *crc32.Table) (header, error) {
	le := binary.LittleEndian
	if got := le.Uint32(b); got != frameMagic {
		return header{}, &FrameError{"magic", uint64(got), frameMagic}
	}
	if got, want := le.Uint32(b[28:]), crc32.Checksum(b[:28], table); got != want {
		return header{}, &FrameError{"checksum", uint64(got), uint64(want)}
	}
	h := header{
		kind:       b[4],
		frame:      le.Uint16(b[6:]),
		generation: le.Uint32(b[8:]),
		sequence:   le.Uint32(b[12:]),
		length:     le.Uint64(b[16:]),
	}
	if h.kind == abortFrame {
		h.lost = le.Uint32(b[24:])
	} else {
		h.sum = le.Uint32(b[24:])
	}
	if h.length > MaxFrame {
		return header{}, &FrameError{"length", h.length, MaxFrame}
	}
	return h, nil
}

// check compares a received header with the one expected.
func (h header) check(want header) error {
	switch {
	case h.generation != want.generation:
		return &FrameError{"generation", uint64(h.generation), uint64(want.generation)}
	case h.kind == abortFrame:
		return nil
	case h.sequence != want.sequence:
		return &FrameError{"sequence", uint64(h.sequence), uint64(want.sequence)}
	case h.kind != want.kind:
		return &FrameError{"type", uint64(h.kind), uint64(want.kind)}
	case h.frame != want.frame:
		return &FrameError{"frame number", uint64(h.frame), uint64(want.frame)}
	case h.length != want.length:
		return &FrameError{"length", h.length, want.length}
	}
	return nil
}
