//go:build cuda && linux

package dnn

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/cuda"
	"lockstep/internal/cuda/cudatest"
)

// TestDescriptors checks that cuDNN takes every attribute of an operation. It needs the library, and the
// driver's library, but no GPU: the graph is where a device is needed.
func TestDescriptors(t *testing.T) {
	l, err := load()
	if err != nil {
		t.Skip("needs cuDNN: ", err)
	}
	if _, err := cuda.Load("libcuda.so.1"); err != nil {
		t.Skip("needs the driver: ", err)
	}
	for pass := Forward; pass <= BackwardWeights; pass++ {
		b := builder{library: l}
		b.operation(Conv{8, 15, 14, 64, 32, 3, 3, 2, 1}, pass, BF16, F32)
		if b.err != nil {
			t.Errorf("%v: %v", pass, b.err)
		}
		b.free()
	}
}

// visit calls f with the indices into x, w and y of every product of a convolution.
func visit(c Conv, f func(x, w, y int)) {
	for n := range c.N {
		for p := range c.P() {
			for q := range c.Q() {
				for r := range c.R {
					for s := range c.S {
						h, w := p*c.Stride-c.Pad+r, q*c.Stride-c.Pad+s
						if h < 0 || h >= c.H || w < 0 || w >= c.W {
							continue
						}
						for k := range c.K {
							for ch := range c.C {
								f(((n*c.H+h)*c.W+w)*c.C+ch, ((k*c.R+r)*c.S+s)*c.C+ch,
									((n*c.P()+p)*c.Q()+q)*c.K+k)
							}
						}
					}
				}
			}
		}
	}
}

// convolve is the plain loop. It returns the results, and for each the sum of the addends' absolute values.
func convolve(c Conv, pass Pass, x, w, y []float32) (want, sizes []float64) {
	length := [...]int{Forward: len(y), BackwardData: len(x), BackwardWeights: len(w)}[pass]
	want, sizes = make([]float64, length), make([]float64, length)
	visit(c, func(i, j, k int) {
		to, value := k, 0.0
		switch pass {
		case Forward:
			value = float64(x[i]) * float64(w[j])
		case BackwardData:
			to, value = i, float64(w[j])*float64(y[k])
		case BackwardWeights:
			to, value = j, float64(x[i])*float64(y[k])
		}
		want[to] += value
		sizes[to] += math.Abs(value)
	})
	return want, sizes
}

// workspaceLimit is the limit of the tests.
const workspaceLimit = 256 << 20

var passes = []Pass{Forward, BackwardData, BackwardWeights}

// mode is the types and the precision of a convolution.
type mode struct {
	in, out DType
	tf32    bool
}

var modesOfMath = []mode{{F32, F32, false}, {F32, F32, true}, {BF16, BF16, false}, {BF16, F32, false}}

// tensors are a convolution's tensors on the device.
type tensors struct {
	x, w, y       []float32
	xAt, wAt, yAt cuda.Pointer
	workspace     cuda.Pointer
}

// tensors returns random tensors, rounded to the types.
func (g *gpu) tensors(c Conv, pass Pass, in, out DType, workspaceBytes int, r *rand.Rand) *tensors {
	v := &tensors{x: cudatest.Random(r, c.N*c.H*c.W*c.C), w: cudatest.Random(r, c.K*c.R*c.S*c.C),
		y: cudatest.Random(r, c.N*c.P()*c.Q()*c.K)}
	types := [3]DType{in, in, in} // of y, x and w, which are the results of the passes in this order
	types[pass] = out
	v.yAt = g.Memory(types[0] == BF16, v.y)
	v.xAt = g.Memory(types[1] == BF16, v.x)
	v.wAt = g.Memory(types[2] == BF16, v.w)
	v.workspace = g.Room(workspaceBytes)
	return v
}

// result returns the result of a pass, which it runs.
func (g *gpu) result(plan *Plan, v *tensors, out DType) []float32 {
	g.T.Helper()
	g.Must(plan.Run(g.Stream, v.xAt, v.yAt, v.wAt, v.workspace))
	return g.Values(out == BF16, v.at(plan.pass), [...]int{len(v.y), len(v.x), len(v.w)}[plan.pass])
}

// at returns where a pass puts its result.
func (v *tensors) at(pass Pass) cuda.Pointer { return [...]cuda.Pointer{v.yAt, v.xAt, v.wAt}[pass] }

func TestConvolutions(t *testing.T) {
	g := openGPU(t)
	r := rand.New(rand.NewPCG(1, 2))
	convs := []Conv{
		{N: 4, H: 16, W: 16, C: 64, K: 32, R: 3, S: 3, Stride: 1, Pad: 1},
		{N: 4, H: 14, W: 14, C: 32, K: 64, R: 3, S: 3, Stride: 2, Pad: 1},
		{N: 4, H: 14, W: 14, C: 64, K: 16, R: 1, S: 1, Stride: 1},
		{N: 4, H: 14, W: 14, C: 16, K: 64, R: 1, S: 1, Stride: 2},
		{N: 2, H: 32, W: 32, C: 3, K: 64, R: 7, S: 7, Stride: 2, Pad: 3},
		{N: 2, H: 28, W: 28, C: 1, K: 6, R: 5, S: 5, Stride: 1, Pad: 2},
		{N: 3, H: 17, W: 13, C: 24, K: 40, R: 3, S: 3, Stride: 2, Pad: 0},
	}
	for _, c := range convs {
		for _, pass := range passes {
			for _, m := range modesOfMath {
				plan, err := g.library.Plan(c, pass, m.in, m.out, m.tf32, workspaceLimit)
				if errors.Is(err, ErrUnsupported) && m.in != m.out {
					t.Log(err)
					continue
				}
				if err != nil {
					t.Error(err)
					continue
				}
				t.Logf("%v of %v, %v: %s, %d bytes", pass, c, m, plan.Name(), plan.WorkspaceBytes())
				g.check(plan, m, r)
				plan.Close()
			}
		}
	}
}

