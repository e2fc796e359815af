package infer

import (
	"fmt"
	"slices"

	"lockstep/data/table"
	"lockstep/data/wordpiece"
	"lockstep/tensor"
)

// Input is one image, one text or one row of a table.
type Input struct {
	// Pixels is an image of 8 bits, [H, W, C], which Predict normalises.
	Pixels []byte
	// Values is an image in place of Pixels that is normalised already, [H, W, C].
	Values []float32
	// Row is a row of a table: the fields in the order of its columns, see [table.Table.Row].
	Row []string
	// Text is a text, and Pair a second one beside it; an empty one counts if IsPair.
	Text, Pair string
	IsPair     bool
	// Tokens is a text in place of Text: the numbers of its tokens, from [CLS] to [SEP]. Split of them stand
	// before the second text, 0 if there is none.
	Tokens []int32
	Split  int
}

// InputError says what is wrong with an input.
type InputError struct {
	Number int // of the input among those of the call, from 0
	Reason string
}

// Error names the input by its number from 1.
func (e *InputError) Error() string { return fmt.Sprintf("input %d: %s", e.Number+1, e.Reason) }

// NotFiniteError says that the network computed no number for an input: its weights or the input are too
// large, or no numbers.
type NotFiniteError struct{ Number int } // of the input among those of the call, from 0

// Error names the input by its number from 1.
func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("input %d: the network's outputs are infinite or no numbers", e.Number+1)
}

// reader turns inputs into what programs read. It is safe for concurrent use.
type reader struct {
	shape     tensor.Shape // of a sample
	words     int          // in the vocabulary; 0 of images
	tokenizer *wordpiece.Tokenizer
	scale     [][256]float32 // by channel, the normalised value of a byte; nil: not known
	table     *table.Table   // nil: inputs are no rows
	mean, std []float32      // of a row
}

// newReader returns the reader of a network's inputs.
func newReader(c Config) *reader {
	r := &reader{shape: c.Network.Input, words: c.Network.Words, tokenizer: c.Tokenizer, table: c.Table,
		mean: c.Mean, std: c.Std}
	if c.Table != nil {
		return r
	}
	for k, mean := range c.Mean {
		var table [256]float32
		for b := range table {
			unit := float32(b) / 255 // as data.Set.Normalize
			table[b] = (unit - mean) / c.Std[k]
		}
		r.scale = append(r.scale, table)
	}
	return r
}

// check returns what is wrong with an input; "": nothing.
func (r *reader) check(in *Input) string {
	isImage := in.Pixels != nil || in.Values != nil
	if in.Row != nil {
		return r.checkRow(in)
	}
	isText := in.Text != "" || in.Pair != "" || in.Tokens != nil
	switch n := r.shape.Elems(); {
	case r.table != nil && in.Values == nil:
		return "no row of a table"
	case r.words == 0 && (isText || !isImage):
		return fmt.Sprintf("no image, want one of shape %v", r.shape)
	case r.words > 0 && isImage:
		return "an image, want a text"
	case r.words > 0:
		return r.checkText(in)
	case in.Pixels != nil && in.Values != nil:
		return "both bytes and values of an image"
	case in.Pixels != nil && r.scale == nil:
		return "bytes of an image, but nobody says how they are normalised; give values"
	case max(len(in.Pixels), len(in.Values)) != n:
		return fmt.Sprintf("%d values of an image, want %d of shape %v",
			max(len(in.Pixels), len(in.Values)), n, r.shape)
	}
	return ""
}

// checkRow is check for a row.
func (r *reader) checkRow(in *Input) string {
	if r.table == nil {
		return "a row of a table, but nobody says what its columns mean"
	}
	if in.Pixels != nil || in.Values != nil || in.Tokens != nil || in.Text != "" {
		return "a row of a table, and another input beside it"
	}
	if err := r.table.CheckRow(in.Row); err != nil {
		return err.Error()
	}
	return ""
}

// checkText is check for a text.
func (r *reader) checkText(in *Input) string {
	if in.Tokens == nil {
		if r.tokenizer == nil {
			return "a text, but there is no vocabulary; give tokens"
		}
		return ""
	}
	if n := len(in.Tokens); n < 1 || n > r.shape[0] {
		return fmt.Sprintf("%d tokens, want 1 to %d", n, r.shape[0])
	}
	if in.Split < 0 || in.Split >= len(in.Tokens) {
		return fmt.Sprintf("the second text begins at token %d of %d", in.Split, len(in.Tokens))
	}
	for i, t := range in.Tokens {
		if t < 0 || int(t) >= r.words {
			return fmt.Sprintf("token %d is number %d, want 0 to %d", i, t, r.words-1)
		}
	}
	return ""
}

// read appends a checked input to q.
func (r *reader) read(q *request, in *Input) {
	switch {
	case r.words > 0:
		r.readText(q, in)
	case in.Row != nil:
		r.readRow(q, in)
	case in.Values != nil:
		q.images = append(q.images, in.Values...)
	default:
		from, channels := len(q.images), len(r.scale)
		q.images = slices.Grow(q.images, len(in.Pixels))[:from+len(in.Pixels)]
		for k := range r.scale {
			to, scale := q.images[from:], &r.scale[k]
			for i := k; i < len(in.Pixels); i += channels {
				to[i] = scale[in.Pixels[i]]
			}
		}
	}
}

// readRow is read for a row, normalised as data.Set does it.
func (r *reader) readRow(q *request, in *Input) {
	from := len(q.images)
	q.images, _ = r.table.Append(q.images, in.Row) // it was checked
	for k, x := range q.images[from:] {
		q.images[from+k] = (x - r.mean[k]) / r.std[k]
	}
}

// readText is read for a text.
func (r *reader) readText(q *request, in *Input) {
	before, split := len(q.tokens), in.Split
	switch {
	case in.Tokens != nil:
		q.tokens = append(q.tokens, in.Tokens...)
	case in.IsPair || in.Pair != "":
		q.tokens, split, _ = r.tokenizer.EncodePair(q.tokens, in.Text, in.Pair, r.shape[0])
	default:
		q.tokens, _ = r.tokenizer.Encode(q.tokens, in.Text, r.shape[0])
	}
	q.lengths = append(q.lengths, int32(len(q.tokens)-before))
	q.splits = append(q.splits, int32(split))
}
