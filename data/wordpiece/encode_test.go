package wordpiece_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"lockstep/data/wordpiece"
)

// sample is a line of testdata/golden.jsonl.
type sample struct {
	Text string
	IDs  []int32 // by the full vocabulary
	Few  []int32 // by testdata/vocab.txt
}

// golden returns what the reference made of 1,000 sentences of SST-2 and of odd strings.
func golden(t testing.TB) []sample {
	t.Helper()
	file, err := os.Open("testdata/golden.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var samples []sample
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		samples = append(samples, s)
	}
	if len(samples) < 1200 {
		t.Fatalf("%d golden texts, want at least 1200", len(samples))
	}
	return samples
}

func open(t testing.TB, path string) *wordpiece.Tokenizer {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tokenizer, err := wordpiece.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

// openFull opens BERT's vocabulary from LOCKSTEP_DATA or ../../../shared/data, or skips the test.
func openFull(t testing.TB) *wordpiece.Tokenizer {
	t.Helper()
	dir := os.Getenv("LOCKSTEP_DATA")
	if dir == "" {
		dir = "../../../shared/data"
	}
	path := filepath.Join(dir, "bert-base-uncased", "vocab.txt")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs BERT's vocabulary: %v", err)
	}
	return open(t, path)
}

func TestEncodesAsTheReferenceWithFewTokens(t *testing.T) {
	tokenizer := open(t, "testdata/vocab.txt")
	for _, s := range golden(t) {
		if got, _ := tokenizer.Encode(nil, s.Text, 0); !slices.Equal(got, s.Few) {
			t.Errorf("%q: %v, want %v", s.Text, got, s.Few)
		}
	}
}

func TestEncodesAsTheReferenceWithAllTokens(t *testing.T) {
	tokenizer := openFull(t)
	for _, s := range golden(t) {
		if got, _ := tokenizer.Encode(nil, s.Text, 0); !slices.Equal(got, s.IDs) {
			t.Errorf("%q: %v, want %v", s.Text, got, s.IDs)
		}
	}
}

