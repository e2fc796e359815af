//go:build cuda && linux && amd64

package gpu

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/graph"
	"lockstep/internal/cuda"
)

// Choosing methods takes two steps: TestMeasureMethods, on a GPU, writes what each method takes, and
// TestChooseMethods, anywhere, turns that into zchoices.go.
var (
	measureFile = flag.String("measure", "", "the `file` that the times of all methods are written to")
	measureOnly = flag.String("measure-only", "", "convolutions or bert; both if empty")
	chooseFile  = flag.String("choose", "", "the `file` of times that zchoices.go is made from")
)

// measurement is the time of a method for a product. Rank counts the methods of a product in the order in
// which they would be taken without zchoices.go; those of the plain kernel come last.
type measurement struct {
	Math   Math            `json:"math"`
	Pass   pass            `json:"pass"`
	Shape  graph.ConvShape `json:"shape"`
	Method string          `json:"method"`
	Rank   int             `json:"rank"`
	MS     float64         `json:"ms"`
	TFlops float64         `json:"tflops"`
	Bytes  int             `json:"workspace_bytes"`
}

// vggShapes, airbenchShapes, lenetShapes and residualShapes are the convolutions of networks.
func vggShapes(n int) []graph.ConvShape {
	var shapes []graph.ConvShape
	for _, s := range [][3]int{{32, 3, 64}, {16, 64, 128}, {8, 128, 256}, {8, 256, 256}, {4, 256, 512},
		{4, 512, 512}, {2, 512, 512}} {
		shapes = append(shapes, square(n, s[0], s[1], s[2], 3, 1, 1))
	}
	return shapes
}

func airbenchShapes(n int) []graph.ConvShape {
	return []graph.ConvShape{square(n, 32, 3, 24, 2, 1, 0), square(n, 31, 24, 64, 3, 1, 1),
		square(n, 15, 64, 64, 3, 1, 1), square(n, 15, 64, 256, 3, 1, 1), square(n, 7, 256, 256, 3, 1, 1),
		square(n, 3, 256, 256, 3, 1, 1)}
}

func lenetShapes(n int) []graph.ConvShape {
	return []graph.ConvShape{square(n, 32, 3, 6, 5, 1, 0), square(n, 14, 6, 16, 5, 1, 2)}
}

func residualShapes(n, image int) []graph.ConvShape {
	side, shapes := image, []graph.ConvShape{square(n, image, 3, 64, 3, 1, 1)}
	if image > 64 {
		side, shapes[0] = image/4, square(n, image, 3, 64, 7, 2, 3)
	}
	in := 64
	for stage := range 4 {
		width, stride := 64<<stage, min(stage+1, 2)
		out := side / stride
		shapes = append(shapes, square(n, side, in, width, 1, 1, 0),
			square(n, side, width, width, 3, stride, 1), square(n, side, in, 4*width, 1, stride, 0),
			square(n, out, width, 4*width, 1, 1, 0), square(n, out, 4*width, width, 1, 1, 0),
			square(n, out, width, width, 3, 1, 1))
		side, in = out, 4*width
	}
	return shapes
}

// bertShapes are the linear layers of bert-base for so many tokens, forward with a bias.
func bertShapes(tokens int) []graph.ConvShape {
	const width = 768
	rows := func(c, k int) graph.ConvShape {
		return graph.ConvShape{N: tokens, H: 1, W: 1, C: c, K: k, R: 1, S: 1, Stride: 1}
	}
	return []graph.ConvShape{rows(4*width, width), rows(width, 4*width), rows(width, width)}
}

func square(n, side, c, k, filter, stride, pad int) graph.ConvShape {
	return folded(graph.ConvShape{N: n, H: side, W: side, C: c, K: k, R: filter, S: filter, Stride: stride,
		Pad: pad})
}

// flops returns the floating-point operations of a product.
func (p product) flops() float64 {
	return 2 * float64(p.N*p.outH()*p.outW()) * float64(p.K*p.C*p.R*p.S)
}

// measuredProducts returns all distinct products of the networks in a precision, the largest first.
func measuredProducts(m Math, only string) []product {
	var shapes []graph.ConvShape
	if only != "bert" {
		shapes = slices.Concat(residualShapes(256, 32), residualShapes(64, 224), vggShapes(256),
			airbenchShapes(1024), lenetShapes(64))
	}
	linear := bertShapes(32 * 128)
	if only != "convolutions" {
		shapes = append(shapes, linear...)
	}
	slices.SortFunc(shapes, func(a, b graph.ConvShape) int {
		return cmp.Compare(product{ConvShape: b}.flops(), product{ConvShape: a}.flops())
	})
	var products []product
	for _, s := range shapes {
		for pass := forward; pass <= backwardWeights; pass++ {
			p := product{ConvShape: s, pass: pass, isHalf: m == BF16}
			p.toHalf = p.isHalf && pass != backwardWeights
			p.bias = pass == forward && slices.Contains(linear, s)
			isFirst := s.C == 3 && pass == backwardData // which no network needs
			if !isFirst && !slices.Contains(products, p) {
				products = append(products, p)
			}
		}
	}
	return products
}

