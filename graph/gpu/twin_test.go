//go:build cuda && linux && amd64

package gpu_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/graph/gpu"
	"lockstep/tensor"
)

// host returns the executor that a GPU is compared with.
func host(t *testing.T) *graph.Host {
	cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cpu.Close() })
	return graph.NewHost(cpu)
}

// twin is a GPU that has the host compute each op, too, from the operands in the GPU's memory, and compares
// the results. A fault so shows in the op that has it, whatever the network around it.
type twin struct {
	*gpu.Executor
	host  *graph.Host
	t     *testing.T
	limit limits
	seen  map[string]bool // types of ops, if that is of interest
	rooms map[any]int     // sizes of blocks of memory
}

// limits bound the error of a result, as its norm in relation to that of the result.
type limits struct{ float, half float64 }

func newTwin(t *testing.T, c gpu.Config) *twin {
	x := &twin{Executor: open(t, c), host: host(t), t: t, limit: limits{float: 1e-5}, rooms: map[any]int{}}
	if c.Math == gpu.BF16 {
		// Factors of products are rounded, which their results show, whatever their type.
		x.limit = limits{float: 1e-2, half: 1e-2}
	}
	return x
}

func (x *twin) Allocate(n int) (graph.Memory, error) {
	m, err := x.Executor.Allocate(n)
	if err == nil {
		x.rooms[m.Handle] = n
	}
	return m, err
}

// pair is one op on both.
type pair struct {
	*twin
	graph.Application
	device, host graph.Kernel
}

// String describes the op with the types of operands and results.
func (p *pair) String() string {
	return fmt.Sprintf("%s (%T %+v) of %q, backward %v, %v to %v", p.Name, p.Op, p.Op, p.Layer, p.Backward,
		p.In, p.Out)
}

func (x *twin) Prepare(a graph.Application) (graph.Kernel, error) {
	if x.seen != nil {
		x.seen[reflect.TypeOf(a.Op).Name()] = true
	}
	device, err := x.Executor.Prepare(a)
	if err != nil {
		return device, err
	}
	p := &pair{twin: x, Application: a, device: device}
	if _, isConversion := a.Op.(graph.ConvertOp); !isConversion {
		wide := a
		wide.In, wide.Out = widened(a.In), widened(a.Out)
		if p.host, err = x.host.Prepare(wide); err != nil {
			return device, err
		}
	}
	device.Run = p.run
	return device, nil
}

// widened returns the types as the host has them.
func widened(types []graph.Type) []graph.Type {
	wide := make([]graph.Type, len(types))
	for i, t := range types {
		if t.DType == tensor.BFloat16 {
			t.DType = tensor.Float32
		}
		wide[i] = t
	}
	return wide
}

func (p *pair) run(a *graph.Args) {
	b := &graph.Args{Draws: a.Draws, Scratch: &graph.Buffer{F: make([]float32, p.host.Scratch)}}
	for i, in := range a.In {
		b.In = append(b.In, p.download(p.In[i], in))
	}
	p.poison(a)
	before := p.around(a)
	p.device.Run(a)
	p.Rejoin()
	if i := firstDifference(before, p.around(a)); i >= 0 {
		p.t.Errorf("%v writes to element %d of the arena, which is not of its results", p, i)
	}
	for i, out := range a.Out {
		got := p.download(p.Out[i], out)
		b.Out = append(b.Out, &graph.Buffer{F: make([]float32, len(got.F))})
	}
	if p.host.Run == nil {
		copy(b.Out[0].F, b.In[0].F)
	} else {
		p.host.Run(b)
	}
	p.compare(a, b)
}

// poison fills the results, unless they take the place of operands, and the scratch with what is no number.
func (p *pair) poison(a *graph.Args) {
	fill := func(b *graph.Buffer, bytes int) {
		words := make([]int32, (b.Device.Len*bytes+3)/4)
		for i := range words {
			words[i] = -1
		}
		p.Upload(b, &graph.Buffer{I: words})
	}
	for i, out := range a.Out {
		isOperand := slices.ContainsFunc(a.In, func(in *graph.Buffer) bool {
			return in.Device.Handle == out.Device.Handle && in.Device.Offset == out.Device.Offset
		})
		if !isOperand {
			fill(out, p.Out[i].DType.Bytes())
		}
	}
	if p.device.Scratch > 0 {
		fill(a.Scratch, 4)
	}
}

