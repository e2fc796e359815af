package wordpiece

import "unicode/utf8"

// Letters returns a tokenizer that knows every character: the number of one that starts a word is
// its code point, that of one that continues a word is Tail more.
func Letters() *Tokenizer {
	t := &Tokenizer{words: map[string]int32{}, tails: map[string]int32{}, unknown: -1,
		longestWord: utf8.UTFMax, longestTail: utf8.UTFMax}
	for c := range rune(utf8.MaxRune + 1) {
		if utf8.ValidRune(c) {
			t.words[string(c)], t.tails[string(c)] = c, c+Tail
		}
	}
	return t
}

// Tail is the distance between a character's two numbers.
const Tail = utf8.MaxRune + 1
