package checkpoint_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/checkpoint"
	"lockstep/compute"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/tensor"
)

// golden is testdata/golden.json: what the reference libraries make of the same tensors. The
// script beside it says how.
type golden struct {
	Models map[string]struct {
		Bytes   int64
		SHA256  string
		Tensors []string
	}
	Types string
}

func readGolden(t *testing.T) golden {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// valuesOf returns the golden values of a tensor.
func valuesOf(name string, n int) []float32 {
	seed, values := crc32.ChecksumIEEE([]byte(name)), make([]float32, n)
	for i := range values {
		word := uint32(uint64(i)*2654435761) + seed
		values[i] = float32(word>>8)/(1<<24) - 0.5
	}
	return values
}

// variablesOf returns a network's variables, for inference: of ten classes of images of 32 x 32, with
// the suffix -imagenet of 96 x 96, or of two classes of texts.
func variablesOf(t *testing.T, name string) *graph.Variables {
	t.Helper()
	cpu, err := compute.Open(compute.Config{ISA: compute.Plain, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	name, isLarge := strings.CutSuffix(name, "-imagenet")
	classes, input := 10, tensor.Shape{32, 32, 3}
	if isLarge {
		input = tensor.Shape{96, 96, 3}
	}
	if (model.Catalog{}).ReadsTexts(name) {
		classes, input = 2, tensor.Shape{16}
	}
	network, err := model.Named(name, classes, input)
	if err != nil {
		t.Fatal(err)
	}
	g := graph.New()
	logits := network.Build(network.Samples(g, 1))
	p, err := graph.Compile(g, graph.NewHost(cpu), graph.Options{Logits: logits,
		Loss: graph.SoftmaxCrossEntropy(logits, g.Labels("labels", 1))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return graph.NewVariables(p)
}

// fill gives v the golden values.
func fill(v *graph.Variables) {
	for i, p := range v.Params {
		v.SetParam(i, valuesOf(p.Name, p.Shape.Elems()))
	}
	for i, s := range v.States {
		copy(v.StateOf(i), valuesOf(s.Name, s.Shape.Elems()))
	}
}

// TestModelsAreWrittenAsTheReferenceLibraryDoes compares whole files: since the bytes are equal,
// what PyTorch writes is also what is read back here, and the reverse.
func TestModelsAreWrittenAsTheReferenceLibraryDoes(t *testing.T) {
	for name, want := range readGolden(t).Models {
		t.Run(name, func(t *testing.T) {
			v := variablesOf(t, name)
			fill(v)
			path := filepath.Join(t.TempDir(), "model.safetensors")
			sum, err := checkpoint.Save(path, v, 7, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := open(t, path)
			var got []string
			for _, x := range r.Tensors {
				got = append(got, fmt.Sprintf("%s %s %v", x.Name, x.DType, x.Shape))
			}
			if slices.Sort(got); !slices.Equal(got, want.Tensors) {
				t.Errorf("tensors\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want.Tensors, "\n"))
			}
			if info, err := os.Stat(path); err != nil || info.Size() != want.Bytes || sum != want.SHA256 {
				t.Errorf("%d bytes, sha256 %s, want %d, %s", info.Size(), sum, want.Bytes, want.SHA256)
			}
			again := variablesOf(t, name)
			loaded, err := checkpoint.Load(r, again, checkpoint.LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			wantBatches := int64(0)
			if len(v.States) > 0 {
				wantBatches = 7
			}
			if again.SHA256() != v.SHA256() || loaded.Batches != wantBatches ||
				loaded.Tensors != len(v.Params)+len(v.States) || len(loaded.Fresh)+len(loaded.Unused) > 0 {
				t.Errorf("loaded %+v, values %s, want %s", loaded, again.SHA256(), v.SHA256())
			}
		})
	}
}

// entry returns an entry of so many bytes each of which write appends.
func entry(name string, dtype checkpoint.DType, shape tensor.Shape, data []byte) checkpoint.Entry {
	return checkpoint.Entry{Name: name, DType: dtype, Shape: shape,
		Data: func(w io.Writer) error { _, err := w.Write(data); return err }}
}

func TestTypesAreWrittenAsTheReferenceLibraryDoes(t *testing.T) {
	le := binary.LittleEndian
	floats := func(name string, n, width int, put func(b []byte, x float32) []byte) []byte {
		var b []byte
		for _, x := range valuesOf(name, n) {
			b = put(b, x)
		}
		return b[: n*width : n*width]
	}
	f32 := func(b []byte, x float32) []byte { return le.AppendUint32(b, math.Float32bits(x)) }
	f64 := func(b []byte, x float32) []byte { return le.AppendUint64(b, math.Float64bits(float64(x))) }
	bf16 := func(b []byte, x float32) []byte { return le.AppendUint16(b, roundTo16(x)) }
	entries := []checkpoint.Entry{
		entry("a", "F32", tensor.Shape{2, 3}, floats("a", 6, 4, f32)),
		entry("half", "F16", tensor.Shape{5}, floats("half", 5, 2, func(b []byte, x float32) []byte {
			return le.AppendUint16(b, nearestHalf(x))
		})),
		entry("brain", "BF16", tensor.Shape{3}, floats("brain", 3, 2, bf16)),
		entry("double", "F64", tensor.Shape{2}, floats("double", 2, 8, f64)),
		entry("count", "I64", nil, []byte{7, 0, 0, 0, 0, 0, 0, 0}),
		entry("word", "I32", tensor.Shape{2}, []byte{255, 255, 255, 255, 2, 0, 0, 0}),
		entry("byte", "U8", tensor.Shape{2}, []byte{1, 255}),
		entry("empty", "F32", tensor.Shape{0, 4}, nil),
		entry("truth", "BOOL", tensor.Shape{2}, []byte{1, 0}),
		entry("odd \"name\"\n\u00e9/<", "F32", tensor.Shape{1}, floats("odd", 1, 4, f32)),
	}
	path := filepath.Join(t.TempDir(), "types.safetensors")
	for range 2 {
		sum, err := checkpoint.Write(path, entries, map[string]string{"format": "pt"})
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.Sum256(text)
		if want := readGolden(t).Types; sum != want || hex.EncodeToString(h[:]) != want {
			t.Errorf("sha256 %s, want %s; the file:\n%q", sum, want, text)
		}
		slices.Reverse(entries) // the order does not matter
	}
	checkValues(t, open(t, path))
}

// checkValues reads the file of types back, through a memory map and plainly.
func checkValues(t *testing.T, r *checkpoint.Reader) {
	for _, isPlain := range []bool{false, true} {
		if isPlain {
			if err := r.ReadPlainly(); err != nil {
				t.Fatal(err)
			}
		}
		for name, want := range map[string][]float32{
			"a": valuesOf("a", 6), "double": valuesOf("double", 2), "count": {7}, "word": {-1, 2},
			"byte": {1, 255}, "truth": {1, 0}, "empty": {},
		} {
			x, ok := r.Find(name)
			got := make([]float32, len(want))
			if err := r.Floats(x, got); !ok || err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, %v, want %v", name, got, err, want)
			}
		}
		for name, bound := range map[string]float64{"half": 0x1p-12, "brain": 0x1p-9} {
			x, _ := r.Find(name)
			got := make([]float32, x.Shape.Elems())
			if err := r.Floats(x, got); err != nil {
				t.Error(err)
			}
			for i, want := range valuesOf(name, len(got)) {
				if diff := math.Abs(float64(got[i] - want)); diff > bound {
					t.Errorf("%s[%d] is %v, want %v within %v", name, i, got[i], want, bound)
				}
			}
		}
	}
}

// roundTo16 rounds to the nearest bfloat16, ties to even.
func roundTo16(x float32) uint16 {
	b := math.Float32bits(x)
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// nearestHalf searches the half-precision number nearest to x, ties to even.
func nearestHalf(x float32) uint16 {
	best, least := uint16(0), math.Inf(1)
	for h := range 1 << 16 {
		d := math.Abs(checkpoint.Half(uint16(h)) - float64(x))
		if d < least || d == least && h&1 == 0 && best&1 == 1 {
			best, least = uint16(h), d
		}
	}
	return best
}

func TestHalf(t *testing.T) {
	for h, want := range map[uint16]float64{
		0: 0, 1: 0x1p-24, 0x3ff: 0x3ffp-24, 0x400: 0x1p-14, 0x3c00: 1, 0x3c01: 1 + 0x1p-10,
		0x7bff: 65504, 0xc000: -2, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1), 0x3555: 0x1.554p-2,
	} {
		if got := checkpoint.Half(h); got != want {
			t.Errorf("half %#x is %v, want %v", h, got, want)
		}
	}
	if got := checkpoint.Half(0x7e00); !math.IsNaN(got) {
		t.Errorf("half 0x7e00 is %v, want NaN", got)
	}
}

// open opens a file that is closed when the test ends.
func open(t *testing.T, path string) *checkpoint.Reader {
	t.Helper()
	r, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}
