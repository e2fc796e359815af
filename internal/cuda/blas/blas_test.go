//go:build cuda && linux

package blas

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lockstep/internal/cuda/cudatest"
)

// TestDescriptions checks that the library takes every attribute of a plan. It needs the library, but no GPU.
func TestDescriptions(t *testing.T) {
	l, err := load()
	if err != nil {
		t.Skip("needs cuBLASLt: ", err)
	}
	for i := range 1 << 8 {
		p := Product{M: 64, N: 32, K: 128, TransA: i&1 != 0, TransB: i&2 != 0, In: DType(i >> 2 & 1),
			Out: DType(i >> 3 & 1), TF32: i&16 != 0, Bias: i&32 != 0, ReLU: i&64 != 0, Add: i&128 != 0}
		plan := &Plan{library: l, product: p}
		if err := plan.describe(1 << 20); err != nil {
			t.Errorf("%v: %v", p, err)
		}
		plan.Close()
	}
}

// multiply is the plain loop. It returns the results, and for each the sum of the addends' absolute values.
func multiply(p Product, a, b, bias, c []float32) (want, sizes []float64) {
	want, sizes = make([]float64, p.M*p.N), make([]float64, p.M*p.N)
	for m := range p.M {
		for n := range p.N {
			var sum, size float64
			add := func(x float64) { sum, size = sum+x, size+math.Abs(x) }
			for k := range p.K {
				i, j := m*p.K+k, k*p.N+n
				if p.TransA {
					i = k*p.M + m
				}
				if p.TransB {
					j = n*p.K + k
				}
				add(float64(a[i]) * float64(b[j]))
			}
			if p.Add {
				add(float64(c[m*p.N+n]))
			}
			if p.Bias {
				add(float64(bias[n]))
			}
			if p.ReLU {
				sum = max(sum, 0)
			}
			want[m*p.N+n], sizes[m*p.N+n] = sum, size
		}
	}
	return want, sizes
}

// workspaceBytes is the limit of the tests.
const workspaceBytes = 32 << 20

// check compares a plan's result with the plain loop, and with that of a second run.
func (g *gpu) check(plan *Plan, r *rand.Rand) {
	g.T.Helper()
	p := plan.product
	a, b, bias, c := cudatest.Random(r, p.M*p.K), cudatest.Random(r, p.K*p.N), cudatest.Random(r, p.N),
		cudatest.Random(r, p.M*p.N)
	aAt, bAt, biasAt := g.Memory(p.In == BF16, a), g.Memory(p.In == BF16, b), g.Memory(p.Out == BF16, bias)
	workspace := g.Room(plan.WorkspaceBytes())
	var got [2][]float32
	for i := range got {
		cAt := g.Memory(p.Out == BF16, c)
		g.Must(plan.Run(g.Stream, cAt, aAt, bAt, biasAt, workspace))
		got[i] = g.Values(p.Out == BF16, cAt, p.M*p.N)
	}
	if !slices.Equal(got[0], got[1]) {
		g.T.Errorf("%v: two runs differ", p)
	}
	want, sizes := multiply(p, a, b, bias, c)
	for i := range sizes {
		size := sizes[i]
		sizes[i] = cudatest.Tolerance(p.In == F32 && p.TF32, p.Out == BF16, want[i], size)
		if (p.Add || p.Bias) && p.Out == BF16 {
			sizes[i] += size / 256 // the product is rounded before the addition
		}
	}
	g.Compare(p, got[0], want, sizes)
}

// mathModes are the types and precisions of products.
var mathModes = []Product{{}, {TF32: true}, {In: BF16, Out: F32}, {In: BF16, Out: BF16}}

