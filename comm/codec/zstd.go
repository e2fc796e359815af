package codec

import (
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"

	"lockstep/comm"
)

// zstandard is deflate with Zstandard frames: one for each plane of the elements' bytes, after a
// byte that says whether the body is compressed.
type zstandard struct {
	planes, out []byte
	encoder     *zstd.Encoder
	decoder     *zstd.Decoder
}

// maxWindow is the largest window that a body may ask for, the least that the format guarantees. It
// is more than this package's encoder uses for a segment.
const maxWindow = 8 << 20

func (*zstandard) Name() string       { return "zstd" }
func (*zstandard) Loss() comm.Loss    { return comm.Lossless }
func (*zstandard) IsFixed() bool      { return false }
func (*zstandard) MaxBytes(n int) int { return 1 + 4*n }

func (c *zstandard) Encode(dst []byte, src []float32) int {
	raw := comm.Bytes(src)
	if c.encoder == nil {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithAllLitEntropyCompression(true)) // gradients contain few matches
		if err != nil {
			panic(err) // the options are valid
		}
		c.encoder = e
	}
	planes := c.scratch(len(raw))
	split(planes, raw)
	c.out = c.out[:0]
	for plane := range slices.Chunk(planes, max(1, len(src))) {
		c.out = c.encoder.EncodeAll(plane, c.out) // bytes of one plane have similar values
	}
	if len(c.out) >= len(raw) {
		return store(dst, raw)
	}
	dst[0] = compressed
	return 1 + copy(dst[1:], c.out)
}

func (c *zstandard) Decode(dst []float32, src []byte) error {
	raw := comm.Bytes(dst)
	if isStored, err := unstore(c.Name(), raw, src); isStored || err != nil {
		return err
	}
	if c.decoder == nil {
		// The size that a body claims is never allocated: it is decoded into the scratch, which
		// bounds the output.
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxWindow(maxWindow), zstd.IgnoreChecksum(true))
		if err != nil {
			panic(err) // the options are valid
		}
		c.decoder = d
	}
	planes := c.scratch(len(raw))
	decoded, err := c.decoder.DecodeAll(src[1:], planes[:0:len(raw)])
	switch {
	case err != nil:
		return fmt.Errorf("codec: zstd: %w", err)
	case len(decoded) != len(raw):
		return fmt.Errorf("codec: zstd: %d bytes in the body, want %d", len(decoded), len(raw))
	}
	join(raw, planes)
	return nil
}

func (c *zstandard) scratch(n int) []byte {
	if n > len(c.planes) {
		c.planes = make([]byte, n)
	}
	return c.planes[:n]
}