// Pairs of texts have the tokens, the kinds of tokens and the length of the reference's longest_first.
func TestEncodesPairsAsTheReference(t *testing.T) {
	tokenizer := open(t, "testdata/vocab.txt")
	file, err := os.Open("testdata/pairs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	n := 0
	for lines := bufio.NewScanner(file); lines.Scan(); n++ {
		var want struct {
			Limit, First, Second int
			IDs, Types           []int32
		}
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		ids, split, isCut := tokenizer.EncodePair([]int32{7}, strings.Repeat("the ", want.First),
			strings.Repeat("of ", want.Second), want.Limit)
		if !slices.Equal(ids[1:], want.IDs) || split != slices.Index(want.Types, 1) ||
			isCut != (len(want.IDs) < want.First+want.Second+3) {
			t.Errorf("%s: %v, split at %d, cut %v", lines.Text(), ids, split, isCut)
		}
	}
	if n < 300 {
		t.Errorf("%d golden pairs, want at least 300", n)
	}
}

// Every character there is, between two letters, falls into the words that the reference makes, with
// small letters alone and with capitals.
func TestEveryCharacterAsTheReference(t *testing.T) {
	tokenizer := wordpiece.Letters()
	for file, isCased := range map[string]bool{"characters.sha256": false, "cased.sha256": true} {
		want, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		tokenizer.SetCased(isCased)
		if got := everyCharacter(tokenizer); got != string(want) {
			t.Errorf("%s: hash %s, want %s", file, got, want)
		}
	}
}

// everyCharacter returns the hash of the words that a tokenizer makes of each character.
func everyCharacter(tokenizer *wordpiece.Tokenizer) string {
	digest := sha256.New()
	var ids []int32
	var line []byte
	for c := range rune(utf8.MaxRune + 1) {
		if !utf8.ValidRune(c) {
			continue
		}
		ids, _ = tokenizer.Encode(ids[:0], "x"+string(c)+"y", 0)
		line = line[:0]
		for i, id := range ids[1 : len(ids)-1] {
			switch {
			case id >= wordpiece.Tail:
				id -= wordpiece.Tail
			case i > 0:
				line = append(line, 0)
			}
			line = utf8.AppendRune(line, id)
		}
		digest.Write(append(line, '\n'))
	}
	return fmt.Sprintf("%x\n", digest.Sum(nil))
}

// A vocabulary with capitals tells apart what another takes for the same, and is written as it was read.
func TestVocabularyWithCapitals(t *testing.T) {
	const lines = "[UNK]\n[CLS]\n[SEP]\nParis\nparis\n##s\n\u00e9t\u00e9\n"
	tokenizer, err := wordpiece.Read(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := tokenizer.Encode(nil, "Paris paris Pariss \u00e9t\u00e9 PARIS", 0)
	if want := []int32{1, 3, 4, 3, 5, 6, 0, 2}; !tokenizer.IsCased() || !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	tokenizer.SetCased(false)
	got, _ = tokenizer.Encode(nil, "Paris", 0)
	if want := []int32{1, 4, 2}; !slices.Equal(got, want) || string(tokenizer.Text()) != lines {
		t.Errorf("%v, want %v; %q", got, want, tokenizer.Text())
	}
	if open(t, "testdata/vocab.txt").IsCased() {
		t.Error("the uncased vocabulary counts as cased")
	}
	real, err := wordpiece.Read(strings.NewReader("[UNK]\n[CLS]\n[SEP]\n\u211d\n##\u211d\n"))
	if err != nil || real.IsCased() {
		t.Errorf("a vocabulary with a sign that has no small letter: cased, error %v", err)
	}
}

func TestEncodeCutsAtTheLimit(t *testing.T) {
	tokenizer := open(t, "testdata/vocab.txt")
	full, isCut := tokenizer.Encode(nil, "the quick brown fox", 0)
	if isCut || len(full) != 6 {
		t.Fatalf("%v, cut %v; want 6 tokens", full, isCut)
	}
	for limit := 2; limit <= 8; limit++ {
		got, isCut := tokenizer.Encode([]int32{-7}, "the quick brown fox", limit)
		want := full
		if limit < len(full) {
			want = append(slices.Clone(full[:limit-1]), full[5])
		}
		if got[0] != -7 || !slices.Equal(got[1:], want) || isCut != (limit < len(full)) {
			t.Errorf("limit %d: %v, cut %v; want -7 and %v", limit, got, isCut, want)
		}
	}
}

func TestBytesThatAreNotUTF8AreLeftOut(t *testing.T) {
	tokenizer := open(t, "testdata/vocab.txt")
	want, _ := tokenizer.Encode(nil, "the fox", 0)
	if got, _ := tokenizer.Encode(nil, "th\xffe\xc3 \xed\xa0\x80fox\xf0\x9f", 0); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestEncodeAllocatesNothing(t *testing.T) {
	tokenizer := open(t, "testdata/vocab.txt")
	samples, ids := golden(t), make([]int32, 0, 4096)
	n := testing.AllocsPerRun(2, func() {
		for _, s := range samples {
			tokenizer.Encode(ids, s.Text, 0)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestReadNamesTheWrongLine(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		line             int
	}{
		{"empty", "", "0 tokens without [UNK]", 0},
		{"lacks", "[UNK]\n[CLS]\nthe\n", "3 tokens without [SEP]", 0},
		{"blank", "[UNK]\n\nthe\n", "line 2: empty", 2},
		{"twice", "[UNK]\nthe\nof\nthe\n", `line 4: "the" again, after line 2`, 4},
		{"tail twice", "##s\n[UNK]\n##s\n", `line 3: "##s" again, after line 1`, 3},
		{"bytes", "[UNK]\n\xff\xfe\n", "line 2: not UTF-8", 2},
		{"long", "[UNK]\n" + strings.Repeat("a", 5000), "line 2: longer than", 2},
	} {
		_, err := wordpiece.Read(strings.NewReader(c.text))
		line, ok := err.(*wordpiece.LineError)
		if !ok || line.Line != c.line || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A word and its continuation are different tokens; line ends of either kind are none of theirs.
func TestReadNumbersLines(t *testing.T) {
	tokenizer, err := wordpiece.Read(strings.NewReader("[CLS]\r\n[SEP]\r\n[UNK]\r\ns\r\n##s\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := tokenizer.Encode(nil, "sss sx [SEP]", 0)
	if want := []int32{0, 3, 4, 4, 2, 1, 1}; !slices.Equal(got, want) || tokenizer.Len() != 5 {
		t.Errorf("%v of %d tokens, want %v of 5", got, tokenizer.Len(), want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("[UNK]\n[CLS]\n[SEP]\na\n##b\n"), "ab a [SEP] \u00e9")
	f.Fuzz(func(t *testing.T, vocabulary []byte, text string) {
		tokenizer, err := wordpiece.Read(strings.NewReader(string(vocabulary)))
		if err != nil {
			if _, ok := err.(*wordpiece.LineError); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		ids, _ := tokenizer.Encode(nil, text, 0)
		if len(ids) < 2 || len(ids) > len(text)*3+2 {
			t.Fatalf("%d tokens for %d bytes", len(ids), len(text))
		}
		for _, id := range ids {
			if id < 0 || int(id) >= tokenizer.Len() {
				t.Fatalf("token %d of %d", id, tokenizer.Len())
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	tokenizer, samples := openFull(b), golden(b)[:1000]
	ids, tokens, size := make([]int32, 0, 4096), 0, 0
	for _, s := range samples {
		got, _ := tokenizer.Encode(ids, s.Text, 0)
		if !slices.Equal(got, s.IDs) {
			b.Fatalf("%q: %v, want %v", s.Text, got, s.IDs)
		}
		tokens, size = tokens+len(got), size+len(s.Text)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range samples {
			tokenizer.Encode(ids, s.Text, 0)
		}
	}
	b.ReportMetric(float64(tokens*b.N)/b.Elapsed().Seconds(), "tokens/s")
}

func ExampleTokenizer_Encode() {
	tokenizer, err := wordpiece.Read(strings.NewReader("[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\n!\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	ids, isCut := tokenizer.Encode(nil, "Unaffable! \u4e2d", 0)
	fmt.Println(ids, isCut)
	// Output: [1 3 4 5 6 0 2] false
}