// around returns the block with the first result but for what the op may write. It returns nothing if that
// takes long.
func (p *pair) around(a *graph.Args) []float32 {
	const most = 1 << 20
	handle := a.Out[0].Device.Handle
	n := p.rooms[handle]
	if n == 0 || n > most {
		return nil
	}
	all := make([]float32, n)
	p.Download(&graph.Buffer{F: all}, &graph.Buffer{Device: graph.Span{Handle: handle, Len: n}})
	hide := func(b *graph.Buffer, bytes int) {
		if s := b.Device; s.Handle == handle {
			clear(all[s.Offset : s.Offset+(s.Len*bytes+3)/4])
		}
	}
	for i, out := range a.Out {
		hide(out, p.Out[i].DType.Bytes())
	}
	if p.device.Scratch > 0 {
		hide(a.Scratch, 4)
	}
	return all
}

func firstDifference(a, b []float32) int {
	for i, x := range a {
		if math.Float32bits(x) != math.Float32bits(b[i]) {
			return i
		}
	}
	return -1
}

// download returns a value on the host.
func (x *twin) download(t graph.Type, b *graph.Buffer) *graph.Buffer {
	n := b.Device.Len
	raw := make([]float32, (n*t.DType.Bytes()+3)/4)
	x.Download(&graph.Buffer{F: raw}, b)
	switch {
	case n == 0:
	case t.DType == tensor.Int32:
		return &graph.Buffer{I: unsafe.Slice((*int32)(unsafe.Pointer(&raw[0])), n)}
	case t.DType == tensor.BFloat16:
		wide := make([]float32, n)
		for i := range wide {
			wide[i] = math.Float32frombits(math.Float32bits(raw[i/2]) >> (16 * (i % 2)) << 16)
		}
		return &graph.Buffer{F: wide}
	}
	return &graph.Buffer{F: raw}
}

// compare compares the results a of the GPU with b of the host. Where operands cancel each other, the error
// is that of rounding the least of them.
func (p *pair) compare(a, b *graph.Args) {
	least := math.Inf(1)
	for _, in := range b.In {
		if in.F != nil {
			least = min(least, norm(in.F))
		}
	}
	if math.IsInf(least, 1) {
		least = 0
	}
	for i, out := range a.Out {
		limit := p.limit.float
		if p.Out[i].DType == tensor.BFloat16 {
			limit = p.limit.half
		}
		got, want := p.download(p.Out[i], out).F, b.Out[i].F
		operands := least
		if norm(want) == 0 {
			operands = max(operands, 20*p.cancelled(b))
		}
		if e := distance(got, want, operands); !(e <= limit) {
			p.t.Errorf("%v: result %d is off by %.2g, limit %.1g: %s", p, i, e, limit, first(got, want))
		}
	}
}

// cancelled returns the norm of terms whose difference is 0: dx of a batch norm with one row per channel is
// that of dy/sqrt(eps) and itself, of which a fused multiplication and addition rounds only one.
func (p *pair) cancelled(b *graph.Args) float64 {
	var eps float32
	switch o := p.Op.(type) {
	case graph.BatchNormBackwardOp:
		eps = o.Eps
	case graph.ResidualBackwardOp:
		eps = o.Eps
	default:
		return 0
	}
	return norm(b.In[0].F) / math.Sqrt(float64(eps))
}

// distance returns the norm of got-want in relation to that of want, or to a twentieth of that of operands.
func distance(got, want []float32, operands float64) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	difference := make([]float32, len(got))
	for i, w := range want {
		difference[i] = got[i] - w
	}
	off, scale := norm(difference), max(norm(want), operands/20)
	if off == 0 {
		return 0
	}
	return off / scale
}

// norm returns the root of the sum of squares.
func norm(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

// first describes the element that is off most.
func first(got, want []float32) string {
	worst, at := -1.0, 0
	for i := range min(len(got), len(want)) {
		d := math.Abs(float64(got[i]) - float64(want[i]))
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		if d > worst {
			worst, at = d, i
		}
	}
	if worst < 0 {
		return fmt.Sprintf("%d elements, want %d", len(got), len(want))
	}
	return fmt.Sprintf("element %d of %d is %g, want %g", at, len(got), got[at], want[at])
}
