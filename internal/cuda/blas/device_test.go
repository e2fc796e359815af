//go:build cuda && linux

package blas

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"lockstep/internal/cuda"
)

// gpu is a device with a queue and the library, for one test.
type gpu struct {
	t       *testing.T
	device  *cuda.Device
	stream  *cuda.Stream
	library *Library
}

// openGPU opens device 0, or skips the test.
func openGPU(t *testing.T) *gpu {
	d, err := cuda.Open(0)
	if err != nil {
		t.Skip("needs an NVIDIA GPU: ", err)
	}
	t.Cleanup(d.Close)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if _, err := load(); err != nil {
		t.Skip("needs cuBLASLt: ", err)
	}
	l, err := Open(d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	t.Log(d.Name, l.Version(), l.Path())
	return &gpu{t, d, s, l}
}

// memory returns device memory that holds values, which are rounded to the type in place.
func (g *gpu) memory(t DType, values []float32) cuda.Pointer {
	p := g.room(4 * len(values))
	if len(values) == 0 {
		return p
	}
	at, bytes := unsafe.Pointer(&values[0]), 4*len(values)
	if t == BF16 {
		halves := make([]uint16, len(values))
		for i, v := range values {
			halves[i] = toHalf(v)
			values[i] = fromHalf(halves[i])
		}
		at, bytes = unsafe.Pointer(&halves[0]), 2*len(values)
	}
	g.must(g.stream.ToDevice(p, at, bytes))
	g.must(g.stream.Wait())
	return p
}

// room returns device memory.
func (g *gpu) room(bytes int) cuda.Pointer {
	p, err := g.device.Alloc(max(bytes, 256))
	g.must(err)
	g.t.Cleanup(func() { g.device.Free(p) })
	return p
}

// values returns n values of the type, when all work is done.
func (g *gpu) values(t DType, p cuda.Pointer, n int) []float32 {
	values, halves := make([]float32, n), make([]uint16, n)
	if t == F32 {
		g.must(g.stream.ToHost(unsafe.Pointer(&values[0]), p, 4*n))
	} else {
		g.must(g.stream.ToHost(unsafe.Pointer(&halves[0]), p, 2*n))
	}
	g.must(g.stream.Wait())
	if t == BF16 {
		for i, h := range halves {
			values[i] = fromHalf(h)
		}
	}
	return values
}

func (g *gpu) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// random returns n values between -1 and 1.
func random(r *rand.Rand, n int) []float32 {
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

// tolerance is what a result may be off by, where sizes is the sum of the absolute values of its addends.
func tolerance(in, out DType, tf32 bool, want, sizes float64) float64 {
	t := 4e-6 * sizes
	if in == F32 && tf32 {
		t = 2e-3 * sizes
	}
	if out == BF16 {
		t += math.Abs(want) / 128
	}
	return t + 1e-6
}

// compare fails the test unless got agrees with want.
func (g *gpu) compare(what any, got []float32, want, tolerances []float64) {
	g.t.Helper()
	worst, at := 0.0, -1
	for i := range got {
		off := math.Abs(float64(got[i])-want[i]) / tolerances[i]
		if !(off <= worst) {
			worst, at = off, i
		}
	}
	if !(worst <= 1) {
		g.t.Errorf("%v: element %d is %v, want %v, off by %.3g times the tolerance", what, at, got[at],
			want[at], worst)
	}
}
