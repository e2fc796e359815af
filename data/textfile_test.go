package data_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
	"lockstep/tensor"
)

// textFolder returns a folder with a vocabulary and the given files.
func textFolder(t testing.TB, files map[string]string) (folder string, o data.Options) {
	t.Helper()
	folder = t.TempDir()
	o.Vocabulary = filepath.Join(folder, "vocab.txt")
	all := map[string]string{"vocab.txt": "[UNK]\n[CLS]\n[SEP]\na\nb\nc\n\"\n,\n##a\n"}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder, o
}

// texts returns the tokens and the class name of every sample.
func texts(s *data.Set) []string {
	var all []string
	for i, label := range s.Labels {
		all = append(all, fmt.Sprint(s.Texts.At(i), s.Classes[label]))
	}
	return all
}

func TestRecordsOfBothKinds(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"x.tsv", "a\tb\n", []string{"1: a|b"}},
		{"x.tsv", "\ufeffa\t\"b\"\r\n\r\n\n\"\t,", []string{`1: a|"b"`, `4: "|,`}},
		{"x.csv", "a,b\r\nc,\n", []string{"1: a|b", "2: c|"}},
		{"x.csv", "\"a,\"\"b\"\"\n\nc\",d\ne,\"\"\n", []string{"1: a,\"b\"\n\nc|d", "4: e|"}},
		{"x.CSV", `"a","b"`, []string{"1: a|b"}},
		{"x.csv", "\"a\r\nb\"\r\n\"c\"", []string{"1: a\nb", "3: c"}},
		{"x.csv", "a,b\rc,d\r", []string{"1: a|b", "2: c|d"}},
		{"x.csv", "a;b\n\"c;\";d,e\n", []string{"1: a|b", "2: c;|d,e"}},
		{"x.csv", "a;a\tb\n\"c\"\t;\n", []string{"1: a;a|b", "2: c|;"}},
		{"x.csv", "a;a,b\n", []string{"1: a;a|b"}},
		{"x.csv", "I came; I saw; I won,1\n", []string{"1: I came; I saw; I won|1"}},
		{"x.csv", "a; b; c\n1,5; ;-2,5\n", []string{"1: a| b| c", "2: 1.5| |-2.5"}},
		{"x.csv", ",\n", []string{"1: |"}},
		{"x.csv", "", nil},
	} {
		got, err := data.Records(strings.NewReader(c.text), c.name)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s %q: %q, %v; want %q", c.name, c.text, got, err, c.want)
		}
	}
}

func TestRecordsNameTheWrongLine(t *testing.T) {
	for _, c := range []struct {
		name, text, reason string
		line               int
	}{
		{"x.tsv", "a\tb\nc\n", "1 fields, want 2", 2},
		{"x.csv", "a,b\n\"c\nd\",e,f\n", "3 fields, want 2", 2},
		{"x.csv", "a\n\n\"b\nc\n", "quote that nothing closes", 3},
		{"x.csv", "a,b\nc,d\"\n", "quote inside a field", 2},
		{"x.csv", "a\n\"b\"c\n", "text behind a closing quote", 2},
		{"x.tsv", "a\n\xff\n", "not UTF-8; save the file as UTF-8", 2},
		{"x.csv", "\xff\xfea\x00,\x00b\x00\n\x00", "UTF-16 or binary, want UTF-8; save the file as UTF-8", 1},
		{"x.tsv", "a\x00\t\x00b\x00\n\x00", "UTF-16 or binary", 1},
		{"x.tsv", "a\n" + strings.Repeat("b", 2<<20), "record of more than 1048576 bytes", 2},
		{"x.csv", "a\n\"" + strings.Repeat("b\n", 1<<20), "record of more than 1048576 bytes", 2},
		{"x.tsv", strings.Repeat("\t", 5000), "5001 fields, want at most 1024", 1},
	} {
		_, err := data.Records(strings.NewReader(c.text), c.name)
		var format *data.FormatError
		if !errors.As(err, &format) || format.Line != c.line || !strings.Contains(err.Error(), c.reason) ||
			!strings.Contains(err.Error(), fmt.Sprintf("%s, line %d: ", c.name, c.line)) {
			t.Errorf("%s %.20q: %v, want %q in line %d", c.name, c.text, err, c.reason, c.line)
		}
	}
}

