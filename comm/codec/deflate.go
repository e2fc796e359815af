package codec

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"

	"lockstep/comm"
)

// deflate compresses by entropy coding alone: the first bytes of all elements, then the second ones
// and so on, because in a gradient all but sign and exponent is noise. The first byte of a body
// says whether the rest is compressed. The standard library's decoder allocates some tables per
// body.
type deflate struct {
	planes []byte
	writer *flate.Writer
	out    bounded
	reader io.ReadCloser
	in     bytes.Reader
}

// The first byte of a body.
const (
	stored     = 0
	compressed = 1
)

func (*deflate) Name() string       { return "deflate" }
func (*deflate) Loss() comm.Loss    { return comm.Lossless }
func (*deflate) IsFixed() bool      { return false }
func (*deflate) MaxBytes(n int) int { return 1 + 4*n }

func (c *deflate) Encode(dst []byte, src []float32) int {
	raw := comm.Bytes(src)
	c.out = bounded{b: dst[1 : 1+len(raw)]}
	if c.writer == nil {
		w, err := flate.NewWriter(&c.out, flate.HuffmanOnly)
		if err != nil {
			panic(err) // the level is valid
		}
		c.writer = w
	}
	c.writer.Reset(&c.out)
	planes := c.scratch(len(raw))
	split(planes, raw)
	_, err := c.writer.Write(planes)
	if err = errors.Join(err, c.writer.Close()); err != nil || c.out.n >= len(raw) {
		return store(dst, raw)
	}
	dst[0] = compressed
	return 1 + c.out.n
}

func (c *deflate) Decode(dst []float32, src []byte) error {
	raw := comm.Bytes(dst)
	if isStored, err := unstore(c.Name(), raw, src); isStored || err != nil {
		return err
	}
	c.in.Reset(src[1:])
	if c.reader == nil {
		c.reader = flate.NewReader(&c.in)
	} else if err := c.reader.(flate.Resetter).Reset(&c.in, nil); err != nil {
		return fmt.Errorf("codec: deflate: %w", err)
	}
	planes := c.scratch(len(raw))
	if n, err := io.ReadFull(c.reader, planes); err != nil {
		return fmt.Errorf("codec: deflate: byte %d of %d: %w", n, len(planes), err)
	}
	if n, err := c.reader.Read(c.planes[len(raw):][:1]); n > 0 || err != io.EOF {
		return fmt.Errorf("codec: deflate: more than %d bytes", len(raw))
	}
	join(raw, planes)
	return nil
}

func (c *deflate) scratch(n int) []byte {
	if n >= len(c.planes) {
		c.planes = make([]byte, n+1) // one more to detect excess data
	}
	return c.planes[:n]
}

// store writes raw to a body uncompressed.
func store(dst, raw []byte) int {
	dst[0] = stored
	return 1 + copy(dst[1:], raw)
}

// unstore copies a stored body to raw, and reports whether the body is a stored one.
func unstore(name string, raw, body []byte) (isStored bool, err error) {
	switch {
	case len(body) == 0:
		return false, errLength(name, len(raw)/4, 0, 1)
	case body[0] != stored:
		return false, nil
	case len(body) != 1+len(raw):
		return true, errLength(name, len(raw)/4, len(body), 1+len(raw))
	}
	copy(raw, body[1:])
	return true, nil
}

// split sets planes to the bytes 0 of raw's 4-byte elements, then the bytes 1, 2 and 3.
func split(planes, raw []byte) {
	n := len(raw) / 4
	p0, p1, p2, p3 := planes[:n], planes[n:][:n], planes[2*n:][:n], planes[3*n:][:n]
	for i := range p0 {
		r := raw[4*i : 4*i+4 : 4*i+4]
		p0[i], p1[i], p2[i], p3[i] = r[0], r[1], r[2], r[3]
	}
}

// join is the inverse of split.
func join(raw, planes []byte) {
	n := len(raw) / 4
	p0, p1, p2, p3 := planes[:n], planes[n:][:n], planes[2*n:][:n], planes[3*n:][:n]
	for i := range p0 {
		r := raw[4*i : 4*i+4 : 4*i+4]
		r[0], r[1], r[2], r[3] = p0[i], p1[i], p2[i], p3[i]
	}
}

// bounded is a writer to a buffer that never grows.
type bounded struct {
	b []byte
	n int
}

func (w *bounded) Write(p []byte) (int, error) {
	n := copy(w.b[w.n:], p)
	w.n += n
	if n < len(p) {
		return n, io.ErrShortBuffer
	}
	return n, nil
}
