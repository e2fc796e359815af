package checkpoint_test

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/checkpoint"
	"lockstep/tensor"
)

// framed returns a file: the header's length, the header, so many bytes of data.
func framed(header string, dataBytes int) []byte {
	text := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(text, header...), make([]byte, dataBytes)...)
}

// one returns a header with one tensor x of 4 floats and what comes after it.
func one(rest string) string {
	return `{"x":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}` + rest + `}`
}

// damage is a file with a fault.
type damage struct {
	name   string
	file   []byte
	offset int64
	want   string // part of the message
}

func damages() []damage {
	le := binary.LittleEndian
	return []damage{
		{"empty", nil, 0, "truncated: 0 bytes, too few for a header"},
		{"cut in the length", []byte{1, 0, 0}, 3, "truncated: 3 bytes"},
		{"cut in the header", framed(one(""), 0)[:40], 40, "truncated: the header should end at byte 63"},
		{"cut in the data", framed(one(""), 15), 13, "tensor x: data to byte 16 of 15; the file is trun"},
		{"huge header", append(le.AppendUint64(nil, 100<<20), "{}"...), 0, "header of 104857600 bytes"},
		{"header beyond any file", append(le.AppendUint64(nil, math.MaxUint64), '{'), 0,
			"header of 18446744073709551615 bytes, want at most 4194304"},
		{"no object", framed(`["x"]`, 0), 8, "does not start with {"},
		{"text", []byte("<html>not found</html>"), 0, "not a safetensors file?"},
		{"zip", []byte("PK\x03\x04\x14\x00\x00\x00\x08\x08"), -1, "python3 -c"},
		{"pickle", []byte("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."), -1, "a pickle, which can run code"},
		{"pickle 4", []byte("\x80\x04\x95\x00\x01\x00\x00\x00\x00\x00\x00}"), -1, "a pickle"},
		{"not UTF-8", framed("{\"\xff\":1}", 0), 8, "not UTF-8"},
		{"nothing after the key", framed(`{"x"`, 0), 12, `ends where ":" should be`},
		{"open string", framed(`{"x`, 0), 11, "ends within a string"},
		{"wrong escape", framed(`{"\x":{}}`, 0), 13, "wrong escape"},
		{"control character", framed("{\"a\nb\":{}}", 0), 11, "control character"},
		{"after the end", framed(one("")+"x", 16), 63, `"x" after the end of the object`},
		{"deep", framed(`{"x":`+strings.Repeat("[", 1000), 0), 13, `"[" where "{" should be`},
		{"deep shape", framed(`{"x":{"shape":`+strings.Repeat("[", 1000), 0), 23, "want a whole number"},
		{"twice", framed(one(`,"x":{"dtype":"F32","shape":[],"data_offsets":[16,20]}`), 20), 67,
			"second entry of the name x"},
		{"twice by escape", framed(one(`,"\u0078":{}`), 16), 72, "second entry of the name x"},
		{"second shape", framed(`{"x":{"shape":[1],"shape":[1]}}`, 0), 34, "second shape of tensor x"},
		{"no dtype", framed(`{"x":{"shape":[1],"data_offsets":[0,4]}}`, 4), 13,
			"want dtype, shape and data_offsets"},
		{"one offset", framed(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[4]}}`, 4), 58,
			"1 data_offsets of tensor x"},
		{"unknown key", framed(`{"x":{"kind":1}}`, 0), 21, "unknown key kind of tensor x"},
		{"unknown dtype", framed(`{"x":{"dtype":"F31"}}`, 0), 27, "unknown dtype F31"},
		{"dtype no string", framed(`{"x":{"dtype":32}}`, 0), 22, `"3" where "\"" should be`},
		{"negative", framed(`{"x":{"shape":[-1]}}`, 0), 23, "whole number of at least 0"},
		{"fraction", framed(`{"x":{"shape":[1.5]}}`, 0), 24, `"." where "," should be`},
		{"leading zero", framed(`{"x":{"shape":[01]}}`, 0), 25, "whole number of at least 0"},
		{"beyond 2^63", framed(`{"x":{"shape":[9223372036854775808]}}`, 0), 41, "number beyond 2^63"},
		{"many axes", framed(`{"x":{"shape":[`+strings.Repeat("1,", 17)+`1]}}`, 0), 55, "more than 16"},
		{"overflowing shape", framed(
			`{"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0), 13,
			"tensor x: 0 bytes of data, which F32 [4294967296, 4294967296] does not have"},
		{"shape that wraps to 16", framed(
			`{"x":{"dtype":"F32","shape":[4611686018427387908],"data_offsets":[0,16]}}`, 16), 13,
			"16 bytes of data"},
		{"other size", framed(`{"x":{"dtype":"F16","shape":[4],"data_offsets":[0,16]}}`, 16), 13,
			"16 bytes of data, which F16 [4] does not have"},
		{"half a byte", framed(`{"x":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}}`, 1), 13,
			"1 bytes of data, which F4 [3]"},
		{"backwards", framed(`{"x":{"dtype":"F32","shape":[4],"data_offsets":[16,0]}}`, 16), 13,
			"data_offsets [16 0]"},
		{"beyond the end", framed(one(`,"y":{"dtype":"F32","shape":[1],"data_offsets":[16,20]}`), 16), 67,
			"tensor y: data to byte 20 of 16"},
		{"at the end of the world", framed(`{"x":{"dtype":"U8","shape":[1],`+
			`"data_offsets":[9223372036854775806,9223372036854775807]}}`, 1), 13, "tensor x: data to byte"},
		{"hole", framed(`{"x":{"dtype":"F32","shape":[4],"data_offsets":[4,20]}}`, 20), 13,
			"4 unused bytes before its data, behind the header"},
		{"overlap", framed(one(`,"y":{"dtype":"F32","shape":[2],"data_offsets":[12,20]}`), 20), 67,
			"tensor y: data overlaps that of x"},
		{"nothing within another", framed(one(`,"y":{"dtype":"F32","shape":[0],"data_offsets":[8,8]}`), 16),
			67, "tensor y: data overlaps that of x"},
		{"bytes at the end", framed(one(""), 17), 79, "1 bytes after the data of the last tensor"},
		{"metadata no string", framed(`{"__metadata__":{"a":1}}`, 0), 29, `"1" where`},
		{"metadata twice", framed(`{"__metadata__":{"a":"","a":""}}`, 0), 36,
			"second metadata of the name a"},
		{"long name", framed(`{"`+strings.Repeat("n", 2000)+`":{}}`, 0), 2012, "name of 2000 bytes"},
		{"name that breaks lines", framed("{\"a\\nb\":[]}", 0), 16, `where "{"`},
	}
}

