package data_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
)

// idx returns an IDX file with this header and these elements.
func idx(magic uint32, axes []uint32, elements []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, magic)
	for _, n := range axes {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return append(b, elements...)
}

func TestReadIDX(t *testing.T) {
	file := idx(0x803, []uint32{2, 2, 3}, []byte("abcdefghijkl"))
	elements, n, err := data.ReadIDX(bytes.NewReader(file), "f", []int{2, 3}, 10)
	if err != nil || n != 2 || string(elements) != "abcdefghijkl" {
		t.Errorf("%q, %d, %v", elements, n, err)
	}
}

func TestReadIDXNamesTheWrongByte(t *testing.T) {
	for _, c := range []struct {
		name   string
		file   []byte
		offset int64
		reason string
	}{
		{"empty", nil, 0, "empty"},
		{"short header", idx(0x802, nil, []byte{0}), 5, "header incomplete"},
		{"images for labels", idx(0x803, []uint32{1, 2}, nil), 0, "magic number 0x00000803"},
		{"floats", idx(0xd02, []uint32{1, 2}, nil), 0, "want 0x00000802"},
		{"none", idx(0x802, []uint32{0, 2}, nil), 4, "0 items, want 1 to 10"},
		{"too many", idx(0x802, []uint32{0xffffffff, 2}, nil), 4, "4294967295 items"},
		{"axis", idx(0x802, []uint32{1, 3}, []byte("abc")), 8, "axis of length 3, want 2"},
		{"cut", idx(0x802, []uint32{3, 2}, []byte("abcde")), 17, "ends after 5 of 6 elements"},
		{"long", idx(0x802, []uint32{1, 2}, []byte("abc")), 14, "more bytes"},
	} {
		_, _, err := data.ReadIDX(bytes.NewReader(c.file), "t.idx", []int{2}, 10)
		wantFormatError(t, c.name, err, "t.idx", c.offset, c.reason)
	}
}

// A header that claims a gigabyte must not cost one.
func TestReadIDXTakesMemoryForWhatIsThere(t *testing.T) {
	file := idx(0x803, []uint32{1 << 20, 32, 32}, []byte("abc"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := data.ReadIDX(bytes.NewReader(file), "f", []int{32, 32}, 1<<20); err == nil {
		t.Fatal("no error")
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("took %d bytes for a file of %d", took, len(file))
	}
}

// mnistFolder writes a small data set: n training images, one test image.
func mnistFolder(t *testing.T, dir string, n int) {
	t.Helper()
	images := make([]byte, n*784)
	for i := range images {
		images[i] = byte(1 + i%255)
	}
	labels := make([]byte, n)
	for i := range labels {
		labels[i] = byte(i % 10)
	}
	size := uint32(n)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, contents := range map[string][]byte{
		"train-images-idx3-ubyte":    idx(0x803, []uint32{size, 28, 28}, images),
		"train-labels-idx1-ubyte.gz": zipped(t, idx(0x801, []uint32{size}, labels)),
		"t10k-images-idx3-ubyte.gz":  zipped(t, idx(0x803, []uint32{1, 28, 28}, images[:784])),
		"t10k-labels-idx1-ubyte":     idx(0x801, []uint32{1}, labels[:1]),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), contents, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMNISTPlainAndZippedWithMargin(t *testing.T) {
	for _, sub := range []string{"", "mnist"} {
		dir := t.TempDir()
		mnistFolder(t, filepath.Join(dir, sub), 12)
		train, test, err := data.Load(context.Background(), "mnist", data.Options{Shared: dir})
		if err != nil {
			t.Fatal(err)
		}
		if train.Len() != 12 || test.Len() != 1 || !slices.Equal(train.Shape, []int{32, 32, 1}) {
			t.Fatalf("%d + %d images %v", train.Len(), test.Len(), train.Shape)
		}
		for i, p := range train.Pixels[:1024] {
			y, x, want := i/32-2, i%32-2, byte(0)
			if y >= 0 && y < 28 && x >= 0 && x < 28 {
				want = byte(1 + (y*28+x)%255)
			}
			if p != want {
				t.Fatalf("pixel %d is %d, want %d", i, p, want)
			}
		}
	}
}

func TestMNISTFilesMustAgree(t *testing.T) {
	for name, c := range map[string]struct {
		file, reason string
		contents     []byte
		offset       int64
	}{
		"count": {"train-labels-idx1-ubyte", "11 labels for 12 images",
			idx(0x801, []uint32{11}, make([]byte, 11)), 4},
		"label": {"train-labels-idx1-ubyte", "label 10, want 0 to 9",
			idx(0x801, []uint32{12}, append(make([]byte, 11), 10)), 19},
		"gzip": {"train-images-idx3-ubyte.gz", "not a gzip file", []byte("plain text here"), 0},
	} {
		dir := t.TempDir()
		mnistFolder(t, dir, 12)
		for _, old := range []string{"", ".gz"} {
			os.Remove(filepath.Join(dir, strings.TrimSuffix(c.file, ".gz")+old))
		}
		if err := os.WriteFile(filepath.Join(dir, c.file), c.contents, 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := data.Load(context.Background(), "mnist", data.Options{Dir: dir})
		wantFormatError(t, name, err, c.file, c.offset, c.reason)
	}
}

func TestBoundedReaderFails(t *testing.T) {
	n, err := io.Copy(io.Discard, data.Bounded(strings.NewReader("0123456789"), 4))
	if n != 4 || err == nil || !strings.Contains(err.Error(), "more than 4 bytes") {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func FuzzIDX(f *testing.F) {
	f.Add(idx(0x802, []uint32{1, 2}, []byte("ab")))
	f.Add(idx(0x802, []uint32{9, 2}, []byte("ab")))
	f.Fuzz(func(t *testing.T, file []byte) {
		elements, n, err := data.ReadIDX(bytes.NewReader(file), "f", []int{2}, 1<<20)
		var format *data.FormatError
		switch {
		case err == nil && (len(elements) != 2*n || len(file) != 12+2*n):
			t.Fatalf("%d bytes read as %d items, %d elements", len(file), n, len(elements))
		case err != nil && (!errors.As(err, &format) || format.Offset > int64(len(file))):
			t.Fatalf("%d bytes: %v", len(file), err)
		}
	})
}
