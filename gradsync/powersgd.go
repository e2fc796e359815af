package gradsync

import (
	"fmt"
	"time"

	"lockstep/comm"
	"lockstep/random"
)

// powerSGDWire sends the gradients of matrices as two factors of the given rank.
func powerSGDWire(rank int) Wire {
	return Wire{name: fmt.Sprintf("powersgd-%d", rank),
		compressor: func(c *Config, buckets []Bucket) compressor { return newPowerSGD(rank, c, buckets) },
		volume:     func(segments []Segment) int { return lowRankVolume(rank, segments) }}
}

// lowRankVolume counts the elements of the factors and of the segments that are sent whole.
func lowRankVolume(rank int, segments []Segment) int {
	elems := 0
	for _, s := range segments {
		if s.hasFactors(rank) {
			elems += rank * (s.Rows + s.Cols)
		} else {
			elems += s.Len
		}
	}
	return elems
}

// hasFactors reports whether a matrix is larger than its factors.
func (s Segment) hasFactors(rank int) bool { return rank*(s.Rows+s.Cols) < s.Rows*s.Cols }

// powerSGD sends the gradient M of each matrix as two factors of low rank, and adds the error E of
// that approximation to the next step's gradient (error feedback). Q begins as the right factor of
// the step before. Each piece of each worker computes
//
//	M = gradient + E,  P = M Q,  all-reduce P,  orthonormalize P
//	Q = transposed(M) P,  E = M - P transposed(Q),  all-reduce Q
//
// and the sum of the gradients becomes P transposed(Q). This is one step of the power method
// towards the best approximation; a gradient of that rank or less is sent exactly, except for
// rounding. Vectors, and matrices that are not larger than their factors, are sent whole together
// with P. After Vogels, Karimireddy and Jaggi 2019, "PowerSGD", algorithms 1 and 2. Cost for n
// elements: four times rank * n multiplications, on the training goroutine.
type powerSGD struct {
	pieces  [][]float32
	held    [][]float32 // E, by piece
	account []Bucket    // of the exchanges
	buckets []lowBucket

	spending time.Duration
}

// lowBucket is a bucket that is sent as factors.
type lowBucket struct {
	matrices []lowMatrix
	plain    []Segment    // sent whole, after the left factors
	left     [][]float32  // by piece
	right    [][]float32  // by piece
	handle   *comm.Handle // of right
}

// lowMatrix is a matrix that is sent as two factors.
type lowMatrix struct {
	param              int
	offset, rows, cols int
	left, right        Segment   // places of its factors in the bucket's
	guess              []float32 // Q
	isUsed             []bool    // whether a vector of P is independent of those before
}

// newPowerSGD divides the parameters of the buckets into matrices with factors and others.
func newPowerSGD(rank int, c *Config, buckets []Bucket) *powerSGD {
	s := &powerSGD{pieces: c.Pieces, account: buckets}
	for _, p := range c.Pieces {
		s.held = append(s.held, make([]float32, len(p)))
	}
	for _, b := range buckets {
		s.buckets = append(s.buckets, newLowBucket(rank, c, b))
	}
	return s
}

func newLowBucket(r int, c *Config, bucket Bucket) lowBucket {
	var b lowBucket
	left, right := 0, 0
	for _, param := range bucket.Params {
		seg := c.Segments[param]
		if !seg.hasFactors(r) {
			b.plain = append(b.plain, seg)
			continue
		}
		m := lowMatrix{param: param, offset: seg.Offset, rows: seg.Rows, cols: seg.Cols,
			left: Segment{Offset: left, Len: r * seg.Rows}, right: Segment{Offset: right, Len: r * seg.Cols},
			guess: make([]float32, r*seg.Cols), isUsed: make([]bool, r)}
		noise := random.Derive(guessSeed, uint64(param))
		for i := range m.guess {
			m.guess[i] = noise.Symmetric(uint64(i), 1)
		}
		left, right = left+m.left.Len, right+m.right.Len
		b.matrices = append(b.matrices, m)
	}
	for _, seg := range b.plain {
		left += seg.Len
	}
	for range c.Pieces {
		b.left = append(b.left, make([]float32, left))
		b.right = append(b.right, make([]float32, right))
	}
	if right > 0 {
		b.handle = c.Group.Prepare(comm.Call{Op: comm.AllReduce, Name: "right factors",
			Algorithm: c.Algorithm, Out: b.right[0], Pieces: b.right})
	}
	return b
}

