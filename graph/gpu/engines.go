//go:build cuda && linux && amd64

package gpu

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"lockstep/graph"
	"lockstep/internal/cuda/blas"
	"lockstep/internal/cuda/dnn"
)

// Note: choices. How a product is computed follows from its shape, its precision and the kind of GPU, never
// from a measurement while a program runs: the order of sums, and so the bits of a result, would change from
// run to run. Where the libraries' own ranking is far off, zchoices.go says what has been measured to be
// fast: a product takes the methods of the nearest shape there, as far as they exist. In float32 without TF32
// most convolutions are our own kernel's: of 12 with 3x3 filters in resnet50 and vgg11 it is the fastest for
// all but one forward, and cuDNN's first takes 1.7 times as long in all (results/gpu). The convolution of an
// image, which has few channels, becomes a product of rows; see columns.go.

// choice lists the fastest methods for a product by name, the best first.
type choice struct {
	math    Math
	pass    pass
	shape   graph.ConvShape
	methods []string
}

// reach is how far a shape may be from that of a choice: two halvings or doublings in all.
const reach = 2

// distance returns how many times the sizes of s have to be halved or doubled in all to become those of the
// choice. It is infinite if the filters or strides differ.
func (c choice) distance(s graph.ConvShape) float64 {
	if s.R != c.shape.R || s.S != c.shape.S || s.Stride != c.shape.Stride {
		return math.Inf(1)
	}
	off := func(a, b int) float64 { return math.Abs(math.Log2(float64(a) / float64(b))) }
	pixels := func(s graph.ConvShape) int { return s.N * s.H * s.W }
	return off(s.C, c.shape.C) + off(s.K, c.shape.K) + off(pixels(s), pixels(c.shape))
}

// keepsRanks reports whether cuBLASLt's ranks are worth as much for s, whose distance is d: it is the very
// shape, or has up to twice as many rows, or half. Farther away the library ranks others first.
func (c choice) keepsRanks(s graph.ConvShape, d float64) bool {
	isOfRows := product{ConvShape: s}.isOfRows() && product{ConvShape: c.shape}.isOfRows()
	return d == 0 || isOfRows && s.C == c.shape.C && s.K == c.shape.K && d <= 1
}

// nearest returns the methods of the nearest of the choices; nil if none is in reach. What cuBLASLt does not
// rank first matters only where the ranks are kept.
func nearest(choices []choice, m Math, p pass, s graph.ConvShape) []string {
	var methods []string
	least, keeps := math.Nextafter(reach, 3), false
	for _, c := range choices {
		if c.math == m && c.pass == p {
			if d := c.distance(s); d < least {
				least, methods, keeps = d, c.methods, c.keepsRanks(s, d)
			}
		}
	}
	if keeps {
		return methods
	}
	return slices.DeleteFunc(slices.Clone(methods), func(name string) bool {
		return strings.Contains(name, blasName(0)+" ")
	})
}

// mathOf returns the precision in which p is computed.
func (e *Executor) mathOf(p product) Math {
	switch {
	case p.isHalf:
		return BF16
	case e.roundsTF32():
		return TF32
	}
	return Float32
}

// measuredCapability is the compute capability of the GPUs that zchoices.go is about.
const measuredCapability = 90

// methodNames returns the methods to try, the best first.
func (e *Executor) methodNames(p product) []string {
	names := e.preferred
	switch {
	case e.config.Plain:
		return append(names[:len(names):len(names)], plainName)
	case names == nil && e.device.Capability == measuredCapability:
		names = nearest(choices[:], e.mathOf(p), p.pass, p.ConvShape)
	}
	switch {
	case len(names) > 0:
	case p.takesColumns():
		names = []string{columnsPrefix + blasName(0)}
	case e.mathOf(p) == Float32 && !p.isOfRows():
		names = []string{plainName}
	}
	return append(names[:len(names):len(names)], "")
}

// methodFor plans a product: as zchoices.go says, else with cuBLASLt or cuDNN, else with our own kernel,
// which comes first for convolutions in float32.
func (e *Executor) methodFor(p product) (method, error) {
	var last error
	for _, name := range e.methodNames(p) {
		m, err := e.methodNamed(p, name)
		if err == nil {
			e.methods = append(e.methods, fmt.Sprintf("%v: %s", p, m.name()))
			return m, nil
		}
		if !errors.Is(err, blas.ErrUnsupported) && !errors.Is(err, dnn.ErrUnsupported) {
			return nil, err
		}
		last = err
	}
	e.methods = append(e.methods, fmt.Sprintf("%v: %s, %v", p, plainName, last))
	return e.plain(p), nil
}

// plainName is the name of our own kernel. rowsPrefix and columnsPrefix are in front of the method for the
// product of rows that a convolution with strides, or of few channels, is made of.
const (
	plainName     = "plain"
	rowsPrefix    = "rows "
	columnsPrefix = "columns "
)

// methodNamed plans a product with the method of that name, or with the library's first if the name is empty.
// The error is blas.ErrUnsupported or dnn.ErrUnsupported if there is none.
func (e *Executor) methodNamed(p product, name string) (method, error) {
	if tile, ok := strings.CutPrefix(name, plainName); ok {
		return e.plainNamed(p, tile)
	}
	if inner, ok := strings.CutPrefix(name, rowsPrefix); ok {
		return e.strided(p, inner)
	}
	if inner, ok := strings.CutPrefix(name, columnsPrefix); ok {
		return e.columns(p, inner)
	}
	if !p.isOfRows() {
		return e.convolution(p, name)
	}
	rank := 0
	if rest, ok := strings.CutPrefix(name, blasName(0)); ok {
		rank, _ = strconv.Atoi(strings.TrimSpace(rest))
	}
	return e.matrixProduct(p, rank)
}

// plainNamed is our own kernel with the tile of that suffix, or with that for the shape.
func (e *Executor) plainNamed(p product, suffix string) (method, error) {
	m := &plain{product: p}
	m.productTile = m.tile()
	for _, t := range [...]productTile{largeTile, deepTile, tallTile, smallTile} {
		if t.suffix == suffix && m.has(t) {
			m.productTile = t
		}
	}
	return e.plainWith(m), nil
}
