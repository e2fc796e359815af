package data

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"lockstep/data/photo"
)

// Source holds samples of one shape that are not in memory: in a file, say. All methods are safe for
// concurrent use, and a Source says the same of a sample whenever it is asked.
type Source interface {
	// Len returns the number of samples.
	Len() int
	// ReadSample writes a sample, counted from 0, to dst, as [Set.Pixels] would hold it. It returns a
	// *FormatError or *ReadError that names the sample's place.
	ReadSample(dst []byte, sample int) error
	// IsSlow reports whether a sample costs much more than the reading of its bytes, as a JPEG does, so
	// that several goroutines should read.
	IsSlow() bool
	// Digest returns a hash of the samples, in hexadecimal, or of enough of them to tell when others lie
	// where they lay.
	Digest() string
}

// partOf is a Source of some of the samples of another, in any order.
type partOf struct {
	Source
	samples []int32
}

func (p partOf) Len() int { return len(p.samples) }

func (p partOf) ReadSample(dst []byte, sample int) error {
	return p.Source.ReadSample(dst, int(p.samples[sample]))
}

// Digest hashes the numbers of the samples too, so that two parts differ.
func (p partOf) Digest() string {
	return fmt.Sprintf("%s of %x", p.Source.Digest(), sumOf(p.samples))
}

func (p partOf) readPart(dst []byte, sample int, part portion) error {
	return p.Source.(uncut).readPart(dst, int(p.samples[sample]), part)
}

// uncut is a Source of images that are larger than the samples it shows of them.
type uncut interface {
	Source
	// readPart is ReadSample for a part of the image.
	readPart(dst []byte, sample int, part portion) error
}

// isUncut reports whether the images of a source can be cut as their files have them.
func isUncut(s Source) bool {
	if p, isPart := s.(partOf); isPart {
		return isUncut(p.Source)
	}
	_, is := s.(uncut)
	return is
}

// SampleBytes returns the size of a sample as Pixels or a Source has it: a byte for each element or, of
// floats, four.
func (s *Set) SampleBytes() int {
	if s.IsFloat {
		return 4 * s.Shape.Elems()
	}
	return s.Shape.Elems()
}

// raw returns sample i of a set of images as it is stored. It reads it into scratch, of SampleBytes, if
// memory does not have it.
func (s *Set) raw(i int, scratch []byte) ([]byte, error) {
	n := s.SampleBytes()
	if s.Samples == nil {
		return s.Pixels[i*n : (i+1)*n], nil
	}
	return scratch[:n], s.Samples.ReadSample(scratch[:n], i)
}

// readAll reads samples of a source from the first on into dst, n of them, on all cores. Errors: that of the
// first sample that has one, and that of ctx.
func readAll(ctx context.Context, from Source, dst []byte, n int) error {
	size := len(dst) / max(1, n)
	return forAll(ctx, n, func(i int) error { return from.ReadSample(dst[i*size:(i+1)*size], i) })
}

// forAll calls do for 0 to n-1 on all cores, until one fails. It returns the error of the first number that
// has one, and that of ctx.
func forAll(ctx context.Context, n int, do func(i int) error) error {
	var (
		next     atomic.Int64
		hasFault atomic.Bool
		mu       sync.Mutex
		first    = n // the first number with an error: all below have been taken, and are finished
		fault    error
		all      sync.WaitGroup
	)
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for ctx.Err() == nil && !hasFault.Load() {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					hasFault.Store(true)
					mu.Lock()
					if i < first {
						first, fault = i, err
					}
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("data: read samples: %w", err)
	}
	return fault
}

// Pick returns the set of the given samples of a set of images, in this order. Samples in memory are copied.
func (s *Set) Pick(samples []int32) *Set {
	some := s.said(samples)
	some.Pixels = nil
	for _, i := range samples {
		if n := s.SampleBytes(); s.Samples == nil {
			some.Pixels = append(some.Pixels, s.Pixels[int(i)*n:(int(i)+1)*n]...)
		}
	}
	if s.Samples != nil {
		some.Samples = partOf{s.Samples, samples}
	}
	return &some
}

// converter turns stored samples of a set of images into what a network reads.
type converter struct {
	table     byteTable
	mean, std []float32
	isFloat   bool
}

// of makes c that of a set's images.
func (c *converter) of(s *Set) {
	c.mean, c.std, c.isFloat = s.Mean, s.Std, s.IsFloat
	if !s.IsFloat {
		c.table.fill(s.Mean, s.Std)
	}
}

// place writes one stored image [H, W, C] in pose p, normalised.
func (c *converter) place(dst []float32, raw []byte, height, width, channels int, p pose) {
	if !c.isFloat {
		c.table.place(dst, raw, height, width, channels, p)
		return
	}
	for h := range height {
		for w := range width {
			y, x := h+p.dy, w+p.dx
			isInside := y >= 0 && y < height && x >= 0 && x < width
			if p.flip {
				x = width - 1 - x
			}
			out, at := dst[(h*width+w)*channels:][:channels], (y*width+x)*channels
			for k := range out {
				value := float32(0)
				if isInside {
					value = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*(at+k):]))
				}
				out[k] = (value - c.mean[k]) / c.std[k]
			}
		}
	}
}

// room is what a goroutine that fills a batch needs of its own.
type room struct {
	sample, cut []byte // a stored sample, and one that is cut or coloured
	scaler      photo.Scaler
}

// gang is a number of goroutines that fill a batch.
type gang struct {
	rooms  []room
	faults []error
}

// grow makes room for so many goroutines and samples of a set.
func (g *gang) grow(s *Set, parts int) {
	for len(g.rooms) < parts {
		g.rooms, g.faults = append(g.rooms, room{}), append(g.faults, nil)
	}
	for i := 0; i < parts && s.Samples != nil; i++ {
		g.rooms[i].sample = atLeast(g.rooms[i].sample, s.SampleBytes())
	}
}

// run calls fill for n samples in so many parts at once, and returns the error of the first part that has
// one.
func (g *gang) run(n, parts int, fill func(lo, hi int, r *room) error) error {
	parts = min(parts, n)
	var all sync.WaitGroup
	for i := range parts {
		all.Go(func() { g.faults[i] = fill(n*i/parts, n*(i+1)/parts, &g.rooms[i]) })
	}
	all.Wait()
	for _, err := range g.faults[:parts] {
		if err != nil {
			return err
		}
	}
	return nil
}

// gangBytes returns the memory of so many goroutines that read samples.
func gangBytes(s *Set, parts int) int64 {
	if s.Samples == nil {
		return 0
	}
	return int64(parts) * int64(s.SampleBytes())
}

// checkSamples returns an error if images are too few, or normalised by what they are not.
func (s *Set) checkSamples() error {
	switch {
	case s.Samples != nil && s.Pixels != nil:
		return fmt.Errorf("data: set %s: both Pixels and Samples", s.Name)
	case s.Samples != nil && s.Samples.Len() < s.Len():
		return fmt.Errorf("data: set %s: a source of %d samples, want %d", s.Name, s.Samples.Len(), s.Len())
	case s.Samples == nil && len(s.Pixels) != s.Len()*s.SampleBytes():
		return fmt.Errorf("data: set %s: %d bytes of pixels, want %d for %d images %v",
			s.Name, len(s.Pixels), s.Len()*s.SampleBytes(), s.Len(), s.Shape)
	}
	return nil
}
