package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"

	"lockstep/graph"
	"lockstep/onnx"
	"lockstep/tensor"
)

// IsFile reports whether Named takes name as the path of an ONNX file.
func IsFile(name string) bool { return filepath.Ext(name) == ".onnx" }

// FileError says that an ONNX file cannot be read, or has what Lockstep cannot compute.
type FileError struct{ Err error }

// Error implements error.
func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FileError) Unwrap() error { return e.Err }

// WithFreshHeads returns a catalog of the same names, of which those of files get a new last layer where the
// number of classes is another one.
func (c Catalog) WithFreshHeads() Catalog {
	c.fresh = true
	return c
}

// WithSide returns a catalog of the same names, in which files that say no size of their images read ones of
// so many pixels a side.
func (c Catalog) WithSide(pixels int) Catalog {
	c.side = pixels
	return c
}

// usualTokens is the length of the texts of a file for any length, where nobody says one, and fewestTokens
// one that every network can take.
const (
	usualTokens  = 128
	fewestTokens = 8
	mostTokens   = 1 << 12
)

// takes reports whether a file reads texts of n tokens.
func takes(m *onnx.Model, n int) bool {
	_, err := m.Build(graph.New().Texts(Texts, 1, n), onnx.Options{})
	return err == nil
}

// lengthOf returns such a length, which may be less if the file has places for fewer tokens. One that has
// places for texts of one length only has a tensor with an axis of it.
func lengthOf(m *onnx.Model) int {
	for n := usualTokens; n >= fewestTokens; n /= 2 {
		if takes(m, n) {
			return n
		}
	}
	tried := map[int]bool{}
	for _, t := range m.Tensors {
		for _, n := range t.Shape {
			isLength := n > 1 && n <= mostTokens && !tried[n]
			if tried[n] = true; isLength && takes(m, n) {
				return n
			}
		}
	}
	return fewestTokens
}

// tokensOf returns to how many tokens texts of at most so many are padded, 0 being any number: more if the
// file reads texts of another length only.
func tokensOf(m *onnx.Model, most int) int {
	fixed := m.Input()[0]
	if fixed >= max(most, 1) || fixed > 0 || most > 0 && takes(m, most) {
		return max(fixed, most)
	}
	return max(lengthOf(m), most)
}

// advised adds to the error of a network which length of texts it would take, if it has places for fewer
// tokens.
func advised(m *onnx.Model, n Network, err error) error {
	if !m.ReadsTexts() {
		return err
	}
	if fits := lengthOf(m); fits < n.Input[0] && takes(m, fits) {
		return fmt.Errorf("%w; it takes texts of %d tokens: say --sequence %[2]d", err, fits)
	}
	return err
}

// nameKey and stemKey are the keys of an ONNX file's metadata with the name of its network and the stem, so
// that it is read as that network if its nodes are still those.
const (
	nameKey = "lockstep.model"
	stemKey = "lockstep.stem"
)

// origin is the ONNX file that a network comes from.
type origin struct {
	model         *onnx.Model
	options       onnx.Options
	scale, offset []float32 // see Scale
}

// Scale returns what lockstep export lets the ONNX file of a network for numbers multiply outputs with, and
// then add: the file's outputs are the numbers, those of the network standardised, as it is trained. Nil if
// the network comes from no such file.
func (n Network) Scale() (scale, offset []float32) {
	if n.file == nil {
		return nil, nil
	}
	return n.file.scale, n.file.offset
}

// Metadata returns what the ONNX file that the network comes from says of itself; nil if it comes from none.
func (n Network) Metadata() map[string]string {
	if n.file == nil {
		return nil
	}
	return n.file.model.Metadata
}

