package wordpiece

import (
	"slices"
	"unicode/utf8"
)

// kind says how a character affects the words around it.
type kind uint8

const (
	isLetter kind = iota // part of a word; every other character
	isRemoved
	isSpace
	isAlone // a word by itself
)

// span is the characters from lo to hi, both included.
type span struct{ lo, hi rune }

// change replaces a character by its lower-case form without accents.
type change struct {
	from rune
	to   string
}

// ascii returns the kind of a character below utf8.RuneSelf and its lower-case form.
func ascii(c byte) (kind, byte) {
	switch {
	case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		return isLetter, c
	case 'A' <= c && c <= 'Z':
		return isLetter, c + ('a' - 'A')
	case c == ' ', c == '\t', c == '\n', c == '\r':
		return isSpace, ' '
	case c < ' ', c == 0x7F:
		return isRemoved, c
	}
	return isAlone, c
}

// isPunctuation reports whether a character that remains after replacement is a punctuation mark.
func isPunctuation(c rune) bool {
	if c < utf8.RuneSelf {
		k, _ := ascii(byte(c))
		return k == isAlone
	}
	return isIn(punctuation, c)
}

// isIn reports whether one of the sorted spans holds c. Cost: O(log len(spans)).
func isIn(spans []span, c rune) bool {
	i, found := slices.BinarySearchFunc(spans, c, func(s span, c rune) int { return int(s.lo - c) })
	return found || i > 0 && c <= spans[i-1].hi
}

// Hangul syllables are decomposed into two or three letters by arithmetic (Unicode, section 3.12).
const (
	hangulFirst, hangulLast             = 0xAC00, 0xD7A3
	leadFirst, vowelFirst, trailingBase = 0x1100, 0x1161, 0x11A7
	numVowels, numTrailing              = 21, 28
)

// maxReplacement bounds the replacement of one character: at most four characters of four bytes.
const maxReplacement = 16

// replace appends the replacement of a character that is not ASCII, not removed and not a space.
func (t *Tokenizer) replace(dst []byte, c rune) []byte {
	if t.isCased {
		return utf8.AppendRune(dst, c)
	}
	if hangulFirst <= c && c <= hangulLast {
		s := c - hangulFirst
		dst = utf8.AppendRune(dst, leadFirst+s/(numVowels*numTrailing))
		dst = utf8.AppendRune(dst, vowelFirst+s/numTrailing%numVowels)
		if trailing := s % numTrailing; trailing > 0 {
			dst = utf8.AppendRune(dst, trailingBase+trailing)
		}
		return dst
	}
	i, found := slices.BinarySearchFunc(changes, c, func(e change, c rune) int { return int(e.from - c) })
	if found {
		return append(dst, changes[i].to...)
	}
	return utf8.AppendRune(dst, c)
}
