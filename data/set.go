package data

import (
	"fmt"
	"math"

	"lockstep/data/table"
	"lockstep/internal/spelling"
	"lockstep/tensor"
)

// maxChannels bounds the channels of an image: grey, RGB, or RGB with one more.
const maxChannels = 4

// Set is a set of images (or of vectors of numbers, as images of one pixel) or of texts with labels, float
// targets or both. It is read-only once loaded.
type Set struct {
	// Name is the data set's name: one of Names, or the path it was loaded from.
	Name string
	// Classes names the classes; labels index it.
	Classes []string
	// Labels holds the class of each sample, [N]; nil for a set that has Targets alone.
	Labels []int32
	// Targets holds NumTargets values for each sample, [N, NumTargets], for a regression, say;
	// nil, and 0, for a set that has only Labels.
	Targets    []float32
	NumTargets int
	// Values says what each target is, [NumTargets]; a Shard then has (target - Mean) / Std. Nil: it has
	// targets as they are.
	Values []table.Value
	// Weights holds what each sample counts for in the loss of a training step, [N], 0 or more: the loss is
	// the mean over the global batch in which sample i counts Weights[i] times. Nil: each counts once.
	// Evaluations count each once.
	Weights []float32
	// ClassShares says by class how often its samples are drawn in an epoch, in proportion, 0 or more, see
	// Sampler.ByClass; nil: each sample once.
	ClassShares []float32
	// Generated means that a program made the samples; results must say so.
	Generated bool
	// Source says where the set came from: a path, or how it was generated.
	Source string

	// Shape is the shape of one image, [H, W, C], or [T] for texts of at most T tokens.
	Shape tensor.Shape

	// Texts holds the samples if they are texts, else it is nil. A set of texts has none of the
	// fields below.
	Texts *Texts

	// Pixels holds all images, [N, H, W, C]: a byte for each element or, if IsFloat, a float32 of four bytes,
	// the lowest first.
	Pixels []byte
	// IsFloat says that elements are float32, of any number of channels.
	IsFloat bool
	// Samples has the images in place of Pixels, if it is not nil; there may be more than Len.
	Samples Source
	// byNumber says that samples may lie in memory or in files, so that what is chosen of them must depend on
	// their numbers, not their content.
	byNumber bool
	// Mean and Std normalise each channel: (pixel/255 - Mean) / Std, or (x - Mean) / Std of floats. Both have
	// C elements.
	Mean, Std []float32
	// Augment is the default augmentation for training on this set.
	Augment Augmentation
	// Table says what the columns mean of which samples are rows; nil of others.
	Table *table.Table
	rows  []int32 // see Row; nil: samples have their own numbers
}

// Row returns the number of sample i, from 0, in the set that s was taken out of, such as that of a row in
// its file; that in s itself if it is no such part.
func (s *Set) Row(i int) int {
	if s.rows == nil {
		return i
	}
	return int(s.rows[i])
}

// Len returns the number of samples, N.
func (s *Set) Len() int {
	if s.NumTargets > 0 {
		return len(s.Targets) / s.NumTargets
	}
	return len(s.Labels)
}

// addLabels appends labels of a byte each.
func (s *Set) addLabels(labels []byte) {
	for _, label := range labels {
		s.Labels = append(s.Labels, int32(label))
	}
}

// HasLabels reports whether samples have classes.
func (s *Set) HasLabels() bool { return s.NumTargets == 0 || len(s.Labels) > 0 }

// Bytes returns the size of the samples.
func (s *Set) Bytes() int64 {
	bytes := len(s.Pixels) + 4*len(s.Labels) + 4*len(s.Targets)
	if t := s.Texts; t != nil {
		bytes += 4*len(t.Tokens) + 8*len(t.Ends) + 4*len(t.Splits)
	}
	return int64(bytes)
}