// FileSHA256 returns the hash of the contents of the ONNX file that the network comes from, weights beside it
// included; "" if it comes from none.
func (n Network) FileSHA256() string {
	if n.file == nil {
		return ""
	}
	h := sha256.New()
	n.file.model.WriteTo(h) // a hash has no errors
	for _, x := range slices.Concat(n.file.scale, n.file.offset) {
		fmt.Fprintln(h, x)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fromFile returns the network of an ONNX file, whose parameters and running statistics start from the
// file's. A nil input, and 0 classes, are those of the file. Errors are *FileError for the file, others where
// it does not fit the samples.
func (c Catalog) fromFile(path string, classes int, input tensor.Shape) (Network, error) {
	m, err := onnx.Open(path)
	if err != nil {
		return Network{}, &FileError{err}
	}
	n := Network{Name: path, Input: input.Clone(), Classes: classes, file: &origin{model: m}}
	n.file.scale, n.file.offset = m.Unscale()
	if input == nil {
		n.Input = m.Input()
	}
	switch {
	case m.ReadsTexts() && len(n.Input) == 1 && len(m.Input()) == 1:
		n.Input[0] = tokensOf(m, n.Input[0])
	case len(n.Input) == 3:
		for i, usual := range []int{c.side, c.side, 3} {
			n.Input[i] = cmp.Or(n.Input[i], usual)
		}
	}
	if m.ReadsTexts() != n.ReadsTexts() || n.Input.Elems() < 1 {
		return Network{}, fmt.Errorf("model: %s reads samples of shape %v, given is %v", path,
			m.Input(), n.Input)
	}
	if n.ReadsTexts() {
		n.Words = m.NumWords()
	}
	if c.fresh {
		n.file.options.FreshClasses = classes
	}
	n.Build = func(x *graph.Node) *graph.Node {
		logits, _ := m.Build(x, n.file.options) // the graph has the error
		return logits
	}
	for _, samples := range []int{1, 2} {
		g := graph.New()
		logits, err := m.Build(n.Samples(g, samples), n.file.options)
		if err != nil {
			return Network{}, &FileError{advised(m, n, err)}
		}
		n.Classes = cmp.Or(n.Classes, logits.Shape()[1])
		if got := logits.Shape()[1]; got != n.Classes {
			return Network{}, fmt.Errorf("model: %s ends in %d values, the data has %d classes; "+
				"train a new last layer with --fresh-head", path, got, n.Classes)
		}
	}
	if own, ok := c.written(n); ok {
		return own, nil
	}
	return n, nil
}

// written returns the network of the catalog that was written to the file from which n comes, with the
// weights of the file; ok is false if that is none, or if somebody has changed the nodes since. Such a
// network has what a file of ONNX cannot say, such as dropout and texts without padding.
func (c Catalog) written(n Network) (own Network, ok bool) {
	m := n.file.model
	name := m.Metadata[nameKey]
	if _, isKnown := c.find(name); !isKnown {
		return own, false
	}
	c.fresh = false
	own, err := c.Named(name, n.Classes, n.Input)
	if err == nil {
		own, err = own.WithStem(cmp.Or(m.Metadata[stemKey], StemAuto))
	}
	if err == nil && own.bert != nil {
		own = own.WithWords(n.Words)
	}
	if err != nil {
		return own, false
	}
	again, err := own.toONNX(nil)
	if err != nil || !reflect.DeepEqual(again.Nodes, m.Nodes) {
		return own, false
	}
	tensors := map[string]onnx.Tensor{}
	for _, t := range m.Tensors {
		tensors[t.Name] = t
	}
	for _, t := range again.Tensors { // constants; those of parameters have no values
		had := tensors[t.Name]
		if t.Ints != nil && !slices.Equal(t.Ints, had.Ints) ||
			t.Floats != nil && !slices.Equal(t.Floats, had.Floats) {
			return own, false
		}
	}
	begin := func(name string, shape tensor.Shape) []float32 {
		if t := tensors[name]; t.Floats != nil && t.Shape.Equal(shape) {
			return t.Floats
		}
		return nil
	}
	for _, p := range own.trial().Params() {
		if begin(p.Name, p.Shape) == nil && n.file.options.FreshClasses == 0 {
			return own, false
		}
	}
	build := own.Build
	own.Build = func(x *graph.Node) *graph.Node {
		logits := build(x)
		x.Graph().Begin(begin)
		return logits
	}
	own.Name, own.file, own.Prepare, own.PrepareSamples = n.Name, n.file, nil, 0
	return own, true
}

// ONNX returns the network as an ONNX model with the weights and running statistics of v, for any batch. One
// that came from an ONNX file keeps the file's nodes and metadata. Errors are *onnx.UnsupportedError.
func (n Network) ONNX(v *graph.Variables) (*onnx.Model, error) {
	if n.file == nil || n.known != "" {
		m, err := n.toONNX(v)
		if err != nil {
			return nil, err
		}
		m.Metadata = map[string]string{nameKey: n.known}
		if n.stem != "" {
			m.Metadata[stemKey] = n.stem
		}
		return m, nil
	}
	return n.file.model.With(n.Samples(graph.New(), 1), n.file.options, v)
}

// toONNX returns the graph of the network as a model.
func (n Network) toONNX(v *graph.Variables) (*onnx.Model, error) {
	x := n.Samples(graph.New(), 2)
	return onnx.FromGraph(x, n.Build(x), v)
}