func TestLoadTextFile(t *testing.T) {
	const rows = "a,x,9\nb,y,10\n\"a,a\",x,9\nc,z,9\nd,x,10\n,x,9\na,x,9\na,x,9\na,x,9\nb b,x,10\nc,x,9\n"
	for _, c := range []struct {
		header, text, label string
	}{
		{"Sentence,other, Label\n", "", ""}, {"t,o,l\n", "t", "l"}, {"", "1", "3"}, {"t,o,l\n", "1", "l"},
	} {
		folder, o := textFolder(t, map[string]string{"my.csv": c.header + rows})
		o.TextColumn, o.LabelColumn, o.EvalOnly = c.text, c.label, true // nothing is held out
		train, test, err := data.Load(context.Background(), filepath.Join(folder, "my.csv"), o)
		if err != nil {
			t.Errorf("%q: %v", c.header, err)
			continue
		}
		if got, want := strings.Join(texts(train), " "), "[1 3 2]9 [1 4 2]10 [1 3 7 3 2]9 [1 5 2]9 "+
			"[1 0 2]10 [1 2]9 [1 3 2]9 [1 3 2]9 [1 3 2]9 [1 4 4 2]10 [1 5 2]9"; got != want || test != train {
			t.Errorf("%q: training texts %s, want %s", c.header, got, want)
		}
		if !slices.Equal(train.Classes, []string{"9", "10"}) || !slices.Equal(test.Classes, train.Classes) {
			t.Errorf("classes %v, %v; want 9, 10", train.Classes, test.Classes)
		}
	}
}