// meter measures methods.
type meter struct {
	*Executor
	t           *testing.T
	file        *os.File
	deadline    time.Time
	begin, end  *cuda.Event
	result      cuda.Pointer
	left, right cuda.Pointer
	scratch     cuda.Pointer
	scratchSize int
}

// operandBytes is the memory for each operand.
const operandBytes = 512 << 20

func newMeter(t *testing.T, m Math, file *os.File, deadline time.Time) *meter {
	e, err := Open(Config{Math: m})
	if err != nil {
		t.Skip("needs an NVIDIA GPU: ", err)
	}
	g := &meter{Executor: e, t: t, file: file, deadline: deadline}
	for _, p := range []*cuda.Pointer{&g.result, &g.left, &g.right, &g.scratch} {
		*p, err = e.device.Alloc(operandBytes)
		g.must(err)
		e.noise(*p, operandBytes)
	}
	g.scratchSize = operandBytes
	g.begin, err = e.device.NewEvent(cuda.Timed)
	g.must(err)
	g.end, err = e.device.NewEvent(cuda.Timed)
	g.must(err)
	return g
}

func (g *meter) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *meter) close() {
	for _, p := range []cuda.Pointer{g.result, g.left, g.right, g.scratch} {
		g.device.Free(p)
	}
	g.Close()
}

// named is a method to measure.
type named struct {
	method
	title string
}

// methodsOf returns all methods for p, in the order in which they would be taken.
func (g *meter) methodsOf(p product) []named {
	var all []named
	add := func(name string) {
		if m, err := g.methodNamed(p, name); err == nil {
			all = append(all, named{m, name})
		}
	}
	const ranks = 8
	switch {
	case p.isOfRows():
		for rank := range ranks {
			add(blasName(rank))
		}
	default:
		for rank := range 3 {
			add(columnsPrefix + blasName(rank))
		}
		g.addEngines(p, "", &all)
		isHalfWeights := p.isHalf && p.pass == backwardWeights
		if isHalfWeights && len(all) > 0 && !strings.HasPrefix(all[len(all)-1].title, narrowed) {
			g.addEngines(p, narrowed, &all)
		}
		for rank := range 3 {
			add(rowsPrefix + blasName(rank))
		}
	}
	if g.mathOf(p) == Float32 || p.C < 8 || len(all) == 0 {
		// The plain kernel uses no tensor cores.
		for _, t := range []productTile{largeTile, deepTile, tallTile, smallTile, anyTile} {
			if m, _ := g.methodNamed(p, plainName+t.suffix); m.name() == plainName+t.suffix {
				all = append(all, named{m, m.name()})
			}
		}
	}
	return all
}

// addEngines adds cuDNN's engines.
func (g *meter) addEngines(p product, prefix string, all *[]named) {
	const limit = 12
	plans, isHalfFilter, err := g.engines(p, limit, prefix)
	if err != nil {
		return
	}
	for _, plan := range plans {
		m, err := g.convolutionWith(p, plan, isHalfFilter)
		g.must(err)
		*all = append(*all, named{m, m.name()})
	}
}

// seconds returns what one of n runs takes; infinity if they fail.
func (g *meter) seconds(p product, m method, n int) float64 {
	g.note(g.stream.Record(g.begin))
	o := operands{result: g.result, left: g.left, right: g.right, scratch: g.scratch}
	if p.bias {
		o.bias = g.left
	}
	for range n {
		m.run(p.N, o)
	}
	g.note(g.stream.Record(g.end))
	g.Wait()
	if g.err != nil {
		g.t.Logf("%v with %s: %v", p, m.name(), g.err)
		g.err = nil
		return math.Inf(1)
	}
	ms, err := g.end.MillisecondsSince(g.begin)
	g.must(err)
	return ms / 1e3 / float64(n)
}

// measure writes the times of all methods for p.
func (g *meter) measure(p product) {
	best := math.Inf(1)
	for rank, m := range g.methodsOf(p) {
		if time.Now().After(g.deadline) || 4*m.scratch() > g.scratchSize {
			continue
		}
		g.seconds(p, m.method, 1)
		took := g.seconds(p, m.method, 1)
		if math.IsInf(took, 1) {
			continue
		}
		if took < 2*best {
			const enough = 4e-3 // seconds
			took = min(g.seconds(p, m.method, max(min(int(enough/took), 20), 2)), took)
		}
		best = min(best, took)
		line, err := json.Marshal(measurement{g.mathOf(p), p.pass, p.ConvShape, m.title, rank, took * 1e3,
			p.flops() / took / 1e12, g.workspaceOf(m.method)})
		g.must(err)
		_, err = g.file.Write(append(line, '\n'))
		g.must(err)
	}
	for _, plan := range g.plans {
		plan.Close()
	}
	g.plans = nil
}

func (g *meter) workspaceOf(m method) int {
	if c, ok := m.(*convolution); ok {
		return c.plan.WorkspaceBytes()
	}
	return 0
}

