package data

import (
	"fmt"
	"slices"

	"lockstep/data/wordpiece"
)

// Texts holds the tokens of all texts of a set. Texts may differ in length; nothing is padded.
type Texts struct {
	// Tokens holds the texts, concatenated, each from [CLS] to [SEP].
	Tokens []int32
	// Ends[i] is the end of text i in Tokens and the start of text i+1.
	Ends []int
	// Splits[i] is the number of tokens of text i before its second part, if it is a pair of texts:
	// [CLS] first [SEP] second [SEP] with the split behind the first [SEP]. It is 0 for a single text;
	// nil if all are.
	Splits []int32
	// Cut lists the texts that were truncated to Options.MaxTokens, in order.
	Cut []int
	// Vocabulary is the size of the vocabulary.
	Vocabulary int
	// Tokenizer made the tokens; nil if they are random.
	Tokenizer *wordpiece.Tokenizer

	stored *tokenFile // has the tokens in place of Tokens, if it is not nil
	starts []int      // where each text is stored; nil: behind the one before it
}

// Len returns the number of texts.
func (t *Texts) Len() int { return len(t.Ends) }

// At returns the tokens of text i, if they are in memory. It must not be changed.
func (t *Texts) At(i int) []int32 { return t.Tokens[t.start(i):t.Ends[i]:t.Ends[i]] }

// Length returns the number of tokens of text i.
func (t *Texts) Length(i int) int { return t.Ends[i] - t.start(i) }

// read appends the tokens of text i to dst. It reads those that are stored through buffer, which grows.
func (t *Texts) read(dst []int32, i int, buffer []byte) ([]int32, []byte, error) {
	if t.stored == nil {
		return append(dst, t.At(i)...), buffer, nil
	}
	return t.stored.read(dst, t.place(i), t.Length(i), buffer)
}

// place returns where text i is stored.
func (t *Texts) place(i int) int {
	if t.starts != nil {
		return t.starts[i]
	}
	return t.start(i)
}

// Split returns the number of tokens of text i before its second part, 0 if it has none.
func (t *Texts) Split(i int) int32 {
	if t.Splits == nil {
		return 0
	}
	return t.Splits[i]
}

// Longest returns the number of tokens of the longest text; 0 if there are none. Cost: O(Len).
func (t *Texts) Longest() int {
	longest := 0
	for i := range t.Ends {
		longest = max(longest, t.Length(i))
	}
	return longest
}

func (t *Texts) start(i int) int {
	if i == 0 {
		return 0
	}
	return t.Ends[i-1]
}

// limit returns the first n texts, 0 <= n < Len.
func (t *Texts) limit(n int) *Texts {
	first := *t
	first.Ends = t.Ends[:n:n]
	if t.Splits != nil {
		first.Splits = t.Splits[:n:n]
	}
	cut, _ := slices.BinarySearch(t.Cut, n)
	first.Cut = t.Cut[:cut:cut]
	if t.starts != nil {
		first.starts = t.starts[:n:n]
	}
	if end := t.start(n); t.stored == nil {
		first.Tokens = t.Tokens[:end:end]
	}
	return &first
}

// checkTexts returns the first inconsistency between the fields of a set of texts.
func (s *Set) checkTexts() error {
	t := s.Texts
	if len(s.Shape) != 1 {
		return fmt.Errorf("data: set %s: text shape %v, want [T]", s.Name, s.Shape)
	}
	if len(t.Ends) != s.Len() {
		return fmt.Errorf("data: set %s: %d texts, %d labels", s.Name, len(t.Ends), s.Len())
	}
	if t.Splits != nil && len(t.Splits) != len(t.Ends) {
		return fmt.Errorf("data: set %s: %d splits, want one for each of %d texts",
			s.Name, len(t.Splits), len(t.Ends))
	}
	before, most := 0, len(t.Tokens)
	if t.stored != nil {
		most = t.stored.n
	}
	for i, end := range t.Ends {
		if end <= before || end > most || end-before > s.Shape[0] {
			return fmt.Errorf("data: set %s: text %d is tokens [%d, %d) of %d, want 1 to %d of them",
				s.Name, i, before, end, most, s.Shape[0])
		}
		if split := int(t.Split(i)); split < 0 || split >= end-before {
			return fmt.Errorf("data: set %s: text %d of %d tokens splits at %d", s.Name, i, end-before, split)
		}
		before = end
	}
	for i, token := range t.Tokens {
		if token < 0 || int(token) >= t.Vocabulary {
			return fmt.Errorf("data: set %s: token %d is %d, want 0 to %d",
				s.Name, i, token, t.Vocabulary-1)
		}
	}
	return nil
}