func TestDamagedFilesAreRefusedByName(t *testing.T) {
	for _, d := range damages() {
		path := filepath.Join(t.TempDir(), "w.safetensors")
		if err := os.WriteFile(path, d.file, 0o644); err != nil {
			t.Fatal(err)
		}
		wantFault(t, d.name, path, path, d.offset, d.want)
	}
}

// wantFault opens path and wants a *FormatError of one line that names file, in 100 ms and 64 MiB.
func wantFault(t *testing.T, name, path, file string, offset int64, want string) {
	t.Helper()
	var before, after runtime.MemStats
	var r *checkpoint.Reader
	var err error
	took := time.Hour
	for try := 0; try < 20 && took > 100*time.Millisecond; try++ { // the machine may be busy
		runtime.ReadMemStats(&before)
		begin := time.Now()
		r, err = checkpoint.Open(path)
		took = min(took, time.Since(begin))
		runtime.ReadMemStats(&after)
	}
	var fault *checkpoint.FormatError
	switch {
	case err == nil:
		t.Errorf("%s: opened with %d tensors", name, len(r.Tensors))
		r.Close()
	case !errors.As(err, &fault):
		t.Errorf("%s: %v, want a FormatError", name, err)
	case !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "checkpoint: "+file) ||
		fault.Offset != offset || strings.Contains(err.Error(), "\n") || len(err.Error()) > 700:
		t.Errorf("%s: %q at %d, want %q at %d of %s", name, err, fault.Offset, want, offset, file)
	}
	if used := after.TotalAlloc - before.TotalAlloc; took > 100*time.Millisecond || used > 64<<20 {
		t.Errorf("%s: took %v and %d bytes, want at most 100 ms and 64 MiB", name, took, used)
	}
}