// TestMeasureMethods measures all methods for the products of some networks, for at most 90 seconds.
func TestMeasureMethods(t *testing.T) {
	if *measureFile == "" {
		t.Skip("takes a GPU for 90 s; -measure=FILE says where the times go")
	}
	file, err := os.Create(*measureFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	start := time.Now()
	for _, part := range []struct {
		math  Math
		until time.Duration
	}{{Float32, 40 * time.Second}, {TF32, 68 * time.Second}, {BF16, 90 * time.Second}} {
		g := newMeter(t, part.math, file, start.Add(part.until))
		products := measuredProducts(part.math, *measureOnly)
		done := 0
		for _, p := range products {
			if time.Now().Before(g.deadline) {
				g.measure(p)
				done++
			}
		}
		t.Logf("%s, %s: %d of %d products after %v", g.device.Name, part.math, done, len(products),
			time.Since(start))
		g.close()
	}
}

// timed is a product with the times of its methods.
type timed struct {
	choice
	first string // that would be taken anyway
	ms    map[string]float64
}

// read returns the products of a file of measurements, and for each the three best methods. The method that
// would be taken anyway counts as best if it is nearly so.
func readTimes(t *testing.T, path string) []timed {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		math  Math
		pass  pass
		shape graph.ConvShape
	}
	found := map[key][]measurement{}
	var order []key
	for line := range strings.Lines(string(data)) {
		var m measurement
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			continue // the last line, if the test was stopped
		}
		k := key{m.Math, m.Pass, m.Shape}
		if found[k] == nil {
			order = append(order, k)
		}
		found[k] = append(found[k], m)
	}
	var all []timed
	for _, k := range order {
		times, first := map[string]float64{}, ""
		for _, m := range found[k] {
			times[m.Method] = m.MS
			if m.Rank == 0 {
				first = m.Method
			}
		}
		p := &plain{product: product{ConvShape: k.shape, pass: k.pass}}
		isOfColumns := func(m measurement) bool { return strings.HasPrefix(m.Method, columnsPrefix) }
		if p.takesColumns() && !slices.ContainsFunc(found[k], isOfColumns) {
			continue // measured before there were products of columns
		}
		if k.math == Float32 && !p.isOfRows() && !p.takesColumns() {
			first = plainName + p.tile().suffix
		}
		times[first] *= 0.98
		names := slices.SortedFunc(maps.Keys(times), func(a, b string) int {
			return cmp.Or(cmp.Compare(times[a], times[b]), cmp.Compare(a, b))
		})
		all = append(all, timed{choice{k.math, k.pass, k.shape, names[:min(3, len(names))]}, first, times})
	}
	return all
}

// pruned leaves out what the rest says nearly as well.
func pruned(all []timed) []choice {
	const tolerance = 1.05
	kept := make([]choice, len(all))
	for i, c := range all {
		kept[i] = c.choice
	}
	isWell := func(rest []choice, c timed) bool {
		for _, name := range append(slices.Clone(nearest(rest, c.math, c.pass, c.shape)), c.first) {
			if ms, ok := c.ms[name]; ok {
				return ms <= tolerance*c.ms[c.methods[0]]
			}
		}
		return false
	}
	for i := len(all) - 1; i >= 0; i-- { // the smallest first
		rest := slices.DeleteFunc(slices.Clone(kept), func(c choice) bool {
			return c.math == all[i].math && c.pass == all[i].pass && c.shape == all[i].shape
		})
		isWorse := func(c timed) bool { return c.math == all[i].math && !isWell(rest, c) }
		if !slices.ContainsFunc(all, isWorse) {
			kept = rest
		}
	}
	return kept
}

// TestChooseMethods writes zchoices.go.
func TestChooseMethods(t *testing.T) {
	if *chooseFile == "" {
		t.Skip("-choose=FILE names the times")
	}
	all := readTimes(t, *chooseFile)
	maths := map[Math]string{Float32: "Float32", TF32: "TF32", BF16: "BF16"}
	passes := [...]string{"forward", "backwardData", "backwardWeights"}
	var b strings.Builder
	b.WriteString("//go:build cuda && linux && amd64\n\n" +
		"// Code generated by TestChooseMethods; DO NOT EDIT.\n\npackage gpu\n\n" +
		"// choices are the measured methods; see the note in engines.go.\nvar choices = [...]choice{\n")
	kept := pruned(all)
	for _, c := range kept {
		s := c.shape
		fmt.Fprintf(&b, "\t{%s, %s, graph.ConvShape{N: %d, H: %d, W: %d, C: %d, K: %d, R: %d, S: %d, "+
			"Stride: %d, Pad: %d}, []string{", maths[c.math], passes[c.pass], s.N, s.H, s.W, s.C, s.K,
			s.R, s.S, s.Stride, s.Pad)
		for i, name := range c.methods {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%q", name)
		}
		b.WriteString("}},\n")
	}
	b.WriteString("}\n")
	source := b.String()
	if len(kept) > 0 {
		source = strings.Replace(source, "package gpu\n", "package gpu\n\nimport \"lockstep/graph\"\n", 1)
	}
	if err := os.WriteFile("zchoices.go", []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d products are listed", len(kept), len(all))
}
