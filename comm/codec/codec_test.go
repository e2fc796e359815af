package codec_test

import (
	"bytes"
	"compress/flate"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"lockstep/comm"
	"lockstep/comm/codec"
	"lockstep/comm/commtest"
)

func must(t testing.TB, name string) comm.Codec {
	t.Helper()
	c, err := codec.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// coded lists all codecs but fp32.
func coded() []string { return codec.Names()[1:] }

// vectors returns vectors of odd lengths: noise, zeros, a few entries far apart, extremes.
func vectors() map[string][]float32 {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]float32, 1009)
	for i := range noise {
		noise[i] = float32(r.NormFloat64() * math.Exp(4*r.NormFloat64()))
	}
	far := make([]float32, 200_003)
	far[3], far[70_000], far[200_002] = 1, -2, 1e-40
	return map[string][]float32{
		"noise": noise, "one": {-3}, "zeros": make([]float32, 515), "far": far,
		"extremes": {0, float32(math.Copysign(0, -1)), 1e-45, -1e-45, 1e-38, math.MaxFloat32,
			-math.MaxFloat32, 1},
		"small": {1e-45, 2e-44, -1e-41},
	}
}

// trip encodes and decodes x, with guards behind both.
func trip(t *testing.T, c comm.Codec, x []float32) (decoded []float32, bytes int) {
	t.Helper()
	most := c.MaxBytes(len(x))
	body := make([]byte, most+8)
	for i := range body {
		body[i] = 0xa5
	}
	n := c.Encode(body[:most], x)
	if n < 1 || n > most || c.IsFixed() && n != most {
		t.Fatalf("%s: %d elements in %d bytes, want at most %d", c.Name(), len(x), n, most)
	}
	for _, b := range body[most:] {
		if b != 0xa5 {
			t.Fatalf("%s: wrote behind its end", c.Name())
		}
	}
	guard := float32(math.NaN())
	all := append(make([]float32, len(x)), guard)
	for i := range x {
		all[i] = 77
	}
	if err := c.Decode(all[:len(x)], body[:n]); err != nil {
		t.Fatalf("%s: %v", c.Name(), err)
	}
	if all[len(x)] == all[len(x)] {
		t.Fatalf("%s: decoded behind the end", c.Name())
	}
	return all[:len(x)], n
}

func TestRoundTrips(t *testing.T) {
	for _, name := range coded() {
		c := must(t, name)
		for what, x := range vectors() {
			got, _ := trip(t, c, x)
			for i, y := range got {
				if d, most := math.Abs(float64(y)-float64(x[i])), allowed(c, x, i); !(d <= most) {
					t.Errorf("%s of %s: element %d is %v, want %v within %v", name, what, i, y, x[i], most)
					break
				}
			}
			if i := commtest.Differ(got, x); c.Loss() == comm.Lossless && i >= 0 {
				t.Errorf("%s of %s: element %d is %v, want the bits of %v", name, what, i, got[i], x[i])
			}
			again, _ := trip(t, c, got)
			if i := commtest.Differ(again, got); c.Loss() != comm.Blockwise && i >= 0 {
				t.Errorf("%s of %s: element %d rounded twice: %v, then %v", name, what, i, got[i], again[i])
			}
		}
	}
}

// allowed is the documented bound of the error of element i.
func allowed(c comm.Codec, x []float32, i int) float64 {
	switch c.Loss() {
	case comm.Elementwise:
		if math.Abs(float64(x[i])) > 0x1.fep127 {
			return math.Inf(1) // rounds to infinity
		}
		return math.Abs(float64(x[i]))/256 + 0x1p-134
	case comm.Blockwise:
		top := 0.0
		for _, v := range x[i/256*256 : min(i/256*256+256, len(x))] {
			top = max(top, math.Abs(float64(v)))
		}
		return top/254*(1+1e-5) + 4e-37
	}
	return 0
}

