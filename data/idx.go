package data

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// readIDX reads an IDX file of unsigned bytes whose axes after the first are inner, to its end.
// It returns the elements and the length n of the first axis, 1 to limit.
//
// Layout, big-endian: two zero bytes, 0x08 for unsigned bytes, the number of axes, 4 bytes for the
// length of each axis, the elements in row-major order. Memory grows with what is read, not with
// the sizes in the header. file names r in errors. After LeCun, Cortes and Burges.
func readIDX(r io.Reader, file string, inner []int, limit int) (elements []byte, n int, err error) {
	axes := 1 + len(inner)
	header := make([]byte, 4+4*axes)
	if got, err := io.ReadFull(r, header); err != nil {
		return nil, 0, readError(err, file, int64(got), "header incomplete")
	}
	magic := binary.BigEndian.Uint32(header)
	if want := uint32(0x0800 + axes); magic != want {
		return nil, 0, &FormatError{File: file, Offset: 0,
			Reason: fmt.Sprintf("magic number %#08x, want %#08x", magic, want)}
	}
	claimed := binary.BigEndian.Uint32(header[4:])
	if claimed < 1 || int64(claimed) > int64(limit) {
		return nil, 0, &FormatError{File: file, Offset: 4,
			Reason: fmt.Sprintf("%d items, want 1 to %d", claimed, limit)}
	}
	size := int(claimed)
	for i, want := range inner {
		at := 8 + 4*i
		if got := binary.BigEndian.Uint32(header[at:]); got != uint32(want) {
			return nil, 0, &FormatError{File: file, Offset: int64(at),
				Reason: fmt.Sprintf("axis of length %d, want %d", got, want)}
		}
		size *= want
	}
	const chunk = 1 << 20
	for len(elements) < size {
		more := min(chunk, size-len(elements))
		elements = slices.Grow(elements, more)
		got, err := io.ReadFull(r, elements[len(elements):len(elements)+more])
		elements = elements[:len(elements)+got]
		if err != nil {
			at := int64(len(header) + len(elements))
			return nil, 0, readError(err, file, at,
				fmt.Sprintf("ends after %d of %d elements", len(elements), size))
		}
	}
	return elements, int(claimed), expectEnd(r, file, int64(len(header)+size))
}
