package data_test

import (
	"runtime"
	"slices"
	"testing"

	"lockstep/data"
	"lockstep/tensor"
)

// hashed returns a set of images that makes several parts, and one of texts.
func hashed() (images, texts data.Set) {
	images = data.Set{Shape: tensor.Shape{64, 64, 3}, Classes: []string{"a", "b"},
		Labels: make([]int32, 1000), Pixels: make([]byte, 1000*64*64*3)}
	for i := range images.Pixels {
		images.Pixels[i] = byte(i * i >> 3)
	}
	texts = data.Set{Shape: tensor.Shape{4}, Classes: []string{"a", "b"}, Labels: []int32{0, 1},
		Texts: &data.Texts{Tokens: []int32{1, 7, 2, 1, 2}, Ends: []int{3, 5}, Vocabulary: 9}}
	return images, texts
}

func TestHashDependsOnEverySampleAlone(t *testing.T) {
	images, texts := hashed()
	before := runtime.GOMAXPROCS(1)
	one := images.SHA256()
	runtime.GOMAXPROCS(7)
	named := images
	named.Name, named.Source, named.Mean = "other", "elsewhere", []float32{1}
	if got := named.SHA256(); got != one || len(got) != 64 {
		t.Errorf("hash %s on 7 processors, %s on one", got, one)
	}
	runtime.GOMAXPROCS(before)
	hashes := []string{one, texts.SHA256(), images.Limit(999).SHA256(), texts.Limit(1).SHA256()}
	for _, change := range []func(images, texts *data.Set){
		func(s, _ *data.Set) { s.Pixels[0] ^= 1 },
		func(s, _ *data.Set) { s.Pixels[len(s.Pixels)-1] ^= 128 },
		func(s, _ *data.Set) { s.Labels[500] = 1 },
		func(s, _ *data.Set) { s.Shape = tensor.Shape{32, 128, 3} },
		func(_, s *data.Set) { s.Texts.Tokens[1] = 8 },
		func(_, s *data.Set) { s.Texts.Ends[0] = 2 },
		func(_, s *data.Set) { s.Texts.Splits = []int32{1, 0} },
		func(_, s *data.Set) { s.Texts.Splits = []int32{2, 0} },
	} {
		changedImages, changedTexts := hashed()
		change(&changedImages, &changedTexts)
		got := changedImages.SHA256()
		if got == one {
			got = changedTexts.SHA256()
		}
		hashes = append(hashes, got)
	}
	slices.Sort(hashes)
	if distinct := slices.Compact(slices.Clone(hashes)); len(distinct) != len(hashes) {
		t.Errorf("%d of %d hashes differ", len(distinct), len(hashes))
	}
}

func BenchmarkSHA256(b *testing.B) {
	images, _ := hashed()
	b.SetBytes(images.Bytes())
	for b.Loop() {
		images.SHA256()
	}
}