func TestProducts(t *testing.T) {
	g := openGPU(t)
	r := rand.New(rand.NewPCG(1, 2))
	shapes := [][3]int{{64, 128, 256}, {257, 64, 520}, {33, 10, 65}, {1, 1000, 512}, {7, 5, 3},
		{8, 16, 8192}}
	unsupported := map[string]int{}
	for _, shape := range shapes {
		for _, p := range mathModes {
			for i := range 1 << 5 {
				p.M, p.N, p.K = shape[0], shape[1], shape[2]
				p.TransA, p.TransB = i&1 != 0, i&2 != 0
				p.Bias, p.ReLU, p.Add = i&4 != 0, i&8 != 0, i&16 != 0
				plan, err := g.library.Plan(p, workspaceBytes)
				if errors.Is(err, ErrUnsupported) {
					unsupported[fmt.Sprintf("%v to %v, bias %t", p.In, p.Out, p.Bias)]++
					if !p.Bias && !p.ReLU && (p.In == F32 || p.K%8 == 0 && p.N%8 == 0 && p.M%8 == 0) {
						t.Errorf("%v is unsupported", p)
					}
					continue
				}
				g.Must(err)
				g.check(plan, r)
				plan.Close()
			}
		}
	}
	t.Log("products that are not supported:", unsupported)
}

// Algorithms that the library ranks lower compute the product, too.
func TestCandidates(t *testing.T) {
	g := openGPU(t)
	r := rand.New(rand.NewPCG(7, 8))
	for _, p := range mathModes {
		p.M, p.N, p.K = 256, 128, 512
		for rank := range 6 {
			plan, err := g.library.Candidate(p, workspaceBytes, rank)
			if errors.Is(err, ErrUnsupported) && rank > 0 {
				t.Logf("%v: %d algorithms", p, rank)
				break
			}
			g.Must(err)
			g.check(plan, r)
			plan.Close()
		}
	}
}

func TestResize(t *testing.T) {
	g := openGPU(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, p := range mathModes {
		for rank := range 3 {
			p.M, p.N, p.K, p.TransA = 512, 64, 96, false
			plan, err := g.library.Candidate(p, workspaceBytes, rank)
			if errors.Is(err, ErrUnsupported) && rank > 0 {
				break // there are not so many
			}
			g.Must(err)
			p.TransA = true
			transposed, err := g.library.Candidate(p, workspaceBytes, rank)
			if errors.Is(err, ErrUnsupported) && rank > 0 {
				plan.Close()
				break
			}
			g.Must(err)
			for _, rows := range []int{512, 8, 104, 77, 1, 512} {
				if p.In == BF16 && rows%8 != 0 {
					rows = rows/8*8 + 8
				}
				g.Must(plan.Resize(rows, 96))
				g.check(plan, r)
				g.Must(transposed.Resize(96, rows))
				g.check(transposed, r)
			}
			plan.Close()
			transposed.Close()
		}
	}
}

// TestRecording checks that a plan can be recorded, and that Run does not allocate.
func TestRecording(t *testing.T) {
	g := openGPU(t)
	r := rand.New(rand.NewPCG(5, 6))
	for _, p := range mathModes {
		p.M, p.N, p.K = 128, 64, 4096
		plan, err := g.library.Plan(p, workspaceBytes)
		g.Must(err)
		a := g.Memory(p.In == BF16, cudatest.Random(r, p.M*p.K))
		b := g.Memory(p.In == BF16, cudatest.Random(r, p.K*p.N))
		c, workspace := g.Memory(p.Out == BF16, make([]float32, p.M*p.N)), g.Room(plan.WorkspaceBytes())
		run := func() error { return plan.Run(g.Stream, c, a, b, 0, workspace) }
		g.Must(run())
		want := g.Values(p.Out == BF16, c, p.M*p.N)
		recording, err := g.Stream.Capture(run)
		g.Must(err)
		g.Must(g.Stream.Fill(c, 0, p.M*p.N/2))
		g.Must(g.Stream.Replay(recording))
		if got := g.Values(p.Out == BF16, c, p.M*p.N); !slices.Equal(got, want) {
			t.Errorf("%v: the recording gives another result", p)
		}
		if n := testing.AllocsPerRun(100, func() { _ = run() }); n != 0 {
			t.Errorf("%v: Run allocates %v times", p, n)
		}
		g.Must(g.Stream.Wait())
		recording.Close()
		plan.Close()
	}
}