// guessSeed separates the first guesses from other random numbers.
const guessSeed = 0x706f776572 // "power"

func (s *powerSGD) vectors(bucket int) [][]float32 { return s.buckets[bucket].left }

func (s *powerSGD) spent() time.Duration { return s.spending }

// spend adds the time since began.
func (s *powerSGD) spend(began time.Time) { s.spending += time.Since(began) }

func (s *powerSGD) compress(bucket int) {
	defer s.spend(time.Now())
	b := &s.buckets[bucket]
	for i, piece := range s.pieces {
		end := 0
		for _, m := range b.matrices {
			gradient := m.of(piece)
			comm.Add(gradient, m.of(s.held[i]))
			leftProduct(m.left.of(b.left[i]), gradient, m.guess, m.rows, m.cols)
			end = m.left.Offset + m.left.Len
		}
		for _, seg := range b.plain {
			end += copy(b.left[i][end:], seg.of(piece))
		}
	}
}

func (s *powerSGD) restore(book func(int, *comm.Handle)) error {
	for i := range s.buckets {
		if b := &s.buckets[i]; b.handle != nil {
			s.project(b)
			b.handle.Start()
		}
	}
	var first error
	for i := range s.buckets {
		b := &s.buckets[i]
		if b.handle != nil {
			if err := b.handle.Wait(); err == nil {
				book(i, b.handle)
				s.account[i].Spared -= b.handle.Report().Vector
			} else if first == nil {
				first = err
			}
		}
		s.expand(b)
	}
	return first
}

// project computes a bucket's right factors from the sums of the left ones, and the error.
func (s *powerSGD) project(b *lowBucket) {
	defer s.spend(time.Now())
	for _, m := range b.matrices {
		p := m.left.of(b.left[0])
		orthogonalize(p, m.rows, m.isUsed)
		for i, piece := range s.pieces {
			gradient, held, q := m.of(piece), m.of(s.held[i]), m.right.of(b.right[i])
			rightProduct(q, gradient, p, m.rows, m.cols)
			copy(held, gradient)
			addProduct(held, p, q, m.rows, m.cols, -1)
		}
	}
}

// expand stores the product of the factors, and what was sent whole, in the first piece. The right
// factor is the next guess; where the left factor has no vector to go with it, the last guess
// stays.
func (s *powerSGD) expand(b *lowBucket) {
	defer s.spend(time.Now())
	end := 0
	for _, m := range b.matrices {
		gradient, q := m.of(s.pieces[0]), m.right.of(b.right[0])
		clear(gradient)
		addProduct(gradient, m.left.of(b.left[0]), q, m.rows, m.cols, 1)
		for k, isUsed := range m.isUsed {
			if isUsed {
				copy(m.guess[k*m.cols:][:m.cols], q[k*m.cols:])
			}
		}
		end = m.left.Offset + m.left.Len
	}
	for _, seg := range b.plain {
		end += copy(seg.of(s.pieces[0]), b.left[0][end:])
	}
}

func (s *powerSGD) state() State {
	state := State{Residuals: s.held}
	for _, b := range s.buckets {
		for _, m := range b.matrices {
			state.Factors = append(state.Factors, Factor{Param: m.param, Cols: m.cols, Data: m.guess})
		}
	}
	return state
}

// of returns the matrix's part of a vector.
func (m *lowMatrix) of(v []float32) []float32 { return v[m.offset:][:m.rows*m.cols] }

// of returns the segment's part of a vector.
func (s Segment) of(v []float32) []float32 { return v[s.Offset:][:s.Len] }