// Limit returns the set of the first n samples, or s itself unless 0 <= n < s.Len(). It shares the
// memory of s.
func (s *Set) Limit(n int) *Set {
	if n < 0 || n >= s.Len() {
		return s
	}
	first := *s
	if s.HasLabels() {
		first.Labels = s.Labels[:n:n]
	}
	first.Targets = s.Targets[: n*s.NumTargets : n*s.NumTargets]
	if s.Weights != nil {
		first.Weights = s.Weights[:n:n]
	}
	if s.Texts != nil {
		first.Texts = s.Texts.limit(n)
		return &first
	}
	if s.Samples == nil {
		end := n * s.SampleBytes()
		first.Pixels = s.Pixels[:end:end]
	}
	return &first
}

// Relabel returns the set with these classes, in which class c of s is class numbers[c]. It shares the
// samples of s. It returns a *FormatError if a number is greater than a label can be.
func (s *Set) Relabel(classes []string, numbers []int) (*Set, error) {
	other := *s
	other.Classes, other.Labels = classes, make([]int32, len(s.Labels))
	for c, n := range numbers {
		if n >= maxClasses {
			return nil, &FormatError{File: s.Name, Offset: -1, Reason: fmt.Sprintf(
				"class %.80q has number %d, want at most %d", s.Classes[c], n, maxClasses-1)}
		}
	}
	for i, label := range s.Labels {
		other.Labels[i] = int32(numbers[label])
	}
	return &other, nil
}

// Take fills sh with the samples [lo, hi) without augmentation, as evaluation does. Images are normalised,
//
//	sh.Images[n, h, w, c] = (pixel[lo+n, h, w, c]/255 - Mean[c]) / Std[c]
//
// each operation in float32, as PyTorch's ToTensor followed by Normalize. The buffers of sh grow as needed
// and are reused. It panics if the range is invalid; errors are those of Samples.
func (s *Set) Take(sh *Shard, lo, hi int) error {
	if s.Texts == nil {
		return s.TakeView(sh, lo, hi, View{})
	}
	return s.reserve(sh, lo, hi)
}

// reserve is Take without the images, for which it makes room.
func (s *Set) reserve(sh *Shard, lo, hi int) error {
	if lo < 0 || hi < lo || hi > s.Len() {
		panic(fmt.Sprintf("data: take: [%d, %d) of %d samples", lo, hi, s.Len()))
	}
	sh.Samples = hi - lo
	sh.labels = atLeast(sh.labels, hi-lo)
	sh.targets = atLeast(sh.targets, (hi-lo)*s.NumTargets)
	sh.resetTargets()
	for i := lo; i < hi; i++ {
		sh.appendTargets(s, i)
	}
	if s.Texts == nil {
		elems := (hi - lo) * s.Shape.Elems()
		sh.images = atLeast(sh.images, elems)
		sh.Images = sh.images[:elems]
		return nil
	}
	sh.reset()
	sh.lengths, sh.splits = atLeast(sh.lengths, hi-lo), atLeast(sh.splits, hi-lo)
	for i := lo; i < hi; i++ {
		if err := sh.appendText(s.Texts, i); err != nil {
			return err
		}
	}
	return nil
}

// atLeast returns a slice of at least n elements, buffer if it is long enough.
func atLeast[E any](buffer []E, n int) []E {
	if len(buffer) >= n {
		return buffer
	}
	return make([]E, n)
}

