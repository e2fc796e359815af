package wordpiece_test

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/data/wordpiece"
)

// The most frequent pairs become tokens, first by count, then by letters (worked by hand): of low x 3 and
// lower x 1, "l ##o" and "##o ##w" occur 4 times; "##o ##w" is first by its letters.
func TestWords(t *testing.T) {
	w := wordpiece.NewWords()
	w.Add("Low low LÓW, lower")
	tokenizer, err := w.Tokenizer(100)
	if err != nil {
		t.Fatal(err)
	}
	want := "[PAD] [UNK] [CLS] [SEP] [MASK] ##e ##o ##r ##w , l ##ow low"
	if got := strings.Join(strings.Fields(string(tokenizer.Text())), " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	ids, _ := tokenizer.Encode(nil, "lower low slow", 0)
	if got := fmt.Sprint(ids); got != "[2 12 5 7 12 1 3]" {
		t.Error(got)
	}
	if small, err := w.Tokenizer(11); err != nil || small.Len() != 11 || small.IsCased() {
		t.Errorf("%d tokens, %v", small.Len(), err)
	}
}

// A vocabulary depends on how often words occur, not on their order, and tells every word of its texts.
func TestWordsDependOnCountsAlone(t *testing.T) {
	text := "the cat sat on the mat, the rat sat on the cat: 13 rats & cats that chatted"
	words := strings.Fields(text)
	one, other := wordpiece.NewWords(), wordpiece.NewWords()
	one.Add(text)
	for i := range words {
		other.Add(words[len(words)-1-i])
	}
	a, err := one.Tokenizer(60)
	b, err2 := other.Tokenizer(60)
	if err != nil || err2 != nil || string(a.Text()) != string(b.Text()) {
		t.Fatalf("%v, %v\n%s\n%s", err, err2, a.Text(), b.Text())
	}
	unknown, _ := a.Number("[UNK]")
	ids, _ := a.Encode(nil, text, 0)
	for _, id := range ids {
		if id == int32(unknown) {
			t.Errorf("an unknown word in %v", ids)
		}
	}
}
