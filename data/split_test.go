package data_test

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
)

// rows returns a file of texts, and the classes of its rows, with n classes in turns.
func rows(n, each int) []string {
	var all []string
	for i := range n * each {
		all = append(all, fmt.Sprintf("%s,class%d", strings.Repeat("a b ", i/n+1), i%n))
	}
	return all
}

func loadRows(t *testing.T, rows []string, change func(*data.Options)) data.Sets {
	t.Helper()
	folder, o := textFolder(t, map[string]string{"my.csv": "text,label\n" + strings.Join(rows, "\n") + "\n"})
	if change != nil {
		change(&o)
	}
	s, err := data.Catalog{}.Load(context.Background(), filepath.Join(folder, "my.csv"), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// With ten classes in turns every class is trained on and tested, whatever the order of the rows.
func TestHeldOutByClassInAnyOrder(t *testing.T) {
	s := loadRows(t, rows(10, 20), nil)
	if !s.IsHeldOut || slices.Min(s.Test.Counts()) != 2 || slices.Max(s.Test.Counts()) != 2 ||
		slices.Min(s.Train.Counts()) != 18 || s.Validation != nil {
		t.Errorf("tested %v, trained on %v", s.Test.Counts(), s.Train.Counts())
	}
	sorted := slices.Sorted(slices.Values(rows(10, 20)))
	was, is := slices.Sorted(slices.Values(texts(s.Test))), loadRows(t, sorted, nil)
	if now := slices.Sorted(slices.Values(texts(is.Test))); !slices.Equal(was, now) {
		t.Errorf("tested %v, in another order %v", was, now)
	}
	all := loadRows(t, rows(10, 20), func(o *data.Options) { o.EvalOnly = true })
	if all.Test.Len() != 200 || all.IsHeldOut {
		t.Errorf("%d texts scored, want 200", all.Test.Len())
	}
}

// A text that is there twice is not trained on and tested.
func TestAlikeSamplesAreHeldOutTogether(t *testing.T) {
	s := loadRows(t, append(append(rows(2, 20), rows(2, 20)...), rows(2, 20)...), nil)
	trained := texts(s.Train)
	for _, text := range texts(s.Test) {
		if slices.Contains(trained, text) {
			t.Errorf("%s is tested and trained on", text)
		}
	}
	if counts := s.Test.Counts(); counts[0] != 6 || counts[1] != 6 {
		t.Errorf("tested %v, want 6 of 60 each", counts)
	}
	if s := loadRows(t, []string{"a,x", "a,x", "b,y", "b,y"}, nil); s.Test != nil {
		t.Errorf("tested %v, but no class has two texts", s.Test.Counts())
	}
}

func TestPartsByTheirNames(t *testing.T) {
	const labelled = "text,label\na,x\nb,y\n"
	for _, c := range []struct {
		files, want string
	}{
		{"train val test", "2 validation 2 test 2"}, {"Training.csv dev Test", "2 validation 2 test 2"},
		{"train valid", "2 validation 2"}, {"train testing", "2 test 2"},
		{"train unlabelled", "2; left out: file test.csv without labels"},
		{"train val unlabelled", "2 validation 2; left out: file test.csv without labels"},
	} {
		files := map[string]string{}
		for name := range strings.FieldsSeq(c.files) {
			text := labelled
			if name == "unlabelled" {
				name, text = "test", "id,text\n1,a\n"
			}
			files["d/"+strings.TrimSuffix(name, ".csv")+".csv"] = text
		}
		folder, o := textFolder(t, files)
		s, err := data.Catalog{}.Load(context.Background(), filepath.Join(folder, "d"), o)
		if err != nil {
			t.Errorf("%s: %v", c.files, err)
			continue
		}
		got := fmt.Sprint(s.Train.Len())
		if s.Validation != nil {
			got += fmt.Sprint(" validation ", s.Validation.Len())
		}
		if s.Test != nil {
			got += fmt.Sprint(" test ", s.Test.Len())
		}
		if s.LeftOut != "" {
			got += "; left out: " + s.LeftOut
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.files, got, c.want)
		}
	}
	folder, o := textFolder(t, map[string]string{"d/train.csv": labelled, "d/val.csv": labelled,
		"d/dev.tsv": labelled})
	_, _, err := data.Load(context.Background(), filepath.Join(folder, "d"), o)
	wantFormatError(t, "two validation parts", err, "d", -1, "dev.tsv and val.csv are both the val part")
}

// What is no class or no image is left out and told, and what is below a class belongs to it.
func TestFoldersThatAreNoClasses(t *testing.T) {
	root := t.TempDir()
	shades(t, root, "a", "b")
	for name, text := range map[string]string{"__MACOSX/._00.png": "x", ".git/x.png": "x", "a/._00.png": "x",
		"a/x.gif": "x", "b/deep/y.gif": "x", "labels.csv": "x"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	writeImage(t, filepath.Join(root, "a", "__0.png"), plain(4, 4, color.White))
	writeImage(t, filepath.Join(root, "b", "deep", "deeper", "0.png"), plain(4, 4, color.White))
	s, err := data.Catalog{}.Load(context.Background(), root, data.Options{Side: 4})
	if err != nil {
		t.Fatal(err)
	}
	s.Train.Name = "pets"
	const want = "pets (training + held out for the test): 2 classes, a: 12 + 1, b: 12 + 1, together " +
		"24 + 2; left out: 5 files (2 .gif, 2 .txt, 1 .csv), folder __MACOSX"
	if s.String() != want {
		t.Errorf("%s, want %s", s, want)
	}
	if err := os.WriteFile(filepath.Join(root, "c"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "d", "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "d", "below", "0.gif"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err = data.Load(context.Background(), root, data.Options{})
	wantFormatError(t, "a class of .gif", err, "d", -1, "left out: 1 file (1 .gif)")
}

// train, val and test are parts; train alone is one too, and the test is held out of it.
func TestFoldersThatAreParts(t *testing.T) {
	root := t.TempDir()
	shades(t, filepath.Join(root, "train"), "a", "b")
	load := func() string {
		t.Helper()
		s, err := data.Catalog{}.Load(context.Background(), root, data.Options{Side: 4})
		if err != nil {
			t.Fatal(err)
		}
		text := s.String()
		return text[strings.Index(text, " ("):]
	}
	if got, want := load(), " (training + held out for the test): 2 classes, a: 11 + 1, b: 11 + 1, together "+
		"22 + 2; left out: 2 files (2 .txt)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := os.MkdirAll(filepath.Join(root, "val"), 0o755); err != nil {
		t.Fatal(err)
	}
	const flat = "; left out: 2 files (2 .txt), " +
		"folder val without folders of classes"
	if got := load(); !strings.HasSuffix(got, flat) {
		t.Errorf("%s, want %s", got, flat)
	}
	shades(t, filepath.Join(root, "val"), "a", "b")
	shades(t, filepath.Join(root, "test"), "a", "b")
	if err := os.RemoveAll(filepath.Join(root, "test", "a")); err != nil {
		t.Fatal(err)
	}
	if got, want := load(), " (training + validation + test): 2 classes, a: 12 + 12 + 0, b: 12 + 12 + 12, "+
		"together 24 + 24 + 12; left out: 5 files (5 .txt)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A label is what stands between spaces, and one class alone is nothing to learn.
func TestLabelsAreTrimmed(t *testing.T) {
	s := loadRows(t, []string{"a,x", "b,x ", "c,\ty", "a b,y"}, nil)
	if !slices.Equal(s.Train.Classes, []string{"x", "y"}) {
		t.Errorf("classes %q", s.Train.Classes)
	}
	folder, o := textFolder(t, map[string]string{"one.csv": "text,label\na,x\nb,x\n"})
	path := filepath.Join(folder, "one.csv")
	_, _, err := data.Load(context.Background(), path, o)
	wantFormatError(t, "one class", err, "one.csv", -1, `all samples are of one class, "x"`)
	o.EvalOnly = true
	if _, _, err := data.Load(context.Background(), path, o); err != nil {
		t.Errorf("scored: %v", err)
	}
}

// An evaluation has the classes of all parts, and needs none to train on; training does.
func TestScoredPartsHaveAllClasses(t *testing.T) {
	texts := func(files map[string]string) (string, data.Options) { return textFolder(t, files) }
	const ab, c = "text,label\nd,b\ne,a\n", "text,label\nf,c\n"
	images := func(paths ...string) (string, data.Options) {
		folder := t.TempDir()
		for _, path := range paths {
			writeImage(t, filepath.Join(folder, path, "1.png"), plain(4, 4, color.White))
		}
		return folder, data.Options{Side: 4}
	}
	for name, test := range map[string]struct {
		of      func() (string, data.Options)
		classes []string
		scored  int    // samples
		trained string // the fault
	}{
		"texts": {func() (string, data.Options) {
			return texts(map[string]string{"train.csv": ab, "test.csv": c})
		}, []string{"a", "b", "c"}, 1, `label "c", want one of a, b`},
		"texts to test alone": {func() (string, data.Options) {
			return texts(map[string]string{"test.csv": ab})
		}, []string{"a", "b"}, 2, "test.csv is there, and no part to train on"},
		"images": {func() (string, data.Options) {
			return images("train/a", "train/b", "val/c", "test/a", "test/d")
		}, []string{"a", "b", "c", "d"}, 2, `class "c" is not among the training classes a, b`},
		"images to test alone": {func() (string, data.Options) { return images("val/a", "test/b", "test/c") },
			[]string{"b", "c"}, 2, "test is there, and no part to train on"},
		"images without classes": {func() (string, data.Options) { return images("train", "test/b") },
			nil, 0, "train: 0 folders, want one for each class"},
	} {
		folder, o := test.of()
		if _, _, err := data.Load(context.Background(), folder, o); err == nil ||
			!strings.Contains(err.Error(), test.trained) {
			t.Errorf("%s: %v, want %s", name, err, test.trained)
		}
		o.EvalOnly = true
		_, s, err := data.Load(context.Background(), folder, o)
		if (err != nil) != (test.classes == nil) ||
			err == nil && (!slices.Equal(s.Classes, test.classes) || s.Len() != test.scored) {
			t.Errorf("%s, scored: %v, %v", name, s, err)
		}
	}
}

// The first record is a header if it has the usual names, even if columns are given by number.
func TestUsualNamesAreAHeader(t *testing.T) {
	folder, o := textFolder(t, map[string]string{"a.csv": "text,label\na,x\nb,y\n",
		"b.csv": "c,label\na,x\n"})
	o.TextColumn, o.LabelColumn, o.EvalOnly = "1", "2", true
	for name, want := range map[string]int{"a.csv": 2, "b.csv": 2} {
		_, s, err := data.Load(context.Background(), filepath.Join(folder, name), o)
		if err != nil || s.Len() != want {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

// A file of SST-2 without labels is that of the competition; then a tenth is held out, if there is something.
func TestSST2WithoutLabelsToTest(t *testing.T) {
	for train, want := range map[string]bool{"a\t0\nb\t0\nc\t1\nd\t1\n": true,
		"a\t0\na\t0\nc\t1\n": false} {
		folder, o := textFolder(t, map[string]string{"train.tsv": "sentence\tlabel\n" + train,
			"dev.tsv": "index\tsentence\n0\ta\n"})
		o.Dir = folder
		s, err := data.Catalog{}.Load(context.Background(), "sst2", o)
		if err != nil || (s.Test != nil) != want || s.Train.Classes[1] != "positive" {
			t.Errorf("%v: %v, %v", want, s, err)
		}
	}
}

// The line about a set has one length however many classes there are and whatever they are called.
func TestLineOfManyClasses(t *testing.T) {
	s := loadRows(t, rows(250, 2), nil)
	if text := s.String(); !strings.Contains(text, "250 classes, class0: 1 + 1, ") ||
		!strings.Contains(text, ", 230 more with 1 to 1 each, together 250 + 250") || len(text) > 700 {
		t.Errorf("%s", text)
	}
	odd := loadRows(t, []string{"a,\x1b[31m", "b," + strings.Repeat("z", 200)}, nil).String()
	if !strings.Contains(odd, `"\x1b[31m": 1, zzz`) || len(odd) > 400 {
		t.Errorf("%q", odd)
	}
}

// The published archives of MNIST, torchvision and Kaggle name its files in these ways.
func TestMNISTByItsNames(t *testing.T) {
	for name, rename := range map[string]func(string) string{
		"7-Zip":  func(s string) string { return "mnist/" + strings.Replace(s, "-idx", ".idx", 1) },
		"torch":  func(s string) string { return "MNIST/raw/" + s },
		"Kaggle": func(s string) string { return strings.TrimSuffix(s, ".gz") + "/" + s },
	} {
		from, to := t.TempDir(), t.TempDir()
		mnistFolder(t, from, 12)
		entries, err := os.ReadDir(from)
		for _, e := range entries {
			path := filepath.Join(to, rename(e.Name()))
			err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755),
				os.Rename(filepath.Join(from, e.Name()), path))
		}
		if err != nil {
			t.Fatal(err)
		}
		if train, _, err := data.Load(context.Background(), "mnist", data.Options{Dir: to}); err != nil ||
			train.Len() != 12 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// MATLAB writes HDF5 unless it is told otherwise, and Windows a byte order mark.
func TestFormatsOfOthers(t *testing.T) {
	for _, head := range []string{"MATLAB 7.3 MAT-file" + strings.Repeat(" ", 97) +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02IM", "\x89HDF\r\n\x1a\n" + strings.Repeat("\x00", 120)} {
		_, err := data.ReadMAT(strings.NewReader(head), "f.mat")
		wantFormatError(t, "MATLAB 7.3", err, "f.mat", 124, "which is HDF5")
	}
	marked, o := textFolder(t, map[string]string{"vocab.txt": "\ufeff[UNK]\r\n[CLS]\r\n[SEP]\r\na\r\n",
		"my.csv": "\ufefftext;label\r\na;x\r\nb;y\r\n"})
	if _, _, err := data.Load(context.Background(), filepath.Join(marked, "my.csv"), o); err != nil {
		t.Errorf("byte order marks: %v", err)
	}
}

func TestLimitOfSets(t *testing.T) {
	s := loadRows(t, rows(3, 30), nil).Limit(10, 2)
	if s.Train.Len() != 10 || s.Test.Len() != 2 || !strings.HasSuffix(s.String(), "together 10 + 2") {
		t.Errorf("%s", s)
	}
	if none := s.Limit(10, 0); none.Test != nil || none.Scored() != nil {
		t.Errorf("%s", none)
	}
}
