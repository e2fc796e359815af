package npy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/data/npy"
)

// write writes an array as numpy.save does, but for the padding of its header.
func write(t testing.TB, descr, order, shape, body string) string {
	t.Helper()
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape)
	path := filepath.Join(t.TempDir(), "x.npy")
	text := "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header + body
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestIntegersOfEveryType(t *testing.T) {
	for descr, c := range map[string]struct {
		body string
		want []int64
	}{
		"|u1": {"\x00\xff", []int64{0, 255}},
		"|i1": {"\x00\xff", []int64{0, -1}},
		"<u2": {"\x01\x00\xff\xff", []int64{1, 65535}},
		"<i4": {"\x07\x00\x00\x00\xfe\xff\xff\xff", []int64{7, -2}},
		"<i8": {"\x07\x00\x00\x00\x00\x00\x00\x00\xfe\xff\xff\xff\xff\xff\xff\xff", []int64{7, -2}},
	} {
		a, err := npy.Open(write(t, descr, "False", "(2,)", c.body))
		if err != nil {
			t.Errorf("%s: %v", descr, err)
			continue
		}
		defer a.Close()
		if got, err := a.Integers(); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, error %v, want %v", descr, got, err, c.want)
		}
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	for _, c := range []struct{ descr, order, shape, body, want string }{
		{"|u1", "False", "(2,)", "a", "bytes, want"},
		{"|u1", "False", "(2,)", "abc", "bytes, want"},
		{">f4", "False", "(1,)", "abcd", `type ">f4"`},
		{"|O", "False", "(1,)", "abcd", `type "|O"`},
		{"<f4", "True", "(1,)", "abcd", "Fortran order"},
		{"<f4", "None", "(1,)", "abcd", "without fortran_order"},
		{"<f4", "False", "()", "abcd", "want rows"},
		{"<f8", "False", "(2000000000, 2000000000, 2000000000)", "", "larger than any file"},
		{"<f8", "False", "(99999999999999999999,)", "", "axis of"},
	} {
		a, err := npy.Open(write(t, c.descr, c.order, c.shape, c.body))
		if err == nil {
			a.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q in it", c, err, c.want)
		}
	}
}

// A file that grows, or is cut, is no longer the array that was opened.
func TestAChangeIsSeen(t *testing.T) {
	path := write(t, "|u1", "False", "(600, 1)", strings.Repeat("a", 600))
	a, err := npy.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	row := make([]byte, 1)
	if err := a.ReadRows(row, 599); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 300); err != nil {
		t.Fatal(err)
	}
	if err := a.ReadRows(row, 599); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("a row that is gone: error %v", err)
	}
	for i := range 600 {
		if err = a.ReadRows(row, i%10); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("600 reads of a file that was cut: error %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("\x93NUMPY\x01\x00\x3c\x00" +
		"{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }\nabcdef"))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "x.npy")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := npy.Open(path)
		if err != nil {
			return
		}
		defer a.Close()
		if n := a.RowElems() * a.ElemBytes(); n > 0 && a.Rows() > 0 {
			if err := a.ReadRows(make([]byte, n), a.Rows()-1); err != nil {
				t.Errorf("the last row of %v: %v", a.Shape, err)
			}
		}
	})
}