func TestLoadTextFolderCutsLongTexts(t *testing.T) {
	folder, o := textFolder(t, map[string]string{
		"train.tsv": "text\tlabel\na a a a\tpos\nb\tneg\naa\tneg\nb b b\tneg\n",
		"dev.tsv":   "label\ttext\nneg\tc c c\n"})
	o.MaxTokens = 4
	train, test, err := data.Load(context.Background(), folder, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(texts(train), texts(test)); got !=
		"[[1 3 3 2]pos [1 4 2]neg [1 3 8 2]neg [1 4 4 2]neg] [[1 5 5 2]neg]" {
		t.Errorf("texts %s", got)
	}
	if !train.Shape.Equal(tensor.Shape{4}) || !test.Shape.Equal(train.Shape) {
		t.Errorf("shapes %v, %v; want [4]", train.Shape, test.Shape)
	}
	if !slices.Equal(train.Texts.Cut, []int{0, 3}) || !slices.Equal(test.Texts.Cut, []int{0}) ||
		train.Classes[0] != "neg" {
		t.Errorf("%v and %v cut, classes %v; want 0 and 3, 0, neg first", train.Texts.Cut, test.Texts.Cut,
			train.Classes)
	}
	for n, want := range []int{0, 1, 1, 1} { // of the texts that are used
		if got := len(train.Limit(n).Texts.Cut); got != want {
			t.Errorf("%d of the first %d texts cut, want %d", got, n, want)
		}
	}
	first := train.Limit(2)
	if first.Len() != 2 || first.Texts.Len() != 2 || !slices.Equal(first.Texts.At(1), []int32{1, 4, 2}) {
		t.Errorf("first two: %v", texts(first))
	}
}

// A pair is [CLS] text [SEP] pair [SEP], whichever column comes first, and both texts are cut.
func TestLoadPairsOfTexts(t *testing.T) {
	const rows = "b c,x,a\n,x,a a a\nb b b b,x,a a a a a\nc,y,\n"
	for _, c := range []struct{ header, text, pair, label string }{
		{"two,label,sentence\n", "", "two", ""}, {"", "3", "1", "2"}, {"o,t,h\n", "3", "o", "2"},
	} {
		folder, o := textFolder(t, map[string]string{"my.csv": c.header + rows})
		o.TextColumn, o.PairColumn, o.LabelColumn, o.MaxTokens = c.text, c.pair, c.label, 8
		o.EvalOnly = true // nothing is held out
		train, _, err := data.Load(context.Background(), filepath.Join(folder, "my.csv"), o)
		if err != nil {
			t.Errorf("%q: %v", c.header, err)
			continue
		}
		if got, want := strings.Join(texts(train), " "),
			"[1 3 2 4 5 2]x [1 3 3 3 2 2]x [1 3 3 3 2 4 4 2]x [1 2 5 2]y"; got != want {
			t.Errorf("%q: pairs %s, want %s", c.header, got, want)
		}
		if want := []int32{3, 5, 5, 2}; !slices.Equal(train.Texts.Splits, want) ||
			!slices.Equal(train.Texts.Cut, []int{2}) {
			t.Errorf("%q: splits %v, cut %v, want %v, 2", c.header, train.Texts.Splits, train.Texts.Cut, want)
		}
		if first := train.Limit(2).Texts.Splits; !slices.Equal(first, []int32{3, 5}) {
			t.Errorf("splits of the first two: %v", first)
		}
	}
}

func TestTextFilesNameTheirFault(t *testing.T) {
	many := "text\tlabel\n"
	for i := range 1025 {
		many += fmt.Sprintf("a\t%d\n", i)
	}
	folder, o := textFolder(t, map[string]string{
		"new/train.tsv": "text\tlabel\na\tx\n", "new/test.tsv": "text\tlabel\na\tx\nb\ty\n",
		"empty.csv": "", "header.csv": "text,label\n", "names.csv": "comment,stars\na,1\n", "many.tsv": many,
		"same.csv":  "text,Text,label\na,b,1\n",
		"blank.tsv": "text\tlabel\na\t\n", "sst/train.tsv": "label\tsentence\n0\ta\n1\tb\n",
		"sst/dev.tsv": "label\tcontent\n0\ta\n2\tb\n", "one.tsv": "label\na\n", "my.txt": "a",
		"twins/vocab.txt": "[UNK]\na\na\n", "twins.csv": "text,label\n",
	})
	for _, c := range []struct {
		name, file, reason string
		line               int
		change             func(o *data.Options)
	}{
		{"new", "new/test.tsv", `label "y", want one of x`, 3, nil},
		{"empty.csv", "empty.csv", "byte 0: empty", 0, nil},
		{"header.csv", "header.csv", "no record", 0, nil},
		{"names.csv", "names.csv", `or content or review in the header "comment | stars"`, 1, nil},
		{"names.csv", "names.csv", "--label-column is 3", 1,
			func(o *data.Options) { o.TextColumn, o.LabelColumn = "1", "3" }},
		{"one.tsv", "one.tsv", "column 1 is both text and label", 1,
			func(o *data.Options) { o.TextColumn = "label" }},
		{"names.csv", "names.csv", "column 1 is both texts of a pair", 1,
			func(o *data.Options) { o.TextColumn, o.PairColumn, o.LabelColumn = "1", "comment", "2" }},
		{"names.csv", "names.csv", "column 2 is both text and label", 1,
			func(o *data.Options) { o.TextColumn, o.PairColumn, o.LabelColumn = "1", "stars", "2" }},
		{"names.csv", "names.csv", "no column b in the header", 1,
			func(o *data.Options) { o.TextColumn, o.PairColumn = "1", "b" }},
		{"same.csv", "same.csv", "several columns are called text; give one's number", 1, nil},
		{"many.tsv", "many.tsv", `label "1024" is one more than the 1024`, 1026, nil},
		{"blank.tsv", "blank.tsv", "no label", 2, nil},
		{"sst2", "sst/dev.tsv", `label "2", want one of 0, 1`, 3,
			func(o *data.Options) { o.Dir = filepath.Join(folder, "sst") }},
		{"twins.csv", "twins/vocab.txt", `"a" again, after line 2`, 3,
			func(o *data.Options) { o.Vocabulary = filepath.Join(folder, "twins/vocab.txt") }},
		{"./my.txt", "my.txt", "neither a folder nor a file of texts", 0, nil},
	} {
		options, name := o, c.name
		if c.change != nil {
			c.change(&options)
		}
		if name != "sst2" {
			name = filepath.Join(folder, name)
		}
		_, _, err := data.Load(context.Background(), name, options)
		wantFormatError(t, c.name, err, c.file, -1, c.reason)
		var format *data.FormatError
		if errors.As(err, &format) && format.Line != c.line {
			t.Errorf("%s: line %d, want %d", c.name, format.Line, c.line)
		}
	}
	var read *data.ReadError
	if _, _, err := data.Load(context.Background(), "nowhere/x.csv", o); !errors.As(err, &read) {
		t.Errorf("a file that is not there: %v, want a ReadError", err)
	}
	var missing *data.MissingError
	o.Vocabulary, o.Shared, o.EvalOnly = "", folder, true
	_, _, err := data.Load(context.Background(), filepath.Join(folder, "many.tsv"), o)
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "bert-base-uncased/vocab.txt") {
		t.Errorf("no vocabulary: %v, want a MissingError", err)
	}
}

