package data

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// heldOutOf is the number of samples of a class of which one is held out for the test.
const heldOutOf = 10

// textHash returns a hash of the texts that tells one sample from another.
func textHash(parts ...string) uint64 {
	h := sha256.New()
	for _, part := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// heldOut reports for each sample whether it is held out for the test: a tenth of each class, and at least
// one of a class whose samples differ. It depends on labels and hashes alone, not on order. Samples of a
// class that have one hash stay together.
func heldOut(labels []int32, hashes []uint64) []bool {
	return heldPart(labels, hashes, func(n int) int { return max(1, n/heldOutOf) })
}

// heldPart is heldOut of a class of n samples for room(n) of them.
func heldPart(labels []int32, hashes []uint64, room func(n int) int) []bool {
	held := make([]bool, len(labels))
	byHash := make([]int, len(labels))
	for i := range byHash {
		byHash[i] = i
	}
	slices.SortStableFunc(byHash, func(a, b int) int {
		return cmp.Or(cmp.Compare(labels[a], labels[b]), cmp.Compare(hashes[a], hashes[b]))
	})
	for len(byHash) > 0 {
		n := runLength(byHash, func(a, b int) bool { return labels[a] == labels[b] })
		var alike [][]int // the class by hash
		for class := byHash[:n]; len(class) > 0; {
			k := runLength(class, func(a, b int) bool { return hashes[a] == hashes[b] })
			alike, class = append(alike, class[:k]), class[k:]
		}
		for _, i := range chosen(alike, room(n)) {
			held[i] = true
		}
		byHash = byHash[n:]
	}
	return held
}

// runLength returns how many elements at the start of s are like the first.
func runLength(s []int, isLike func(a, b int) bool) int {
	n := 1
	for n < len(s) && isLike(s[0], s[n]) {
		n++
	}
	return n
}

// chosen returns the samples of the first groups that fit into so many, or of the smallest group if none
// does; none of a single group.
func chosen(groups [][]int, room int) (samples []int) {
	if len(groups) < 2 {
		return nil
	}
	for _, group := range groups {
		if len(samples)+len(group) <= room {
			samples = append(samples, group...)
		}
	}
	if samples == nil {
		return slices.MinFunc(groups, func(a, b []int) int { return len(a) - len(b) })
	}
	return samples
}

// split returns the samples of s that are not held and those that are; nil of the latter if there is none. It
// copies them.
func (s *Set) split(held []bool) (rest, taken *Set) {
	var numbers [2][]int32
	for i, isHeld := range held {
		to := &numbers[0]
		if isHeld {
			to = &numbers[1]
		}
		*to = append(*to, int32(i))
	}
	if numbers[1] == nil {
		return s, nil
	}
	return s.some(numbers[0]), s.some(numbers[1])
}

// said is s with what is said of these samples, and with all samples.
func (s *Set) said(numbers []int32) Set {
	to := *s
	to.Labels, to.Targets, to.Weights, to.rows = nil, nil, s.weightsOf(numbers), nil
	for _, i := range numbers {
		to.rows = append(to.rows, int32(s.Row(int(i))))
		if len(s.Labels) > 0 {
			to.Labels = append(to.Labels, s.Labels[i])
		}
		to.Targets = append(to.Targets, s.Targets[int(i)*s.NumTargets:][:s.NumTargets]...)
	}
	return to
}

// some is Pick for samples of either kind.
func (s *Set) some(numbers []int32) *Set {
	if s.Texts == nil {
		return s.Pick(numbers)
	}
	to := s.said(numbers)
	t := &Texts{Vocabulary: s.Texts.Vocabulary, Tokenizer: s.Texts.Tokenizer, stored: s.Texts.stored}
	end := 0
	for at, number := range numbers {
		i := int(number)
		if _, isCut := slices.BinarySearch(s.Texts.Cut, i); isCut {
			t.Cut = append(t.Cut, at)
		}
		if s.Texts.Splits != nil {
			t.Splits = append(t.Splits, s.Texts.Splits[i])
		}
		if t.stored != nil {
			t.starts = append(t.starts, s.Texts.place(i))
		} else {
			t.Tokens = append(t.Tokens, s.Texts.At(i)...)
		}
		end += s.Texts.Length(i)
		t.Ends = append(t.Ends, end)
	}
	to.Texts = t
	return &to
}
