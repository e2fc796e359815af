package data

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
)

// Types of data elements of a MATLAB version 5 file ("MAT-File Format", The MathWorks).
const (
	matInt8       = 1
	matUint8      = 2
	matInt32      = 5
	matUint32     = 6
	matMatrix     = 14
	matCompressed = 15
)

const (
	matHeader  = 128
	matMaxAxes = 8
	matMaxName = 63
)

// matArray is an array of unsigned bytes in a MATLAB file.
type matArray struct {
	name string
	// axes are the lengths of its axes. Elements lie with the first axis innermost.
	axes []int
	// size is the number of elements, the product of axes.
	size int
	// data is positioned at the elements.
	data *matReader
}

// matReader reads a file, or a compressed element, and counts bytes.
type matReader struct {
	r    io.Reader
	file string // names r in errors; for a compressed element, with the element after a colon
	at   int64  // bytes read
}

func (m *matReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.at += int64(n)
	return n, err
}

func (m *matReader) fault(at int64, format string, args ...any) error {
	return &FormatError{File: m.file, Offset: at, Reason: fmt.Sprintf(format, args...)}
}

// full fills p with the part of the file that part names.
func (m *matReader) full(p []byte, part string) error {
	at := m.at
	if n, err := io.ReadFull(m, p); err != nil {
		return readError(err, m.file, at+int64(n), "ends in "+part)
	}
	return nil
}

// skip skips n bytes.
func (m *matReader) skip(n int64, part string) error {
	if _, err := io.CopyN(io.Discard, m, n); err != nil {
		return readError(err, m.file, m.at, "ends in "+part)
	}
	return nil
}

// readMAT calls visit with each array of a MATLAB version 5 file, plain or deflated, little-endian.
// visit must read all elements of the array. Only arrays stored as unsigned bytes are read. Memory
// grows neither with the sizes in the file nor with the inflated size. file names r in errors.
func readMAT(r io.Reader, file string, visit func(matArray) error) error {
	m := &matReader{r: r, file: file}
	var header [matHeader]byte
	if err := m.full(header[:], "the header"); err != nil {
		return err
	}
	version := header[124:128]
	if bytes.Equal(version, []byte("\x00\x02IM")) || bytes.HasPrefix(header[:], []byte("\x89HDF")) {
		return &FormatError{File: file, Offset: 124,
			Reason: "a file of MATLAB 7.3, which is HDF5, want MATLAB 5",
			Next:   "save it again with the option -v7 of MATLAB's save, or with savemat of scipy.io"}
	}
	if !bytes.Equal(version, []byte("\x00\x01IM")) {
		return m.fault(124, "version and byte order %q, want %q: a MATLAB 5 file, little-endian",
			version, "\x00\x01IM")
	}
	for {
		start := m.at
		kind, size, err := m.tag()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case kind == matMatrix:
			err = m.matrix(size, visit)
		case kind == matCompressed:
			err = m.inflate(start, size, visit)
		default:
			err = m.fault(start, "element of type %d, want an array (%d) or a compressed one (%d)",
				kind, matMatrix, matCompressed)
		}
		if err != nil {
			return err
		}
	}
}

// tag reads the 8 bytes before an element, or returns io.EOF.
func (m *matReader) tag() (kind uint32, size int64, err error) {
	var t [8]byte
	start := m.at
	if n, err := io.ReadFull(m, t[:]); n == 0 && err == io.EOF {
		return 0, 0, io.EOF
	} else if err != nil {
		return 0, 0, readError(err, m.file, start+int64(n), "ends in the tag of an element")
	}
	return binary.LittleEndian.Uint32(t[:]), int64(binary.LittleEndian.Uint32(t[4:])), nil
}

