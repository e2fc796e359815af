package row

import (
	"fmt"

	"lockstep/compute"
)

// Embedding is the plan of a sum of three embeddings: for token i, number t of its text,
//
//	y[i] = words[tokens[i]] + positions[t] + kinds[k]
//
// k is 1 for the tokens of a text's second part, else 0. Matrices are [number, cols].
type Embedding struct {
	cpu  *CPU
	cols int
	kind []uint8 // of each token of the call in progress
	sums columns // of dy by kind

	// The call in progress.
	rows                       Rows
	tokens                     []int32
	y, words, positions, kinds []float32
}

// numKinds is the number of parts that a text can have, each with tokens of its own kind.
const numKinds = 2

// NewEmbedding plans embeddings of cols features for at most most tokens.
func (c *CPU) NewEmbedding(cols, most int) *Embedding {
	mustShape("embedding", most, cols)
	return &Embedding{cpu: c, cols: cols, kind: make([]uint8, most),
		sums: newColumns(most, cols, numKinds, c.Threads())}
}

// Forward computes y. splits says for each text how many tokens stand before its second part; 0 means that
// it has none. It panics if a token has no word, a text is longer than there are positions, or a text has
// a second part and there is only one kind.
func (e *Embedding) Forward(y, words, positions, kinds []float32, tokens, splits []int32, r Rows) {
	e.start(y, words, positions, kinds, tokens, splits, r)
	e.cpu.Share((*embeddingForward)(e), len(y))
	e.end()
}

// Backward computes the gradients of words, positions and kinds. The gradient of a row is the sum of dy
// over the tokens that read it: in order for words and positions, and for a kind as ColumnSums adds up dy
// with zeros for the tokens of the other kind.
func (e *Embedding) Backward(dwords, dpositions, dkinds, dy []float32, tokens, splits []int32, r Rows) {
	e.start(dy, dwords, dpositions, dkinds, tokens, splits, r)
	e.cpu.RunParts((*embeddingBackward)(e), e.cpu.Threads()) // each looks at all tokens
	e.sums.resize(r.Rows())
	e.cpu.Share((*embeddingKinds)(e), len(dy))
	clear(dkinds)
	copy(dkinds, e.sums.total(e.cpu.ops.Element.Add))
	e.end()
}

func (e *Embedding) start(y, words, positions, kinds []float32, tokens, splits []int32, r Rows) {
	r.Cols = e.cols
	r.Check("embedding", "y", y)
	e.check(words, positions, kinds, tokens, splits, r)
	for n, split := range splits {
		e.mark(r.Starts[n], r.Starts[n+1], split)
	}
	e.rows, e.tokens = r, tokens
	e.y, e.words, e.positions, e.kinds = y, words, positions, kinds
}

// mark writes the kinds of the tokens [start, end), a text.
func (e *Embedding) mark(start, end, split int32) {
	kind := e.kind[start:end]
	clear(kind)
	if split == 0 {
		return
	}
	for i := range kind[split:] {
		kind[int(split)+i] = 1
	}
}

// check panics if a token has no row in one of the tables.
func (e *Embedding) check(words, positions, kinds []float32, tokens, splits []int32, r Rows) {
	MustLen("embedding", "tokens", len(tokens), r.Rows())
	MustLen("embedding", "splits", len(splits), r.Samples())
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
		if splits[n] > 0 && len(kinds) < numKinds*e.cols {
			panic(fmt.Sprintf("kernel: embedding: text %d has two parts, but there is %d kind of tokens", n,
				len(kinds)/e.cols))
		}
	}
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
			add(y, y, e.row(e.kinds, int(e.kind[i])))
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

// embeddingKinds is the task of Backward that sums dy by kind.
type embeddingKinds Embedding

// Do sums a run of blocks.
func (t *embeddingKinds) Do(thread, part, parts int) {
	e := (*Embedding)(t)
	add := e.cpu.ops.Element.Add
	e.sums.sum(thread, part, parts, add, func(acc []float32, lo, hi int) {
		for at := lo; at < hi; at += e.cols {
			s := acc[int(e.kind[at/e.cols])*e.sums.wide+(at-lo)%e.sums.wide:][:e.cols]
			add(s, s, e.y[at:at+e.cols])
		}
	})
}