// Check returns the first inconsistency between the fields: a length that does not follow from the number of
// samples, a label outside Classes, a deviation by which nothing can be divided. Cost: O(Len), and O(tokens)
// for texts.
func (s *Set) Check() error {
	switch {
	case len(s.Targets) != s.Len()*s.NumTargets:
		return fmt.Errorf("data: set %s: %d targets, want %d for each sample",
			s.Name, len(s.Targets), s.NumTargets)
	case s.HasLabels() && len(s.Labels) != s.Len():
		return fmt.Errorf("data: set %s: %d labels for %d samples", s.Name, len(s.Labels), s.Len())
	case s.Weights != nil && len(s.Weights) != s.Len():
		return fmt.Errorf("data: set %s: %d weights for %d samples", s.Name, len(s.Weights), s.Len())
	}
	if err := s.checkTargets(); err != nil {
		return err
	}
	for i, w := range s.Weights {
		if !(w >= 0 && isFinite(w)) {
			return fmt.Errorf("data: set %s: weight %v of sample %d, want 0 or more", s.Name, w, i)
		}
	}
	for i, label := range s.Labels {
		if label < 0 || int(label) >= len(s.Classes) {
			return fmt.Errorf("data: set %s: label %d of sample %d, but %s",
				s.Name, label, i, spelling.Count(len(s.Classes), "class"))
		}
	}
	if s.Texts != nil {
		return s.checkTexts()
	}
	switch {
	case len(s.Shape) != 3 || s.Shape.Elems() <= 0:
		return fmt.Errorf("data: set %s: image shape %v, want [H, W, C]", s.Name, s.Shape)
	case s.Shape[2] > maxChannels && !s.IsFloat:
		return fmt.Errorf("data: set %s: %d channels, want at most %d",
			s.Name, s.Shape[2], maxChannels)
	case len(s.Mean) != s.Shape[2] || len(s.Std) != s.Shape[2]:
		return fmt.Errorf("data: set %s: %d means, %d deviations, want one for each of %d channels",
			s.Name, len(s.Mean), len(s.Std), s.Shape[2])
	}
	for c, mean := range s.Mean {
		if !isFinite(mean) {
			return fmt.Errorf("data: set %s: mean of channel %d is %v", s.Name, c, mean)
		}
		if std := s.Std[c]; !isFinite(std) || std == 0 {
			return fmt.Errorf("data: set %s: deviation of channel %d is %v", s.Name, c, std)
		}
	}
	return s.checkSamples()
}

// checkTargets returns what is wrong with targets, what they are, and how often classes are drawn.
func (s *Set) checkTargets() error {
	if s.Values != nil && len(s.Values) != s.NumTargets {
		return fmt.Errorf("data: set %s: %d values for %d targets", s.Name, len(s.Values), s.NumTargets)
	}
	if err := table.CheckValues(s.Values); err != nil {
		return fmt.Errorf("data: set %s: %w", s.Name, err)
	}
	for i, x := range s.Targets {
		if !isFinite(x) {
			return fmt.Errorf("data: set %s: target %v of sample %d", s.Name, x, i/s.NumTargets)
		}
	}
	if s.ClassShares != nil && (!s.HasLabels() || len(s.ClassShares) != len(s.Classes)) {
		return fmt.Errorf("data: set %s: %d shares for %s", s.Name, len(s.ClassShares),
			spelling.Count(len(s.Classes), "class"))
	}
	for c, share := range s.ClassShares {
		if !(share >= 0 && isFinite(share)) {
			return fmt.Errorf("data: set %s: share %v of class %d, want 0 or more", s.Name, share, c)
		}
	}
	return nil
}

func isFinite(x float32) bool { return math.Abs(float64(x)) <= math.MaxFloat32 }

// byteTable maps a byte of each channel to its normalised value.
type byteTable [maxChannels][256]float32

func (t *byteTable) fill(mean, std []float32) {
	for c := range mean {
		for b := range t[c] {
			unit := float32(b) / 255
			t[c][b] = (unit - mean[c]) / std[c]
		}
	}
}

// convert writes the normalised values of whole pixels: src and dst are [..., C].
func (t *byteTable) convert(dst []float32, src []byte, channels int) {
	dst = dst[:len(src)]
	switch channels {
	case 1:
		for i, b := range src {
			dst[i] = t[0][b]
		}
	case 3:
		for len(src) >= 3 && len(dst) >= 3 {
			dst[0], dst[1], dst[2] = t[0][src[0]], t[1][src[1]], t[2][src[2]]
			dst, src = dst[3:], src[3:]
		}
	default:
		for i, b := range src {
			dst[i] = t[i%channels][b]
		}
	}
}
