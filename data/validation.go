package data

import (
	"encoding/binary"
	"fmt"
	"math"
)

// WithValidation sets a share of the training samples of each class apart as Validation, chosen by the seed,
// at least one of a class whose samples differ. Which ones depends on their content and the seed alone, not
// on their order, and equal samples of a class stay together; but of images and arrays of a path, and of
// other Samples, it depends on their numbers, so that it is one choice wherever they lie. Those in memory are
// copied. Errors: a share that is not above 0 and below 1, a set that has a validation part already, or one
// too small to share.
func (s Sets) WithValidation(share float64, seed uint64) (Sets, error) {
	if !(share > 0 && share < 1) {
		return s, fmt.Errorf("data: set %v of the samples apart, want a share above 0 and below 1", share)
	}
	if s.Validation != nil {
		return s, fmt.Errorf("data: set %s has %d validation samples already, which are used without it",
			s.Train.Name, s.Validation.Len())
	}
	n := s.Train.Len()
	hashes := make([]uint64, n)
	room := func(n int) int { return max(1, int(math.Round(share*float64(n)))) }
	for i := range hashes {
		hashes[i] = textHash(string(binary.LittleEndian.AppendUint64(nil, seed)), s.Train.content(i))
	}
	rest, taken := s.Train.split(heldPart(s.Train.strata(), hashes, room))
	if taken == nil || rest.Len() == 0 {
		return s, fmt.Errorf("data: set %s: %d samples are too few to set %v of them apart", s.Train.Name, n,
			share)
	}
	s.Train, s.Validation = rest, taken
	return s, nil
}

// content returns what sample i shows or, of samples that need not be in memory, its number.
func (s *Set) content(i int) string {
	switch {
	case s.Samples != nil && s.Table != nil: // as if it were in memory
		sample := make([]byte, s.SampleBytes())
		if s.Samples.ReadSample(sample, i) == nil { // else training will tell
			return string(sample)
		}
		return ""
	case s.Samples != nil || s.byNumber:
		return string(binary.LittleEndian.AppendUint64(nil, uint64(i)))
	case s.Texts == nil:
		n := s.SampleBytes()
		return string(s.Pixels[i*n:][:n])
	}
	var b []byte
	tokens, _, err := s.Texts.read(nil, i, nil)
	if err != nil {
		return "" // training will tell
	}
	for _, t := range tokens {
		b = binary.LittleEndian.AppendUint32(b, uint32(t))
	}
	return string(b)
}
