//go:build cuda && linux

package cudatest

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"lockstep/internal/cuda"
)

// GPU is a device with a queue, for one test.
type GPU struct {
	T      *testing.T
	Device *cuda.Device
	Stream *cuda.Stream
}

// Open opens device 0, or skips the test.
func Open(t *testing.T) *GPU {
	d, err := cuda.Open(0)
	if err != nil {
		t.Skip("needs an NVIDIA GPU: ", err)
	}
	t.Cleanup(d.Close)
	s, err := d.NewStream(cuda.Low)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &GPU{t, d, s}
}

// Memory returns device memory that holds values, which are rounded to bf16 in place if isHalf.
func (g *GPU) Memory(isHalf bool, values []float32) cuda.Pointer {
	p := g.Room(4 * len(values))
	if len(values) == 0 {
		return p
	}
	at, bytes := unsafe.Pointer(&values[0]), 4*len(values)
	if isHalf {
		halves := make([]uint16, len(values))
		for i, v := range values {
			halves[i] = toHalf(v)
			values[i] = fromHalf(halves[i])
		}
		at, bytes = unsafe.Pointer(&halves[0]), 2*len(values)
	}
	g.Must(g.Stream.ToDevice(p, at, bytes))
	g.Must(g.Stream.Wait())
	return p
}

// Room returns device memory.
func (g *GPU) Room(bytes int) cuda.Pointer {
	p, err := g.Device.Alloc(max(bytes, 256))
	g.Must(err)
	g.T.Cleanup(func() { g.Device.Free(p) })
	return p
}

// Values returns n values, of bf16 if isHalf, when all work is done.
func (g *GPU) Values(isHalf bool, p cuda.Pointer, n int) []float32 {
	values, halves := make([]float32, n), make([]uint16, n)
	if !isHalf {
		g.Must(g.Stream.ToHost(unsafe.Pointer(&values[0]), p, 4*n))
	} else {
		g.Must(g.Stream.ToHost(unsafe.Pointer(&halves[0]), p, 2*n))
	}
	g.Must(g.Stream.Wait())
	if isHalf {
		for i, h := range halves {
			values[i] = fromHalf(h)
		}
	}
	return values
}

// Must fails the test if there is an error.
func (g *GPU) Must(err error) {
	g.T.Helper()
	if err != nil {
		g.T.Fatal(err)
	}
}

// Random returns n values between -1 and 1.
func Random(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = 2*r.Float32() - 1
	}
	return v
}

func toHalf(x float32) uint16 {
	b := math.Float32bits(x)
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

func fromHalf(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// Tolerance is what a result may be off by, where sizes is the sum of the absolute
// values of its addends: of factors that are rounded to TF32 if rounds, and stored as bf16 if isHalf.
func Tolerance(rounds, isHalf bool, want, sizes float64) float64 {
	t := 4e-6 * sizes
	if rounds {
		t = 2e-3 * sizes
	}
	if isHalf {
		t += math.Abs(want) / 128
	}
	return t + 1e-6
}

// Compare fails the test unless got agrees with want.
func (g *GPU) Compare(what any, got []float32, want, tolerances []float64) {
	g.T.Helper()
	worst, at := 0.0, -1
	for i := range got {
		off := math.Abs(float64(got[i])-want[i]) / tolerances[i]
		if !(off <= worst) {
			worst, at = off, i
		}
	}
	if !(worst <= 1) {
		g.T.Errorf("%v: element %d is %v, want %v, off by %.3g times the tolerance", what, at, got[at],
			want[at], worst)
	}
}
