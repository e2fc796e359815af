//go:build cuda && linux && amd64

package gpu_test

import (
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/graph/gpu"
	"lockstep/internal/alloctest"
	"lockstep/internal/kernel/row"
	"lockstep/optim"
	"lockstep/random"
)

// vectors are float32 vectors of one length, on the host and in the executor's memory.
type vectors struct {
	executor *gpu.Executor
	host     [][]float32
	here     []graph.Span
}

// newVectors draws vectors of numbers of very different size, some of them denormal or 0. Vector number
// positive has no negative ones. Each begins so many elements behind a multiple of 16 bytes.
func newVectors(t *testing.T, e *gpu.Executor, n, positive int, offsets ...int) *vectors {
	v := &vectors{executor: e}
	for i, offset := range offsets {
		x := make([]float32, n)
		s := random.Derive(7, uint64(i), uint64(n))
		for j := range x {
			power := s.Intn(uint64(2*j), 180) - 150
			x[j] = float32(math.Ldexp(float64(s.Symmetric(uint64(2*j+1), 1)), power/(1+j%8)))
			if i == positive {
				x[j] = float32(math.Abs(float64(x[j])))
			}
			if j%97 == 0 {
				x[j] = 0
			}
		}
		m, err := e.Allocate(offset + n)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Release)
		span := graph.Span{Handle: m.Handle, Offset: offset, Len: n}
		e.Upload(&graph.Buffer{Device: span}, &graph.Buffer{F: x})
		v.host, v.here = append(v.host, x), append(v.here, span)
	}
	return v
}

// part returns elements lo to hi-1 of vector number i in the executor's memory.
func (v *vectors) part(i, lo, hi int) graph.Span {
	s := v.here[i]
	return graph.Span{Handle: s.Handle, Offset: s.Offset + lo, Len: hi - lo}
}

// compare fails unless the vectors have the host's bits.
func (v *vectors) compare(t *testing.T, what string) {
	t.Helper()
	for i, want := range v.host {
		got := make([]float32, len(want))
		v.executor.Download(&graph.Buffer{F: got}, &graph.Buffer{Device: v.here[i]})
		for j := range want {
			if math.Float32bits(got[j]) != math.Float32bits(want[j]) {
				t.Errorf("%s: vector %d: element %d of %d is %g, want %g", what, i, j, len(want), got[j],
					want[j])
				break
			}
		}
	}
}

// updateCases are lengths, with how far behind a multiple of 16 bytes the vectors begin.
var updateCases = []struct {
	n       int
	offsets []int
}{
	{1, []int{0, 0, 0, 0}}, {5, []int{3, 3, 3, 3}}, {4099, []int{0, 0, 0, 0}}, {5000, []int{1, 1, 1, 1}},
	{3001, []int{0, 1, 2, 3}},
}

func TestUpdatesHaveTheBitsOfTheProcessor(t *testing.T) {
	e := open(t, gpu.Config{Plain: true})
	host, err := compute.Open(compute.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	rows := row.On(host)
	for _, c := range updateCases {
		lo, hi := c.n/3, c.n-c.n/5
		add := newVectors(t, e, c.n, -1, c.offsets[:2]...)
		for i := lo; i < hi; i++ {
			add.host[0][i] += add.host[1][i]
		}
		e.Add(add.part(0, lo, hi), add.part(1, lo, hi))
		add.compare(t, "add")
		for _, nesterov := range []bool{false, true} {
			v := newVectors(t, e, c.n, -1, c.offsets[:3]...)
			rows.SGD(v.host[0][lo:hi], v.host[1][lo:hi], v.host[2][lo:hi], 0.1, 0.9, 5e-4, 1./96, nesterov)
			e.SGD(v.part(0, lo, hi), v.part(1, lo, hi), v.part(2, lo, hi), 0.1, 0.9, 5e-4, 1./96, nesterov)
			v.compare(t, "sgd")
		}
		v := newVectors(t, e, c.n, 2, c.offsets...)
		for step := 1; step < 4; step++ {
			s := optim.AdamWStep{Scale: 1. / 96, Decay: 1 - 1e-5, First: 0.1, Second: 0.999, Rest: 1e-3,
				Rate: 1e-3 / float32(1-math.Pow(0.9, float64(step))),
				Root: float32(math.Sqrt(1 - math.Pow(0.999, float64(step)))), Eps: 1e-8}
			rows.AdamW(v.host[0][lo:hi], v.host[1][lo:hi], v.host[2][lo:hi], v.host[3][lo:hi],
				row.AdamWStep(s))
			e.AdamW(v.part(0, lo, hi), v.part(1, lo, hi), v.part(2, lo, hi), v.part(3, lo, hi), s)
		}
		v.compare(t, "adamw")
	}
}

// Norms, which clip gradients, have the processor's bits too, wherever a vector begins and whatever its last
// run lacks.
func TestSquaresHaveTheBitsOfTheProcessor(t *testing.T) {
	e := open(t, gpu.Config{Plain: true})
	host, err := compute.Open(compute.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	for _, n := range []int{1, 15, 16, 4096, 4099, 70000, 5} { // the sums of the longest are kept
		v := newVectors(t, e, n, -1, n%4)
		want := row.On(host).NewSquares(n).Sum(v.host[0])
		if got := e.Squares(v.here[0]); got != want {
			t.Errorf("%d elements: %v, want %v", n, got, want)
		}
	}
	if err := e.Err(); err != nil {
		t.Fatal(err)
	}
}

func TestUpdatesDoNotAllocate(t *testing.T) {
	e := open(t, gpu.Config{Plain: true})
	v := newVectors(t, e, 100, 2, 0, 0, 0, 0)
	run := func() {
		e.Add(v.here[0], v.here[1])
		e.SGD(v.here[0], v.here[1], v.here[3], 0.1, 0.9, 5e-4, 1./96, true)
		e.AdamW(v.here[0], v.here[1], v.here[2], v.here[3], optim.AdamWStep{Scale: 1, Root: 1, Eps: 1})
		e.Squares(v.here[0])
	}
	run()
	if n := alloctest.Least(10, run); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
