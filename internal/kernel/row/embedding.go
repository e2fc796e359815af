package row

import (
	"fmt"

	"lockstep/compute"
)

// Embedding is the plan of a sum of three embeddings: for token i, number t of its text,
//
//	y[i] = words[tokens[i]] + positions[t] + kinds[0]
//
// All tokens are of the first kind. Matrices are [number, cols].
type Embedding struct {
	cpu  *CPU
	cols int

	// The call in progress.
	rows                       Rows
	tokens                     []int32
	y, words, positions, kinds []float32
	sums                       *ColumnSums
}

// NewEmbedding plans embeddings of cols features for at most most tokens.
func (c *CPU) NewEmbedding(cols, most int) *Embedding {
	return &Embedding{cpu: c, cols: cols, sums: c.NewColumnSums(most, cols)}
}

// Forward computes y. It panics if a token has no word or a text is longer than there are positions.
func (e *Embedding) Forward(y, words, positions, kinds []float32, tokens []int32, r Rows) {
	e.start(y, words, positions, kinds, tokens, r)
	e.cpu.Share((*embeddingForward)(e), len(y))
	e.end()
}

// Backward computes the gradients of words, positions and kinds. The gradient of a row is the sum of dy
// over the tokens that read it, in order; the kind's is summed as in ColumnSums.
func (e *Embedding) Backward(dwords, dpositions, dkinds, dy []float32, tokens []int32, r Rows) {
	e.start(dy, dwords, dpositions, dkinds, tokens, r)
	e.cpu.RunParts((*embeddingBackward)(e), e.cpu.Threads()) // each looks at all tokens
	clear(dkinds)
	e.sums.Resize(r.Rows())
	e.sums.Run(dkinds[:e.cols], dy)
	e.end()
}

func (e *Embedding) start(y, words, positions, kinds []float32, tokens []int32, r Rows) {
	r.Cols = e.cols
	r.Check("embedding", "y", y)
	MustLen("embedding", "tokens", len(tokens), r.Rows())
	vocabulary := len(words) / e.cols
	for i, t := range tokens {
		if t < 0 || int(t) >= vocabulary {
			panic(fmt.Sprintf("kernel: embedding: tokens[%d]=%d, want 0 to %d", i, t, vocabulary-1))
		}
	}
	for n := range r.Samples() {
		if length := int(r.Starts[n+1] - r.Starts[n]); length*e.cols > len(positions) {
			panic(fmt.Sprintf("kernel: embedding: text %d has %d tokens, want at most %d", n, length,
				len(positions)/e.cols))
		}
	}
	e.rows, e.tokens = r, tokens
	e.y, e.words, e.positions, e.kinds = y, words, positions, kinds
}

func (e *Embedding) end() {
	e.rows, e.tokens = Rows{}, nil
	e.y, e.words, e.positions, e.kinds = nil, nil, nil, nil
}

// row returns row i of x.
func (e *Embedding) row(x []float32, i int) []float32 { return x[i*e.cols : (i+1)*e.cols] }

// embeddingForward is Forward's task.
type embeddingForward Embedding

// Do computes a run of tokens.
func (t *embeddingForward) Do(_, part, parts int) {
	e := (*Embedding)(t)
	add := e.cpu.ops.Element.Add
	lo, hi := compute.Span(len(e.tokens), part, parts)
	for n := range e.rows.Samples() {
		start := int(e.rows.Starts[n])
		for i := max(lo, start); i < min(hi, int(e.rows.Starts[n+1])); i++ {
			y := e.row(e.y, i)
			add(y, e.row(e.words, int(e.tokens[i])), e.row(e.positions, i-start))
			add(y, y, e.kinds[:e.cols])
		}
	}
}

// embeddingBackward is Backward's task.
type embeddingBackward Embedding

// Do computes the gradients of a run of words and one of positions.
func (t *embeddingBackward) Do(_, part, parts int) {
	e := (*Embedding)(t)
	add := e.cpu.ops.Element.Add
	lo, hi := compute.Span(len(e.words)/e.cols, part, parts)
	clear(e.words[lo*e.cols : hi*e.cols])
	for i, word := range e.tokens {
		if lo <= int(word) && int(word) < hi {
			w := e.row(e.words, int(word))
			add(w, w, e.row(e.y, i))
		}
	}
	lo, hi = compute.Span(len(e.positions)/e.cols, part, parts)
	clear(e.positions[lo*e.cols : hi*e.cols])
	for n := range e.rows.Samples() {
		start := int(e.rows.Starts[n])
		for i := start + lo; i < min(start+hi, int(e.rows.Starts[n+1])); i++ {
			p := e.row(e.positions, i-start)
			add(p, p, e.row(e.y, i))
		}
	}
}
