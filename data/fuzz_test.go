package data_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
)

// Inputs of fuzzing are kept small: the parsers' states are reached with little, and what a fuzzer
// finds interesting it shortens byte by byte.
const maxFuzzBytes = 4 << 10

// wantFault fails unless err says what is wrong with the file.
func wantFault(t *testing.T, err error) {
	t.Helper()
	if format := (*data.FormatError)(nil); !errors.As(err, &format) || strings.TrimSpace(err.Error()) == "" {
		t.Fatalf("got %v, want a *data.FormatError", err)
	}
}

// stored returns text as a zlib stream of one block that is not compressed.
func stored(text []byte) []byte {
	z := []byte{0x78, 0x01, 0x01}
	z = binary.LittleEndian.AppendUint16(z, uint16(len(text)))
	z = binary.LittleEndian.AppendUint16(z, ^uint16(len(text)))
	return binary.BigEndian.AppendUint32(append(z, text...), adler32.Checksum(text))
}

// FuzzMAT reads a file, and the same file with all behind its header in a compressed element: an
// array in it must then be the same.
func FuzzMAT(f *testing.F) {
	x, y := array("X", []byte("abcdef"), 1, 2, 3, 1), array("y", []byte{1}, 1, 1)
	f.Add(matFile(x, y))
	f.Add(matFile(deflated(f, x), deflated(f, y)))
	f.Add(matFile(deflated(f, array("X", make([]byte, 3072), 32, 32, 3, 1)), y))
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > maxFuzzBytes {
			return
		}
		arrays, err := data.ReadMAT(bytes.NewReader(file), "f")
		if err != nil {
			wantFault(t, err)
		}
		if len(arrays) == 1 && err == nil && file[128] == 14 {
			packed := stored(file[128:])
			tag := binary.LittleEndian.AppendUint32([]byte{15, 0, 0, 0}, uint32(len(packed)))
			again, err := data.ReadMAT(bytes.NewReader(slices.Concat(file[:128], tag, packed)), "f")
			if err != nil || !slices.Equal(again, arrays) {
				t.Fatalf("packed: %q, %v, want %q", again, err, arrays)
			}
		}
		s, err := data.DecodeSVHN(bytes.NewReader(file), "f")
		if err != nil {
			wantFault(t, err)
			return
		}
		if len(s.Pixels) != 3072*len(s.Labels) || slices.Max(s.Labels) > 9 {
			t.Fatalf("%d pixels, labels %v", len(s.Pixels), s.Labels)
		}
	})
}