// The worst that fits into the bounds: as many entries as possible, in every place.
func TestHugeHeadersAreRefusedInTime(t *testing.T) {
	repeat := func(open, format, end string) []byte {
		var b strings.Builder
		b.WriteString(open)
		for i := 0; b.Len() < checkpoint.MaxHeader-200; i++ {
			b.WriteString(strings.Replace(format, "%", strconv.Itoa(i), 1))
		}
		b.WriteString(end)
		return framed(b.String(), 0)
	}
	empty := `"%":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},`
	for _, d := range []struct {
		name string
		file []byte
		want string
	}{
		{"tensors", repeat("{", empty, "}"), "more than 32768 tensors"},
		{"metadata", repeat(`{"__metadata__":{`, `"%":"",`, "}}"), "or more than 4096"},
		{"blanks", repeat("{", "   ", "x"), `"x" where`},
		{"string", repeat(`{"`, "%", `":1}`), "string of more than"},
		{"escapes", repeat(`{"`, `\n`, `":1}`), "string of more than"},
		{"numbers", repeat(`{"x":{"shape":[`, "%,", "]}}"), "more than 16 numbers"},
		{"keys", repeat(`{"x":{`, `"shape":[%],`, "}}"), "second shape"},
	} {
		path := filepath.Join(t.TempDir(), "w.safetensors")
		if err := os.WriteFile(path, d.file, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := checkpoint.Open(path)
		var fault *checkpoint.FormatError
		if !errors.As(err, &fault) {
			t.Errorf("%s: %v, want a FormatError", d.name, err)
			continue
		}
		wantFault(t, d.name, path, path, fault.Offset, d.want)
	}
}

// A flipped bit anywhere in a header is found or changes a name, a shape or a word of metadata;
// none makes a file that cannot be read to its end.
func TestFlippedBits(t *testing.T) {
	whole := framed(`{"__metadata__":{"format":"pt"},"x":{"dtype":"F32","shape":[2,2],`+
		`"data_offsets":[0,16]},"n":{"dtype":"I64","shape":[],"data_offsets":[16,24]}}`, 24)
	path := filepath.Join(t.TempDir(), "w.safetensors")
	refused := 0
	for bit := range 8 * (len(whole) - 24) {
		file := append([]byte{}, whole...)
		file[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, file, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := checkpoint.Open(path)
		if err != nil {
			var fault *checkpoint.FormatError
			if !errors.As(err, &fault) || fault.Offset > int64(len(file)) {
				t.Errorf("bit %d: %v", bit, err)
			}
			refused++
			continue
		}
		for _, x := range r.Tensors {
			err := r.Floats(x, make([]float32, x.Shape.Elems()))
			if x.DType == checkpoint.F32 && err != nil {
				t.Errorf("bit %d: %v", bit, err)
			}
		}
		r.Close()
	}
	if refused < 8*100 {
		t.Errorf("only %d flips refused", refused)
	}
}

func TestValuesThatAreNoNumbers(t *testing.T) {
	file := framed(`{"x":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},`+
		`"wide":{"dtype":"F64","shape":[1],"data_offsets":[16,24]}}`, 24)
	data := len(file) - 24
	le := binary.LittleEndian
	for _, c := range []struct {
		name, tensor string
		at, element  int // bytes of data in front of what is changed, and of its element
		bits         uint32
	}{
		{"NaN", "x", 8, 8, math.Float32bits(float32(math.NaN()))},
		{"infinity", "x", 0, 0, math.Float32bits(float32(math.Inf(-1)))},
		{"beyond float32", "wide", 20, 16, uint32(math.Float64bits(1e300) >> 32)},
	} {
		damaged := append([]byte{}, file...)
		le.PutUint32(damaged[data+c.at:], c.bits)
		path := filepath.Join(t.TempDir(), "w.safetensors")
		if err := os.WriteFile(path, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		r := open(t, path)
		x, _ := r.Find(c.tensor)
		var fault *checkpoint.FormatError
		err := r.Floats(x, make([]float32, x.Shape.Elems()))
		if !errors.As(err, &fault) || fault.Tensor != c.tensor || fault.Offset != int64(data+c.element) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestPickleIsRefusedByName(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "pytorch_model.bin")
	if err := os.WriteFile(path, framed(one(""), 16), 0o644); err != nil {
		t.Fatal(err)
	}
	convert := "torch.load('" + path + "', map_location='cpu', weights_only=True)"
	for _, name := range []string{path, folder} { // a folder with nothing else
		wantFault(t, name, name, path, -1, convert)
	}
	odd := filepath.Join(folder, "a'; evil.pt")
	if err := os.WriteFile(odd, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	wantFault(t, "odd name", odd, odd, -1, "torch.load('FILE',")
}

func TestFilesThatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	for _, path := range []string{filepath.Join(folder, "absent.safetensors"), folder,
		filepath.Join(folder, "absent", "x")} {
		_, err := checkpoint.Open(path)
		var missing *checkpoint.ReadError
		if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) ||
			!strings.Contains(err.Error(), folder) {
			t.Errorf("%s: %v, want a ReadError", path, err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, checkpoint.WeightsFile), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, checkpoint.WeightsFile)
	_, err := checkpoint.Open(folder)
	if missing := (*checkpoint.ReadError)(nil); !errors.As(err, &missing) ||
		!strings.Contains(err.Error(), path+": not a regular file") {
		t.Errorf("folder: %v, want a ReadError", err)
	}
	for _, name := range []string{"a.safetensors", "b.safetensors"} {
		if err := os.WriteFile(filepath.Join(path, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	wantFault(t, "two files", path, path, -1, "2 safetensors files and no model.safetensors.index.json")
}

// A file that shrinks while it is read is an error, not the end of the process.
func TestFileCutWhileOpen(t *testing.T) {
	const n = 4 << 20
	path := filepath.Join(t.TempDir(), "w.safetensors")
	_, err := checkpoint.Write(path, []checkpoint.Entry{
		entry("x", "F32", tensor.Shape{n / 4}, make([]byte, n))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, path)
	if err := os.Truncate(path, n/2); err != nil {
		t.Fatal(err)
	}
	x, _ := r.Find("x")
	read := func() error { return r.Floats(x, make([]float32, n/4)) }
	_, hash := r.SHA256()
	for _, err := range []error{read(), hash} {
		var failed *checkpoint.ReadError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v, want a ReadError", err)
		}
	}
	if err := r.ReadPlainly(); err != nil {
		t.Fatal(err)
	}
	var failed *checkpoint.ReadError
	if err := read(); !errors.As(err, &failed) {
		t.Errorf("read plainly: %v, want a ReadError", err)
	}
}
