package data

import (
	"slices"
	"strings"
	"testing"

	"lockstep/data/wordpiece"
	"lockstep/tensor"
)

// unbalanced returns a set of images of two pixels that have their number, most of
// the first of three classes.
func unbalanced() *Set {
	s := &Set{Name: "unbalanced", Classes: []string{"a", "b", "c"}, Shape: tensor.Shape{1, 2, 1},
		Mean: []float32{0}, Std: []float32{1}}
	for i := range 100 {
		class := int32(0)
		if i%20 == 3 {
			class = 2
		} else if i%5 == 0 {
			class = 1
		}
		s.Labels = append(s.Labels, class)
		s.Pixels = append(s.Pixels, byte(i), byte(i))
	}
	return s
}

// Each class gives its share, no sample is lost or twice, and the choice depends on the seed alone.
func TestWithValidation(t *testing.T) {
	whole := unbalanced()
	sets, err := Sets{Train: whole}.WithValidation(0.2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for part, want := range map[*Set][]int{sets.Train: {60, 16, 4}, sets.Validation: {15, 4, 1}} {
		if err := part.Check(); err != nil || !slices.Equal(part.Counts(), want) {
			t.Errorf("counts %v, %v, want %v", part.Counts(), err, want)
		}
	}
	all := append(slices.Clone(sets.Train.Pixels), sets.Validation.Pixels...)
	slices.Sort(all)
	if want := slices.Sorted(slices.Values(whole.Pixels)); !slices.Equal(all, want) {
		t.Errorf("the parts have %v", all)
	}
	again, _ := Sets{Train: unbalanced()}.WithValidation(0.2, 1)
	other, _ := Sets{Train: unbalanced()}.WithValidation(0.2, 2)
	if again.Validation.SHA256() != sets.Validation.SHA256() ||
		other.Validation.SHA256() == sets.Validation.SHA256() {
		t.Error("the choice does not follow from the seed")
	}
}

func TestWithValidationOfTexts(t *testing.T) {
	tokenizer, err := wordpiece.New([]string{"[UNK]", "[CLS]", "[SEP]", "a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	s := &Set{Name: "texts", Classes: []string{"x"}, Shape: tensor.Shape{8},
		Texts: &Texts{Vocabulary: 5, Tokenizer: tokenizer}}
	for i := range 10 {
		for range i%5 + 1 { // two are alike
			s.Texts.Tokens = append(s.Texts.Tokens, int32(i%5))
		}
		s.Texts.Ends, s.Labels = append(s.Texts.Ends, len(s.Texts.Tokens)), append(s.Labels, 0)
	}
	sets, err := Sets{Train: s}.WithValidation(0.2, 1)
	if err != nil || sets.Train.Len() != 8 || sets.Validation.Len() != 2 {
		t.Fatalf("%+v, %v", sets, err)
	}
	v := sets.Validation.Texts
	if !slices.Equal(v.At(0), v.At(1)) {
		t.Errorf("texts that are alike are torn apart: %v and %v", v.At(0), v.At(1))
	}
}

func TestWithValidationErrors(t *testing.T) {
	for want, c := range map[string]struct {
		sets  Sets
		share float64
	}{
		"share above 0 and below 1": {Sets{Train: unbalanced()}, 1},
		"validation samples alread": {Sets{Train: unbalanced(), Validation: unbalanced()}, 0.1},
		"too few to set 0.5":        {Sets{Train: unbalanced().Limit(1)}, 0.5},
	} {
		if _, err := c.sets.WithValidation(c.share, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
