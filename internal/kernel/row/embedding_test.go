package row_test

import (
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/internal/alloctest"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/row"
)

// embedded are texts for the tests of embeddings.
type embedded struct {
	cols                           int
	rows                           row.Rows
	tokens, splits                 []int32
	words, positions, kinds, dy, y []float32
}

const (
	embeddedWords = 9
	embeddedMost  = 40
)

// newEmbedded draws n texts of 1 to embeddedMost tokens, every third of them single.
func newEmbedded(t *testing.T, n, cols int) *embedded {
	e := &embedded{cols: cols, rows: row.Rows{Cols: cols, Starts: []int32{0}}}
	for i := range n {
		length := 1 + i*i*7%embeddedMost
		split := i * 3 % length
		if i%3 == 0 {
			split = 0
		}
		for j := range length {
			e.tokens = append(e.tokens, int32((i+j*j)%embeddedWords))
		}
		e.rows.Starts = append(e.rows.Starts, int32(len(e.tokens)))
		e.splits = append(e.splits, int32(split))
	}
	e.words = kerneltest.Draw(t, embeddedWords*cols, 1, 1)
	e.positions = kerneltest.Draw(t, embeddedMost*cols, 2, 1)
	e.kinds, e.dy = kerneltest.Draw(t, 2*cols, 3, 1), kerneltest.Draw(t, len(e.tokens)*cols, 4, 1)
	e.y = kerneltest.Floats(t, len(e.tokens)*cols)
	return e
}

// kind returns the kind of each token.
func (e *embedded) kind() []int {
	var kinds []int
	for n, split := range e.splits {
		for i := range e.rows.Starts[n+1] - e.rows.Starts[n] {
			if split > 0 && i >= split {
				kinds = append(kinds, 1)
			} else {
				kinds = append(kinds, 0)
			}
		}
	}
	return kinds
}

// of returns dy with zeros in the rows of the other kind.
func (e *embedded) of(kind int) []float32 {
	masked := slices.Clone(e.dy)
	for i, k := range e.kind() {
		if k != kind {
			clear(masked[i*e.cols : (i+1)*e.cols])
		}
	}
	return masked
}

// The row of a token's kind is added in forward; in backward, the gradient of a kind has the bits of the
// column sums of its rows.
func TestEmbeddingOfPairs(t *testing.T) {
	kerneltest.Everywhere(t, func(t *testing.T, c *compute.CPU) {
		for _, cols := range []int{6, 64, 1030} {
			e := newEmbedded(t, 30, cols)
			p := row.On(c).NewEmbedding(cols, 2*len(e.tokens))
			p.Forward(e.y, e.words, e.positions, e.kinds, e.tokens, e.splits, e.rows)
			e.checkForward(t)
			dwords, dpositions := kerneltest.Floats(t, len(e.words)), kerneltest.Floats(t, len(e.positions))
			dkinds, want := kerneltest.Floats(t, 2*cols), kerneltest.Floats(t, cols)
			backward := func() { p.Backward(dwords, dpositions, dkinds, e.dy, e.tokens, e.splits, e.rows) }
			backward()
			sums := row.On(c).NewColumnSums(len(e.tokens), cols)
			for kind := range 2 {
				sums.Run(want, e.of(kind))
				kerneltest.SameBits(t, "kind", dkinds[kind*cols:(kind+1)*cols], want)
			}
			if n := alloctest.Least(2, backward); n != 0 {
				t.Errorf("%v allocations, want 0", n)
			}
			clear(e.splits)
			backward()
			sums.Run(want, e.dy)
			kerneltest.SameBits(t, "single texts", dkinds[:cols], want)
			one := kerneltest.Floats(t, cols) // a table of one kind is enough for single texts
			p.Backward(dwords, dpositions, one, e.dy, e.tokens, e.splits, e.rows)
			kerneltest.SameBits(t, "one kind", one, want)
		}
	})
}

// checkForward compares y with the definition.
func (e *embedded) checkForward(t *testing.T) {
	t.Helper()
	want := make([]float32, 0, len(e.y))
	kinds := e.kind()
	for n := range e.splits {
		start := int(e.rows.Starts[n])
		for i := start; i < int(e.rows.Starts[n+1]); i++ {
			for c := range e.cols {
				want = append(want, e.words[int(e.tokens[i])*e.cols+c]+
					e.positions[(i-start)*e.cols+c]+e.kinds[kinds[i]*e.cols+c])
			}
		}
	}
	kerneltest.SameBits(t, "forward", e.y, want)
}

func TestEmbeddingOfPairsWantsTwoKinds(t *testing.T) {
	e := newEmbedded(t, 5, 4)
	defer func() {
		if got := recover(); got != "kernel: embedding: text 1 has two parts, but there is 1 kind of tokens" {
			t.Errorf("panic %v", got)
		}
	}()
	row.On(kerneltest.Open(t, compute.Plain, 1)).NewEmbedding(4, len(e.tokens)).
		Forward(e.y, e.words, e.positions, e.kinds[:4], e.tokens, e.splits, e.rows)
}