// inflate reads a compressed element, which started at byte start and has size bytes. It contains
// one array.
func (m *matReader) inflate(start, size int64, visit func(matArray) error) error {
	packed := &io.LimitedReader{R: m, N: size}
	z, err := zlib.NewReader(packed)
	if err != nil {
		return readError(err, m.file, m.at, "no zlib stream in the compressed element")
	}
	inner := &matReader{r: z, file: fmt.Sprintf("%s:element at byte %d", m.file, start)}
	kind, inflated, err := inner.tag()
	switch {
	case err == io.EOF:
		return inner.fault(0, "empty")
	case err != nil:
		return err
	case kind != matMatrix:
		return inner.fault(0, "type %d, want an array (%d)", kind, matMatrix)
	}
	if err := inner.matrix(inflated, visit); err != nil {
		return err
	}
	if err := expectEnd(inner, inner.file, inner.at); err != nil { // verifies the checksum
		return err
	}
	return m.skip(packed.N, "a compressed element")
}

// matrix reads an array whose parts take size bytes.
func (m *matReader) matrix(size int64, visit func(matArray) error) error {
	end := m.at + size
	var flags [8]byte
	if _, err := m.part(flags[:], matUint32, "the array flags"); err != nil {
		return err
	}
	var axes [4 * matMaxAxes]byte
	at := m.at
	n, err := m.part(axes[:], matInt32, "the lengths of the axes")
	if err != nil {
		return err
	}
	a := matArray{size: 1, data: m}
	for i := 0; i+4 <= n; i += 4 {
		axis := int(int32(binary.LittleEndian.Uint32(axes[i:])))
		if axis < 0 || int64(a.size)*int64(axis) > size {
			return m.fault(at, "axis of length %d in an array of %d bytes", axis, size)
		}
		a.axes, a.size = append(a.axes, axis), a.size*axis
	}
	var name [matMaxName]byte
	if n, err = m.part(name[:], matInt8, "the name of the array"); err != nil {
		return err
	}
	a.name = string(name[:n])
	at = m.at
	kind, elems, inline, err := m.partTag("the elements of " + a.name)
	switch {
	case err != nil:
		return err
	case kind != matUint8:
		return m.fault(at, "%s is stored as type %d, want unsigned bytes (%d)", a.name, kind, matUint8)
	case elems != int64(a.size) || inline == nil && m.at+elems > end:
		return m.fault(at, "%s has %d elements, want %d for axes %v", a.name, elems, a.size, a.axes)
	}
	if inline != nil {
		a.data = &matReader{r: bytes.NewReader(inline), file: m.file, at: at + 4}
	}
	if err := visit(a); err != nil {
		return err
	}
	if m.at > end || end-m.at >= 8 {
		return m.fault(m.at, "array %s ends at byte %d, want %d", a.name, m.at, end)
	}
	return m.skip(end-m.at, "the padding of "+a.name)
}

// partTag reads the tag of a part of an array. A part of up to four bytes may be inside its tag and
// is then returned as inline, which is otherwise nil.
func (m *matReader) partTag(what string) (kind uint32, size int64, inline []byte, err error) {
	var t [8]byte
	start := m.at
	if err := m.full(t[:], what); err != nil {
		return 0, 0, nil, err
	}
	kind, size = binary.LittleEndian.Uint32(t[:]), int64(binary.LittleEndian.Uint32(t[4:]))
	if short := kind >> 16; short > 0 {
		if short > 4 {
			return 0, 0, nil, m.fault(start, "%s: %d bytes inside a tag, want at most 4", what, short)
		}
		return kind & 0xffff, int64(short), t[4 : 4+short], nil
	}
	return kind, size, nil, nil
}

// part reads a small part of an array, of type want, to dst, and skips its padding. It returns the
// number of bytes.
func (m *matReader) part(dst []byte, want uint32, what string) (int, error) {
	start := m.at
	kind, size, inline, err := m.partTag(what)
	switch {
	case err != nil:
		return 0, err
	case kind != want || size > int64(len(dst)):
		return 0, m.fault(start, "%s: %d bytes of type %d, want at most %d of type %d", what, size,
			kind, len(dst), want)
	case inline != nil:
		return copy(dst, inline), nil
	}
	if err := m.full(dst[:size], what); err != nil {
		return 0, err
	}
	return int(size), m.skip(-size&7, what)
}