// Values that are not finite stay so, so that the training loop sees them.
func TestDivergenceShows(t *testing.T) {
	for _, name := range coded() {
		for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)),
			math.Float32frombits(0x7f800001)} {
			x := []float32{1, 2, bad, 4, 5}
			got, _ := trip(t, must(t, name), x)
			if y := float64(got[2]); !math.IsNaN(y) && !math.IsInf(y, 0) {
				t.Errorf("%s: %v became %v", name, bad, y)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	x := make([]float32, 100_000)
	x[0], x[1], x[99_999] = 1, 2, 3 // between the last two: one filler
	if _, n := trip(t, must(t, "sparse"), x); n != 4+6*4 {
		t.Errorf("sparse: %d bytes, want %d", n, 4+6*4)
	}
	for name, want := range map[string]int{"bf16": 200_000, "int8": 100_000 + 4*391} {
		if got := must(t, name).MaxBytes(100_000); got != want {
			t.Errorf("%s: %d bytes, want %d", name, got, want)
		}
	}
	for _, name := range []string{"deflate", "zstd"} {
		if _, n := trip(t, must(t, name), commtest.NewContributions(1, 100_000)[0]); n > 380_000 {
			t.Errorf("%s: %d of 400000 bytes", name, n)
		}
	}
}

// Bodies of a wrong length or with impossible contents are refused.
func TestBadBodies(t *testing.T) {
	tests := []struct {
		codec, want string
		body        []byte
	}{
		{"bf16", "7 bytes for 4 elements, want 8", make([]byte, 7)},
		{"int8", "9 bytes for 4 elements, want 8", make([]byte, 9)},
		{"sparse", "3 bytes", make([]byte, 3)},
		{"sparse", "5 bytes for 4 elements, want 4", make([]byte, 5)},
		{"sparse", "want 20", []byte{255, 255, 255, 255, 0}},
		{"sparse", "element 4 of 4", []byte{1, 0, 0, 0, 4, 0, 1, 1, 1, 1}},
		{"deflate", "0 bytes", nil},
		{"deflate", "2 bytes for 4 elements, want 17", []byte{0, 0}},
		{"deflate", "corrupt", []byte{1, 7}},
		{"deflate", "byte 0 of 16", []byte{1}},
		{"zstd", "0 bytes", nil},
		{"zstd", "3 bytes for 4 elements, want 17", []byte{0, 0, 0}},
		{"zstd", "zstd: ", []byte{1, 7}},
		{"zstd", "5 bytes in the body, want 16", zstandard(t, 5)},
		{"zstd", "zstd: ", zstandard(t, 17)},
		{"zstd", "zstd: ", zstandard(t, 1<<20)},
		// a window of 1 TiB, and a content of 2^62 bytes
		{"zstd", "zstd: ", []byte{1, 0x28, 0xb5, 0x2f, 0xfd, 0, 30 << 3, 1, 0, 0}},
		{"zstd", "zstd: ", []byte{1, 0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0x40, 1, 0, 0}},
		{"deflate", "more than 16", append([]byte{1, 1, 17, 0, 238, 255}, make([]byte, 17)...)},
	}
	for _, test := range tests {
		err := must(t, test.codec).Decode(make([]float32, 4), test.body)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s of % x: %v, want %q in it", test.codec, test.body, err, test.want)
		}
	}
	if _, err := codec.New("zip"); err == nil || !strings.Contains(err.Error(), "want one of fp32, bf16") {
		t.Errorf("unknown name: %v", err)
	}
}

// zstandard is the body of n zeros.
func zstandard(t testing.TB, n int) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	return e.EncodeAll(make([]byte, n), []byte{1})
}

// A body that claims or holds too much allocates nothing for it.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("packs 64 MiB on one goroutine")
	}
	const claimed = 64 << 20
	bodies := map[string][]byte{"zstd": zstandard(t, claimed)}
	var packed bytes.Buffer
	packed.WriteByte(1)
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, claimed)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	bodies["deflate"] = packed.Bytes()
	for name, body := range bodies {
		c, dst := must(t, name), make([]float32, 4)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := c.Decode(dst, body)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 2<<20 {
			t.Errorf("%s: %v after %d bytes", name, err, took)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(uint8(1), uint16(9), []byte{1, 2, 3})
	f.Add(uint8(2), uint16(5), []byte{1, 0, 0, 0, 4, 0, 1, 1, 1, 1})
	f.Fuzz(func(t *testing.T, which uint8, elems uint16, body []byte) {
		names := coded()
		must(t, names[int(which)%len(names)]).Decode(make([]float32, elems), body)
	})
}

func BenchmarkCodecs(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, 1<<18)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	thin := make([]float32, len(x))
	for i := 0; i < len(x); i += 100 {
		thin[i] = x[i]
	}
	for _, name := range coded() {
		src := x
		if name == "sparse" {
			src = thin
		}
		c := must(b, name)
		body := make([]byte, c.MaxBytes(len(src)))
		n := c.Encode(body, src)
		b.Run(name+"/encode", func(b *testing.B) {
			b.SetBytes(int64(4 * len(src)))
			for b.Loop() {
				c.Encode(body, src)
			}
			b.ReportMetric(float64(4*len(src))/float64(n), "ratio")
		})
		b.Run(name+"/decode", func(b *testing.B) {
			b.SetBytes(int64(4 * len(src)))
			dst := make([]float32, len(src))
			for b.Loop() {
				c.Decode(dst, body[:n])
			}
		})
	}
}
