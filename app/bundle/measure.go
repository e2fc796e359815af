package bundle

import "io"

// A bundle may expand to so many times its bytes, after some that are free: records are numbers in text,
// which take a seventh when they are packed.
const (
	maxExpansion = 32
	freeBytes    = 16 << 20
)

// measure counts the bytes of an archive.
type measure struct{ packed, plain int64 }

// check refuses an archive that is far larger than what it is packed into.
func (m *measure) check() error {
	if m.plain > freeBytes+maxExpansion*m.packed {
		return refuse("", "it expands to more than %d times its %d bytes; records do not",
			maxExpansion, m.packed)
	}
	return nil
}

// counted counts the bytes of a reader.
type counted struct {
	io.Reader
	n *int64
}

// Read reads.
func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	*c.n += int64(n)
	return n, err
}

// measured is a reader of an archive that fails where the measure does.
type measured struct {
	io.Reader
	*measure
}

// Read reads.
func (m measured) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if failed := m.check(); failed != nil {
		return 0, failed
	}
	return n, err
}

// packing counts the bytes that are written to an archive's file.
type packing struct {
	io.Writer
	n *int64
}

// Write writes.
func (p packing) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	*p.n += int64(n)
	return n, err
}