// check compares a plan's result with the plain loop, and with that of a second run.
func (g *gpu) check(plan *Plan, m mode, r *rand.Rand) {
	v := g.tensors(plan.conv, plan.pass, m.in, m.out, plan.WorkspaceBytes(), r)
	got := g.result(plan, v, m.out)
	what := []any{plan.pass, plan.conv, m, plan.Name()}
	if again := g.result(plan, v, m.out); !slices.Equal(got, again) {
		g.T.Errorf("%v: two runs differ", what)
	}
	want, sizes := convolve(plan.conv, plan.pass, v.x, v.w, v.y)
	for i := range sizes {
		sizes[i] = cudatest.Tolerance(m.in == F32 && m.tf32, m.out == BF16, want[i], sizes[i])
	}
	g.Compare(what, got, want, sizes)
}

// TestRecording checks that a plan can be recorded, and that Run does not allocate, also for tensors that are
// elsewhere at every run.
func TestRecording(t *testing.T) {
	g := openGPU(t)
	r := rand.New(rand.NewPCG(5, 6))
	c := Conv{N: 4, H: 16, W: 16, C: 64, K: 64, R: 3, S: 3, Stride: 1, Pad: 1}
	for _, pass := range passes {
		for _, m := range modesOfMath[:3] {
			plan, err := g.library.Plan(c, pass, m.in, m.out, m.tf32, workspaceLimit)
			g.Must(err)
			v := g.tensors(c, pass, m.in, m.out, plan.WorkspaceBytes(), r)
			other := g.tensors(c, pass, m.in, m.out, plan.WorkspaceBytes(), r)
			want := g.result(plan, v, m.out)
			otherWant := g.result(plan, other, m.out)
			recording, err := g.Stream.Capture(func() error {
				if err := plan.Run(g.Stream, v.xAt, v.yAt, v.wAt, v.workspace); err != nil {
					return err
				}
				return plan.Run(g.Stream, other.xAt, other.yAt, other.wAt, other.workspace)
			})
			g.Must(err)
			g.Must(g.Stream.Fill(v.at(pass), 0, 1024))
			g.Must(g.Stream.Fill(other.at(pass), 0, 1024))
			g.Must(g.Stream.Replay(recording))
			got := g.Values(m.out == BF16, v.at(pass), len(want))
			otherGot := g.Values(m.out == BF16, other.at(pass), len(want))
			if !slices.Equal(got, want) || !slices.Equal(otherGot, otherWant) {
				t.Errorf("%v, %v: the recording gives another result", pass, m)
			}
			n := testing.AllocsPerRun(100, func() {
				_ = plan.Run(g.Stream, v.xAt, v.yAt, v.wAt, v.workspace)
				_ = plan.Run(g.Stream, other.xAt, other.yAt, other.wAt, other.workspace)
			})
			if n != 0 {
				t.Errorf("%v, %v: Run allocates %v times", pass, m, n)
			}
			g.Must(g.Stream.Wait())
			recording.Close()
			plan.Close()
		}
	}
}

// Every candidate computes the pass; the first one is what Plan takes, and each can be had by its name: that
// of one without knobs stands for its engine with any.
func TestCandidates(t *testing.T) {
	g := openGPU(t)
	r := rand.New(rand.NewPCG(7, 8))
	c := Conv{N: 4, H: 14, W: 14, C: 64, K: 64, R: 3, S: 3, Stride: 1, Pad: 1}
	for _, pass := range passes {
		for _, m := range modesOfMath[:3] {
			all, err := g.library.Candidates(c, pass, m.in, m.out, m.tf32, workspaceLimit, 12, "")
			g.Must(err)
			first, err := g.library.Plan(c, pass, m.in, m.out, m.tf32, workspaceLimit)
			g.Must(err)
			if first.Name() != all[0].Name() {
				t.Errorf("%v, %v: Plan takes %s, but %s comes first", pass, m, first.Name(), all[0].Name())
			}
			first.Close()
			for _, plan := range all {
				t.Logf("%v, %v: %s, workspace of %d bytes", pass, m, plan.Name(), plan.WorkspaceBytes())
				g.check(plan, m, r)
				again, err := g.library.Candidates(c, pass, m.in, m.out, m.tf32, workspaceLimit, 1,
					plan.Name())
				g.Must(err)
				name, _, _ := strings.Cut(again[0].Name()+",", ",")
				if len(again) != 1 || again[0].Name() != plan.Name() && name != plan.Name() {
					t.Errorf("%s cannot be had by its name", plan.Name())
				}
				again[0].Close()
				plan.Close()
			}
		}
	}
	if _, err := g.library.Candidates(c, Forward, F32, F32, false, 0, 1, "engine 99999"); !errors.Is(err,
		ErrUnsupported) {
		t.Errorf("an engine that there is not: %v", err)
	}
}
