package data_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lockstep/data"
)

// element returns a data element of a MATLAB file with its padding.
func element(kind uint32, contents []byte) []byte {
	e := binary.LittleEndian.AppendUint32(nil, kind)
	e = binary.LittleEndian.AppendUint32(e, uint32(len(contents)))
	return append(append(e, contents...), make([]byte, -len(contents)&7)...)
}

// array returns an array of unsigned bytes.
func array(name string, contents []byte, axes ...uint32) []byte {
	var lengths []byte
	for _, n := range axes {
		lengths = binary.LittleEndian.AppendUint32(lengths, n)
	}
	short := append([]byte{1, 0, byte(len(name)), 0}, append([]byte(name), 0, 0, 0, 0)[:4]...)
	return element(14, slices.Concat(element(6, []byte{9, 0, 0, 0, 0, 0, 0, 0}), element(5, lengths),
		short, element(2, contents)))
}

// deflated returns an array as a compressed element.
func deflated(t testing.TB, array []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write(array); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	e := binary.LittleEndian.AppendUint32(nil, 15)
	return append(binary.LittleEndian.AppendUint32(e, uint32(b.Len())), b.Bytes()...)
}

// matFile returns a file of elements.
func matFile(elements ...[]byte) []byte {
	header := append(bytes.Repeat([]byte{' '}, 124), 0, 1, 'I', 'M')
	return slices.Concat(header, slices.Concat(elements...))
}

// digitImages returns n images whose bytes spell their place: column-major planes.
func digitImages(n int) []byte {
	x := make([]byte, n*3072)
	for i := range x {
		x[i] = byte(i % 251)
	}
	return x
}

func TestSVHNTurnsColumnsIntoRows(t *testing.T) {
	x, y := array("X", digitImages(2), 32, 32, 3, 2), array("y", []byte{10, 9}, 2, 1)
	for name, file := range map[string][]byte{
		"plain": matFile(x, y), "labels first": matFile(y, x),
		"deflated": matFile(deflated(t, x), deflated(t, y)), "mixed": matFile(deflated(t, y), x),
	} {
		s, err := data.DecodeSVHN(bytes.NewReader(file), "f.mat")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(s.Labels, []int32{0, 9}) {
			t.Errorf("%s: labels %v, want [0 9]", name, s.Labels)
		}
		for i, got := range s.Pixels {
			n, h, w, c := i/3072, i%3072/96, i%96/3, i%3
			if want := byte((n*3072 + c*1024 + w*32 + h) % 251); got != want {
				t.Fatalf("%s: image %d, row %d, column %d, channel %d is %d, want %d",
					name, n, h, w, c, got, want)
			}
		}
	}
}

func TestSVHNNamesTheWrongByte(t *testing.T) {
	x, y := array("X", digitImages(1), 32, 32, 3, 1), array("y", []byte{1}, 1, 1)
	damaged := deflated(t, x)
	damaged[len(damaged)-1] ^= 1 // zlib's checksum
	claim := array("X", digitImages(1), 32, 32, 3, 1)
	binary.LittleEndian.PutUint32(claim[8+16+8+12:], 1<<20) // the last axis
	short := matFile(x, y)
	for _, c := range []struct {
		name   string
		file   []byte
		at     int64
		reason string
	}{
		{"empty", nil, 0, "empty"},
		{"header", make([]byte, 90), 90, "ends in the header"},
		{"text", bytes.Repeat([]byte("hello, world"), 40), 124, "a MATLAB 5 file, little-endian"},
		{"big-endian", append(append(make([]byte, 124), 1, 0, 'M', 'I'), x...), 124, "byte order"},
		{"tag", short[:130], 130, "ends in the tag"},
		{"pixels", short[:1000], 1000, "ends in image 0 of 1"},
		{"end", short[:len(short)-1], int64(len(short) - 1), "ends in the padding of y"},
		{"kind", matFile(element(7, []byte("12345678"))), 128, "element of type 7"},
		{"label", matFile(x, array("y", []byte{11}, 1, 1)), -1, "label 11, want 1 to 10"},
		{"shape", matFile(array("X", digitImages(1), 32, 96, 1)), -1, "X has axes [32 96 1]"},
		{"claim", matFile(claim), 152, "axis of length 1048576"},
		{"twice", matFile(x, x), -1, `array "X", want one X and one y`},
		{"other", matFile(array("z", []byte("a"), 1, 1)), -1, `array "z", want`},
		{"no labels", matFile(x), -1, "1 images X, 0 labels y"},
		{"checksum", matFile(damaged), -1, "checksum"},
		{"no zlib", matFile(element(15, []byte("12345678"))), -1, "no zlib stream"},
		{"bomb", matFile(deflated(t, element(14, make([]byte, 1<<20)))), -1, "element at byte 128"},
	} {
		_, err := data.DecodeSVHN(bytes.NewReader(c.file), "f.mat")
		var format *data.FormatError
		if !errors.As(err, &format) {
			t.Errorf("%s: %v, want a FormatError", c.name, err)
			continue
		}
		wantFormatError(t, c.name, err, format.File, c.at, c.reason)
	}
}

// The files of ../shared/data/svhn-layout were written by another library, with known contents.
func TestSVHNLayout(t *testing.T) {
	dir := os.Getenv("LOCKSTEP_DATA")
	if dir == "" {
		dir = "../../shared/data"
	}
	dir = filepath.Join(dir, "svhn-layout")
	text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Skipf("needs files in SVHN's layout: %v", err)
	}
	var expected map[string]struct {
		Labels []int32 `json:"labels_as_stored"`
		Pixels []struct{ Row, Column, Channel, Sample, Value int }
	}
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	if len(expected) != 3 {
		t.Fatalf("%d files expected, want 3", len(expected))
	}
	for name, want := range expected {
		file, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		s, err := data.DecodeSVHN(file, name)
		if err != nil {
			t.Fatal(err)
		}
		for i, label := range want.Labels {
			if s.Labels[i] != label%10 {
				t.Errorf("%s: label %d is %d, want %d", name, i, s.Labels[i], label%10)
			}
		}
		if len(s.Labels) != len(want.Labels) || len(want.Pixels) == 0 {
			t.Errorf("%s: %d labels, want %d", name, len(s.Labels), len(want.Labels))
		}
		for _, p := range want.Pixels {
			if got := s.Pixels[((p.Sample*32+p.Row)*32+p.Column)*3+p.Channel]; int(got) != p.Value {
				t.Errorf("%s: %+v is %d", name, p, got)
			}
		}
	}
	train, test, err := data.Load(context.Background(), "svhn", data.Options{Dir: dir, Offline: true})
	if err != nil || train.Len() != 30 || test.Len() == 0 {
		t.Errorf("load: %v, want 30 training images", err)
	}
}