// tarOf returns an archive of files with the given contents.
func tarOf(t testing.TB, names []string, contents []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(contents))})
		if _, writeErr := w.Write(contents); err != nil || writeErr != nil {
			t.Fatal(err, writeErr)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FuzzArchive reads CIFAR-10 with files of one record each from an archive, which is zipped first if
// isPlain says so.
func FuzzArchive(f *testing.F) {
	names := []string{batch("test_batch.bin")}
	for _, digit := range "12345" {
		names = append(names, batch("data_batch_"+string(digit)+".bin"))
	}
	whole := tarOf(f, names, record(1, 0))
	f.Add(true, whole)
	f.Add(true, tarOf(f, []string{"x", names[0], names[0]}, record(1, 0)))
	f.Add(true, tarOf(f, names[:1], record(11, 0)))
	f.Add(true, tarOf(f, names[:1], []byte("short")))
	f.Add(false, []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"))
	zip := gzip.NewWriter(nil)
	f.Fuzz(func(t *testing.T, isPlain bool, file []byte) {
		if len(file) > 2*len(whole) {
			return
		}
		if isPlain {
			var b bytes.Buffer
			zip.Reset(&b)
			if _, err := zip.Write(file); err != nil {
				t.Fatal(err)
			}
			if err := zip.Close(); err != nil {
				t.Fatal(err)
			}
			file = b.Bytes()
		}
		train, test, err := data.ReadArchive(bytes.NewReader(file), "f", 1)
		if err != nil {
			wantFault(t, err)
			return
		}
		if train.Len() != 5 || test.Len() != 1 || len(train.Pixels) != 5*3072 || len(test.Pixels) != 3072 ||
			slices.Max(train.Labels) > 9 {
			t.Fatalf("%d and %d samples, labels %v", train.Len(), test.Len(), train.Labels)
		}
	})
}

func FuzzImage(f *testing.F) {
	img := plain(3, 2, color.NRGBA{1, 2, 3, 128})
	var asPNG, asJPEG bytes.Buffer
	if err := errors.Join(png.Encode(&asPNG, img), jpeg.Encode(&asJPEG, img, nil)); err != nil {
		f.Fatal(err)
	}
	f.Add(asPNG.Bytes())
	f.Add(asJPEG.Bytes())
	for _, name := range []string{"lossy.webp", "lossy-alpha.webp", "lossless.webp", "turned-5.webp"} {
		asWebP, err := os.ReadFile("testdata/images/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(asWebP)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		config, _, err := image.DecodeConfig(bytes.NewReader(file))
		if err == nil && config.Width*config.Height > 1<<16 {
			return // allowed, but slow
		}
		got, orientation, err := data.DecodeImage(bytes.NewReader(file), "f")
		if err != nil {
			wantFault(t, err)
			return
		}
		if size := got.Bounds().Size(); size != image.Pt(config.Width, config.Height) || orientation < 1 ||
			orientation > 8 {
			t.Fatalf("size %v, want %d, %d; orientation %d", size, config.Width, config.Height, orientation)
		}
	})
}

// FuzzTexts reads a file of texts with their classes.
func FuzzTexts(f *testing.F) {
	vocabulary := filepath.Join(f.TempDir(), "vocab.txt")
	if err := os.WriteFile(vocabulary, []byte("[UNK]\n[CLS]\n[SEP]\na\nb\n##b\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Add(true, []byte("text,label\na ab,0\nb,1\n"), "", "", "")
	f.Add(false, []byte("a\tno\nb\tyes\n"), "1", "", "2")
	f.Add(false, []byte("id\tsentence\tgold\n1\ta\t7\n"), "sentence", "", "gold")
	f.Add(true, []byte("a,b,a a,0\na b a b a,b b b,b,1\n"), "1", "2", "4")
	path := map[bool]string{true: "f.csv", false: "f.tsv"}
	for isCSV := range path {
		path[isCSV] = filepath.Join(f.TempDir(), path[isCSV])
	}
	f.Fuzz(func(t *testing.T, isCSV bool, file []byte, textColumn, pairColumn, labelColumn string) {
		if len(file) > maxFuzzBytes {
			return
		}
		if err := os.WriteFile(path[isCSV], file, 0o600); err != nil {
			t.Fatal(err)
		}
		train, test, err := data.Load(t.Context(), path[isCSV], data.Options{Vocabulary: vocabulary,
			MaxTokens: 8, TextColumn: textColumn, PairColumn: pairColumn, LabelColumn: labelColumn})
		if err != nil {
			wantFault(t, err)
			return
		}
		if train.Len() == 0 || train.Texts.Longest() > 8 || test != nil && test.Texts.Longest() > 8 {
			t.Fatalf("%d texts, the longest %d", train.Len(), train.Texts.Longest())
		}
		for i := range train.Len() {
			split, length := int(train.Texts.Split(i)), train.Texts.Length(i)
			if pairColumn != "" && (split < 2 || split >= length) || pairColumn == "" && split != 0 {
				t.Fatalf("text %d of %d tokens splits at %d", i, length, split)
			}
		}
	})
}

// FuzzTables reads a table with its classes, in memory and from a file, and then as new rows of its own
// weights.
func FuzzTables(f *testing.F) {
	f.Add(0, []byte("x,port,label\n1,S,a\n2,C,b\n,S,a\n4,?,b\n"))
	f.Add(1, []byte("x\tlabel\n1e3\ta\n-2\tb\n0x1p2\ta\n1_0\tb\n"))
	f.Add(2, []byte("{\"x\":1,\"label\":\"a\"}\n{\"label\":true,\"x\":null}\n{\"x\":[1],\"label\":2}\n"))
	f.Add(0, []byte("x;label\n1,5;a\n2;b\n"))
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, kind int, file []byte) {
		path := filepath.Join(folder, "f"+[]string{".csv", ".tsv", ".jsonl"}[uint(kind)%3])
		if len(file) > maxFuzzBytes {
			return
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		o := data.Options{LabelColumn: "label", Cache: folder}
		whole, err := data.Catalog{}.Load(t.Context(), path, o)
		if err != nil {
			wantFault(t, err)
			return
		}
		if whole.Train.Texts != nil {
			return
		}
		o.InMemory = 1
		stored, err := data.Catalog{}.Load(t.Context(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Table, o.EvalOnly = whole.Train.Table, true
		if _, err := (data.Catalog{}).Load(t.Context(), path, o); err != nil {
			t.Fatalf("with the table of its own: %v", err)
		}
		var one, other data.Shard
		n := whole.Train.Len()
		if err := errors.Join(whole.Train.Check(), stored.Train.Check(), whole.Train.Take(&one, 0, n),
			stored.Train.Take(&other, 0, n)); err != nil || !slices.Equal(one.Images, other.Images) {
			t.Fatalf("%v: %v in memory, %v from a file", err, one.Images, other.Images)
		}
	})
}

// FuzzTokenizerJSON wants a fault or a tokenizer that numbers its tokens from 0.
func FuzzTokenizerJSON(f *testing.F) {
	golden, err := os.ReadFile("testdata/tokenizer.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden, []byte(`{"do_lower_case":true}`))
	f.Add([]byte(`{"model":{"type":"BPE"}}`), []byte("{"))
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, file, config []byte) {
		path := filepath.Join(folder, "tokenizer.json")
		if err := errors.Join(os.WriteFile(path, file, 0o600),
			os.WriteFile(filepath.Join(folder, "tokenizer_config.json"), config, 0o600)); err != nil {
			t.Fatal(err)
		}
		tokenizer, err := data.ReadVocabulary(path)
		if err != nil {
			wantFault(t, err)
			return
		}
		if n := bytes.Count(tokenizer.Text(), []byte("\n")); n != tokenizer.Len() {
			t.Fatalf("%d tokens in %d lines", tokenizer.Len(), n)
		}
	})
}