// A file that is there is one's own data, whatever its name; so is a name with the ending of texts.
func TestPathsAreWhatIsThere(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"reviews.jsonl", "mnist"} {
		if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sets := data.Catalog{}
	for name, want := range map[string]bool{"reviews.jsonl": true, "none.csv": true, "./none": true,
		"mnist": false, "none": false} {
		if got := sets.IsPath(name); got != want {
			t.Errorf("IsPath(%q) = %v, want %v", name, got, want)
		}
	}
	if kind := sets.KindOf("none.csv", data.Options{}); kind != data.AnyKind {
		t.Errorf("the kind of a file that is not there: %v, want that of data not yet read", kind)
	}
}

func TestRealSST2(t *testing.T) {
	train, test := loadReal(t, "sst2")
	if train.Len() != 67_349 || test.Len() != 872 || len(train.Texts.Cut) != 0 ||
		train.Texts.Vocabulary != 30_522 {
		t.Errorf("%d + %d sentences, %d cut, %d tokens known", train.Len(), test.Len(), train.Texts.Cut,
			train.Texts.Vocabulary)
	}
	if n := labelCounts(train); n[0] != 29_780 || n[1] != 37_569 {
		t.Errorf("training labels %v", n)
	}
	if n := labelCounts(test); n[0] != 428 || n[1] != 444 {
		t.Errorf("test labels %v", n)
	}
	// "hide new secretions from the parental units", by the reference.
	want := []int32{101, 5342, 2047, 3595, 8496, 2013, 1996, 18643, 3197, 102}
	if got := train.Texts.At(0); !slices.Equal(got, want) || train.Labels[0] != 0 {
		t.Errorf("first text %v, label %d; want %v, 0", got, train.Labels[0], want)
	}
}

func FuzzRecords(f *testing.F) {
	f.Add(true, []byte("a,\"b\"\"\n\",c\r\n1,2,3\n"))
	f.Add(false, []byte("\ufefflabel\tsentence\n0\t\"a\n"))
	f.Fuzz(func(t *testing.T, isCSV bool, file []byte) {
		name := "f.tsv"
		if isCSV {
			name = "f.csv"
		}
		lines := bytes.Count(file, []byte{'\n'}) + bytes.Count(file, []byte{'\r'}) + 1
		records, err := data.Records(bytes.NewReader(file), name)
		var format *data.FormatError
		if err != nil && (!errors.As(err, &format) || format.Line < 1 ||
			format.Line > lines) {
			t.Fatalf("%q: %v", file, err)
		}
		if len(records) > lines {
			t.Fatalf("%d records of %q", len(records), file)
		}
	})
}
