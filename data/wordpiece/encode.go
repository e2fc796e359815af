package wordpiece

import (
	"strings"
	"unicode/utf8"
)

// maxWord is the number of characters above which a word is unknown as a whole.
const maxWord = 100

// word collects the characters of one word. Characters beyond maxWord are only counted.
type word struct {
	bytes      [maxWord * utf8.UTFMax]byte
	size       int
	characters int
}

func (w *word) add(c byte) {
	if w.characters < maxWord {
		w.bytes[w.size] = c
		w.size++
	}
	w.characters++
}

func (w *word) addRune(c rune) {
	if w.characters < maxWord {
		w.size += utf8.EncodeRune(w.bytes[w.size:], c)
	}
	w.characters++
}

// Encode appends the numbers of [CLS], of text's tokens and of [SEP] to dst.
//
// If that makes more than limit numbers, it keeps the first limit-1 and [SEP], and isCut is true.
// Limit 0 means none; otherwise it must be at least 2. Bytes that are not UTF-8 are skipped. Cost:
// O(len(text)) map look-ups for words of usual length, at most O(100) per byte.
func (t *Tokenizer) Encode(dst []int32, text string, limit int) (ids []int32, isCut bool) {
	start := len(dst)
	dst = append(dst, t.first)
	var w word
	for len(text) > 0 {
		c := text[0]
		if c >= utf8.RuneSelf {
			c, size := utf8.DecodeRuneInString(text)
			text = text[size:]
			dst = t.character(dst, &w, c)
			continue
		}
		k, small := ascii(c)
		if k == isLetter {
			if !t.isCased {
				c = small
			}
			w.add(c)
			text = text[1:]
			continue
		}
		if c == '[' {
			if s := t.specialAt(text); s.name != "" {
				dst = append(t.flush(dst, &w), s.id)
				text = text[len(s.name):]
				continue
			}
		}
		text = text[1:]
		if k == isRemoved {
			continue
		}
		dst = t.flush(dst, &w)
		if k == isAlone {
			w.add(c)
			dst = t.flush(dst, &w)
		}
	}
	dst = t.flush(dst, &w)
	if limit > 0 && len(dst)-start > limit-1 {
		dst, isCut = dst[:start+limit-1], true
	}
	return append(dst, t.last), isCut
}

// EncodePair appends the numbers of [CLS], of first's tokens, of [SEP], of second's tokens and of [SEP] to
// dst. split is how many numbers stand before second's part.
//
// If that makes more than limit numbers, it drops tokens from the end of the longer text, or of both once
// they are equally long, as Hugging Face's tokenizers with the strategy longest_first; then isCut is true.
// Limit 0 means none; otherwise it must be at least 3.
func (t *Tokenizer) EncodePair(dst []int32, first, second string, limit int) (ids []int32, split int,
	isCut bool) {
	start := len(dst)
	dst, _ = t.Encode(dst, first, 0)
	middle := len(dst)
	dst, _ = t.Encode(dst, second, 0)
	a, b := middle-start-2, len(dst)-middle-2 // without [CLS] and [SEP]
	keptA, keptB := a, b
	if limit > 0 {
		keptA, keptB = longestFirst(a, b, limit-3)
	}
	split = keptA + 2
	dst[start+split-1] = t.last
	copy(dst[start+split:], dst[middle+1:middle+1+keptB])
	dst[start+split+keptB] = t.last
	return dst[:start+split+keptB+1], split, keptA < a || keptB < b
}

// longestFirst returns how many of a and of b tokens are kept so that they are at most limit in all. If both
// are cut, the longer one, or else the second, keeps the odd token.
func longestFirst(a, b, limit int) (keptA, keptB int) {
	switch half := limit / 2; {
	case a+b <= limit:
		return a, b
	case a <= half:
		return a, limit - a
	case b <= half:
		return limit - b, b
	case a > b:
		return limit - half, half
	default:
		return half, limit - half
	}
}

// specialAt returns the special token at the start of text, or one without a name.
func (t *Tokenizer) specialAt(text string) token {
	for _, s := range t.special {
		if strings.HasPrefix(text, s.name) {
			return s
		}
	}
	return token{}
}

// character adds a character that is not ASCII to the word, or ends the word with it.
func (t *Tokenizer) character(dst []int32, w *word, c rune) []int32 {
	switch {
	case isIn(removed, c) && !(t.isCased && isIn(accents, c)):
		return dst
	case isIn(spaces, c):
		return t.flush(dst, w)
	}
	isIdeograph := isIn(ideographs, c)
	if isIdeograph {
		dst = t.flush(dst, w)
	}
	var room [maxReplacement]byte
	for _, r := range string(t.replace(room[:0], c)) {
		isMark := isPunctuation(r)
		if isMark {
			dst = t.flush(dst, w)
		}
		w.addRune(r)
		if isMark {
			dst = t.flush(dst, w)
		}
	}
	if isIdeograph {
		dst = t.flush(dst, w)
	}
	return dst
}

// flush appends the pieces of the word, if there is one, and empties it.
func (t *Tokenizer) flush(dst []int32, w *word) []int32 {
	if w.characters == 0 {
		return dst
	}
	if t.counts != nil && w.characters <= maxWord {
		t.counts[string(w.bytes[:w.size])]++
	}
	if w.characters > maxWord {
		dst = append(dst, t.unknown)
	} else {
		dst = t.pieces(dst, w.bytes[:w.size])
	}
	w.size, w.characters = 0, 0
	return dst
}

// pieces appends the longest token at the start of w, then the longest one that continues it, and
// so on; or [UNK] if w cannot be split into tokens.
func (t *Tokenizer) pieces(dst []int32, w []byte) []int32 {
	start := len(dst)
	table, longest := t.words, t.longestWord
	for at := 0; at < len(w); {
		end := min(len(w), at+longest)
		for ; end > at; end-- {
			if end < len(w) && !utf8.RuneStart(w[end]) {
				continue
			}
			if id, ok := table[string(w[at:end])]; ok {
				dst = append(dst, id)
				break
			}
		}
		if end == at {
			return append(dst[:start], t.unknown)
		}
		at, table, longest = end, t.tails, t.longestTail
	}
	return dst
}
