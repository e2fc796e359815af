package checkpoint_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/checkpoint"
	"lockstep/graph"
	"lockstep/tensor"
)

// network returns variables of these names and shapes.
func network(params map[string]tensor.Shape, order []string, states ...string) *graph.Variables {
	v := &graph.Variables{}
	n := 0
	for i, name := range order {
		p := graph.Param{Name: name, Shape: params[name]}
		if name == "classifier.weight" {
			p.Role = graph.RoleHead
		}
		v.Params, v.Order = append(v.Params, p), append(v.Order, i)
		v.Segments = append(v.Segments, graph.Segment{Offset: n, Len: p.Shape.Elems()})
		n += p.Shape.Elems()
	}
	v.Weights = make([]float32, n)
	for i, name := range states {
		v.States = append(v.States, graph.State{Name: name, Shape: tensor.Shape{2}})
		v.StateSegments = append(v.StateSegments, graph.Segment{Offset: 2 * i, Len: 2})
	}
	v.State = make([]float32, 2*len(states))
	return v
}

// tiny is a network in the manner of BERT.
func tiny() *graph.Variables {
	return network(map[string]tensor.Shape{
		"bert.embeddings.LayerNorm.weight": {3}, "bert.embeddings.LayerNorm.bias": {3},
		"bert.pooler.dense.weight": {2, 3}, "classifier.weight": {2, 2}, "classifier.bias": {2},
	}, []string{"bert.embeddings.LayerNorm.weight", "bert.embeddings.LayerNorm.bias",
		"bert.pooler.dense.weight", "classifier.weight", "classifier.bias"})
}

// floats returns an entry whose values are all x.
func floats(name string, x float32, shape ...int) checkpoint.Entry {
	return checkpoint.Entry{Name: name, DType: checkpoint.F32, Shape: shape,
		Data: func(w io.Writer) error {
			for range tensor.Shape(shape).Elems() {
				err := binary.Write(w, binary.LittleEndian, math.Float32bits(x))
				if err != nil {
					return err
				}
			}
			return nil
		}}
}

// written returns a reader of these entries.
func written(t *testing.T, entries ...checkpoint.Entry) *checkpoint.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.safetensors")
	if _, err := checkpoint.Write(path, entries, nil); err != nil {
		t.Fatal(err)
	}
	return open(t, path)
}

// body is the file of a pre-trained tiny: old names, no prefix, no classifier, other heads.
func body() []checkpoint.Entry {
	return []checkpoint.Entry{
		floats("embeddings.LayerNorm.gamma", 1, 3), floats("embeddings.LayerNorm.beta", 2, 3),
		floats("pooler.dense.weight", 3, 2, 3), floats("embeddings.position_ids", 9, 1, 512),
	}
}

func TestLoadKnowsOldNamesAndPrefixes(t *testing.T) {
	head := []checkpoint.Entry{floats("classifier.weight", 4, 2, 2), floats("classifier.bias", 5, 2)}
	prefixed := []checkpoint.Entry{
		floats("bert.embeddings.LayerNorm.weight", 1, 3), floats("bert.embeddings.LayerNorm.bias", 2, 3),
		floats("bert.pooler.dense.weight", 3, 2, 3),
	}
	want := []float32{1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5}
	for _, entries := range [][]checkpoint.Entry{body(), prefixed} {
		v := tiny()
		loaded, err := checkpoint.Load(written(t, append(entries, head...)...), v, checkpoint.LoadOptions{})
		if err != nil || !slices.Equal(v.Weights, want) || loaded.Tensors != 5 {
			t.Errorf("%v, %+v, weights %v, want %v", err, loaded, v.Weights, want)
		}
	}
	both := append(append(body(), prefixed...), head...)
	_, err := checkpoint.Load(written(t, both...), tiny(), checkpoint.LoadOptions{})
	var fault *checkpoint.FormatError
	if !errors.As(err, &fault) || !strings.Contains(err.Error(), "under an older name") {
		t.Errorf("both names: %v", err)
	}
}

// What wraps a network writes its own name before all others, and not a part of a name.
func TestLoadLeavesOutWhatAllNamesBeginWith(t *testing.T) {
	head := []checkpoint.Entry{floats("classifier.weight", 4, 2, 2), floats("classifier.bias", 5, 2)}
	for _, c := range []struct{ all, some, want string }{
		{"module.", "", "module."}, {"_orig_mod.module.", "", "_orig_mod.module."}, {"", "", ""},
		{"model.net.", "", "model.net."}, {"bert.", "", ""}, {"module.bert.", "", "module."},
		{"", "module.", ""},
	} {
		entries := slices.Concat(body(), head)
		if strings.HasSuffix(c.all, "bert.") {
			entries = body() // a classifier has no such name
		}
		for i := range entries {
			entries[i].Name = c.all + entries[i].Name
		}
		entries[0].Name = c.some + entries[0].Name
		r := written(t, entries...)
		o := checkpoint.LoadOptions{FreshHead: len(entries) == len(body())}
		loaded, err := checkpoint.Load(r, tiny(), o)
		if c.some != "" {
			if err == nil {
				t.Error("a prefix of one name was left out")
			}
			continue
		}
		if err != nil || loaded.Prefix != c.want {
			t.Errorf("%s: %v, %+v", c.all, err, loaded)
		}
		const pooler = "bert.pooler.dense.weight"
		w, ok := r.Weight(pooler, []string{pooler, "classifier.weight"})
		if !ok || w.Name != c.all+"pooler.dense.weight" {
			t.Errorf("%s: pooler %+v", c.all, w)
		}
	}
	// A network whose own names have something in common is no other one.
	names := []string{"net.a.weight", "net.b.weight"}
	v := network(map[string]tensor.Shape{"net.a.weight": {1}, "net.b.weight": {1}}, names)
	for prefix, want := range map[string]string{"net.": "", "": "", "module.net.": "module."} {
		r := written(t, floats(prefix+"a.weight", 1, 1), floats(prefix+"b.weight", 2, 1))
		loaded, err := checkpoint.Load(r, v, checkpoint.LoadOptions{})
		if err != nil || loaded.Prefix != want || !slices.Equal(v.Weights, []float32{1, 2}) {
			t.Errorf("net, %s: %v, %+v", prefix, err, loaded)
		}
		if w, ok := r.Weight("net.b.weight", names); !ok || w.Name != prefix+"b.weight" {
			t.Errorf("net, %s: got %q, want that of b", prefix, w.Name)
		}
	}
}

// Weights of a masked language model have no pooler. It is initialised as a whole, and with a fresh head.
func TestFreshHeadAllowsAnOptionalLayer(t *testing.T) {
	masked := []checkpoint.Entry{floats("bert.embeddings.LayerNorm.weight", 1, 3),
		floats("bert.embeddings.LayerNorm.bias", 2, 3), floats("cls.predictions.bias", 7, 9)}
	r := written(t, masked...)
	o := checkpoint.LoadOptions{Optional: []string{"bert.pooler.dense"}}
	_, err := checkpoint.Load(r, tiny(), o)
	missing := "3 missing (bert.pooler.dense.weight [2, 3], classifier.weight"
	if err == nil || !strings.Contains(err.Error(), missing) ||
		!strings.Contains(err.Error(), "--fresh-head") {
		t.Errorf("strictly: %v", err)
	}
	o.FreshHead = true
	loaded, err := checkpoint.Load(r, tiny(), o)
	want := []string{"bert.pooler.dense.weight", "classifier.weight", "classifier.bias"}
	if err != nil || loaded.Tensors != 2 || !slices.Equal(loaded.Fresh, want) {
		t.Errorf("%v, %+v", err, loaded)
	}
	r = written(t, append(masked, floats("bert.pooler.dense.bias", 1, 2))...)
	if _, err := checkpoint.Load(r, tiny(), o); err == nil {
		t.Error("half a pooler was taken for none")
	}
	r = written(t, masked...)
	if _, err := checkpoint.Load(r, tiny(), checkpoint.LoadOptions{FreshHead: true}); err == nil {
		t.Error("a layer that is not optional may be missing")
	}
}

func TestLoadListsWhatDoesNotFit(t *testing.T) {
	v := tiny()
	r := written(t, floats("embeddings.LayerNorm.gamma", 1, 4), floats("embeddings.LayerNorm.beta", 1, 3),
		floats("classifier.weight", 1, 2, 2), floats("encoder.layer.7.weight", 1, 2),
		entry("classifier.bias", "I32", tensor.Shape{2}, make([]byte, 8)))
	for _, fresh := range []bool{false, true} { // a fresh head is no excuse for the rest
		_, err := checkpoint.Load(r, v, checkpoint.LoadOptions{FreshHead: fresh})
		want := "checkpoint: " + r.Path + " does not fit the network: tensors " +
			"1 missing (bert.pooler.dense.weight [2, 3]); 1 surplus (encoder.layer.7.weight [2]); " +
			"2 of another shape (bert.embeddings.LayerNorm.weight: got F32 [4], want [3], " +
			"classifier.bias: got I32 [2], want [2])"
		var mismatch *checkpoint.MatchError
		if !errors.As(err, &mismatch) || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	if slices.ContainsFunc(v.Weights, func(x float32) bool { return x != 0 }) {
		t.Errorf("a file that does not fit changed the weights to %v", v.Weights)
	}
	long := &checkpoint.MatchError{File: "f", Missing: make([]string, 200)}
	if text := long.Error(); !strings.Contains(text, "tensors 200 missing (, , ") ||
		!strings.HasSuffix(text, ", and 188 more)") {
		t.Error(text)
	}
}

func TestFreshHead(t *testing.T) {
	other := []checkpoint.Entry{floats("cls.predictions.bias", 7, 9), floats("cls.seq.weight", 7, 2)}
	for _, c := range []struct {
		name          string
		head          []checkpoint.Entry
		unused, fresh int
		values        []float32 // of the classifier
	}{
		{"no head", nil, 2, 2, []float32{0, 0, 0, 0, 0, 0}},
		{"three classes", []checkpoint.Entry{floats("classifier.weight", 4, 3, 2),
			floats("classifier.bias", 4, 3)}, 2, 2, []float32{0, 0, 0, 0, 0, 0}},
		{"half a head", []checkpoint.Entry{floats("classifier.bias", 4, 2)}, 3, 2,
			[]float32{0, 0, 0, 0, 0, 0}},
		{"deeper head", []checkpoint.Entry{floats("classifier.0.weight", 4, 2, 2)}, 3, 2,
			[]float32{0, 0, 0, 0, 0, 0}},
		{"same head", []checkpoint.Entry{floats("classifier.weight", 4, 2, 2),
			floats("classifier.bias", 5, 2)}, 4, 2, []float32{0, 0, 0, 0, 0, 0}},
	} {
		r := written(t, slices.Concat(body(), other, c.head)...)
		_, err := checkpoint.Load(r, tiny(), checkpoint.LoadOptions{})
		var mismatch *checkpoint.MatchError
		if !errors.As(err, &mismatch) || !strings.HasSuffix(err.Error(), "is missing and the last layer") {
			t.Errorf("%s, strictly: %v", c.name, err)
		}
		v := tiny()
		loaded, err := checkpoint.Load(r, v, checkpoint.LoadOptions{FreshHead: true})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(loaded.Fresh) != c.fresh || len(loaded.Unused) != c.unused ||
			loaded.Tensors != 5-c.fresh || !slices.Equal(v.Weights[12:], c.values) || v.Weights[11] != 3 {
			t.Errorf("%s: %+v, weights %v", c.name, loaded, v.Weights)
		}
	}
	// A file with nothing in common is not a head's fault.
	_, err := checkpoint.Load(written(t, other...), tiny(), checkpoint.LoadOptions{FreshHead: true})
	var mismatch *checkpoint.MatchError
	if !errors.As(err, &mismatch) || len(mismatch.Missing) != 5 || len(mismatch.Surplus) != 2 {
		t.Errorf("nothing in common: %v", err)
	}
}

func TestBatchCounts(t *testing.T) {
	shapes := map[string]tensor.Shape{"bn.weight": {2}}
	v := network(shapes, []string{"bn.weight"}, "bn.running_mean", "bn.running_var")
	fill(v)
	path := filepath.Join(t.TempDir(), "w.safetensors")
	if _, err := checkpoint.Save(path, v, 1234567890123, map[string]string{"by": "us"}); err != nil {
		t.Fatal(err)
	}
	r := open(t, path)
	count, ok := r.Find("bn.num_batches_tracked")
	if !ok || count.DType != checkpoint.I64 || len(count.Shape) != 0 ||
		r.Metadata["format"] != "pt" || r.Metadata["by"] != "us" {
		t.Errorf("%+v, metadata %v", count, r.Metadata)
	}
	for _, isThere := range []bool{true, false} { // torchvision's old files lack the counts
		if !isThere {
			r = written(t, floats("bn.weight", 1, 2), floats("bn.running_mean", 1, 2),
				floats("bn.running_var", 1, 2))
		}
		loaded, err := checkpoint.Load(r, v, checkpoint.LoadOptions{})
		if err != nil || loaded.Tensors != 3 || (loaded.Batches == 1234567890123) != isThere {
			t.Errorf("count there: %v: %+v, %v", isThere, loaded, err)
		}
	}
}

func TestWriteLeavesWhatWasThere(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "w.safetensors")
	if err := os.WriteFile(path, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for name, e := range map[string][]checkpoint.Entry{
		"too few bytes": {entry("x", "F32", tensor.Shape{2}, make([]byte, 4))},
		"failing data": {floats("a", 1, 3), {Name: "x", DType: "F32", Shape: tensor.Shape{1},
			Data: func(io.Writer) error { return broken }}},
		"same name":      {floats("a", 1, 3), floats("a", 1, 3)},
		"metadata":       {floats("__metadata__", 1, 3)},
		"unknown type":   {entry("x", "F31", nil, nil)},
		"no whole bytes": {entry("x", "F4", tensor.Shape{3}, nil)},
		"long name":      {floats(strings.Repeat("n", 2000), 1)},
	} {
		_, err := checkpoint.Write(path, e, nil)
		var failed *checkpoint.WriteError
		if !errors.As(err, &failed) || failed.File != path {
			t.Errorf("%s: %v, want a WriteError", name, err)
		}
		text, _ := os.ReadFile(path)
		entries, _ := os.ReadDir(folder)
		if string(text) != "before" || len(entries) != 1 {
			t.Errorf("%s: left %q and %v", name, text, entries)
		}
	}
	_, err := checkpoint.Write(filepath.Join(folder, "absent", "w.safetensors"), nil, nil)
	var failed *checkpoint.WriteError
	if !errors.As(err, &failed) {
		t.Errorf("no folder: %v, want a WriteError", err)
	}
	if _, err := checkpoint.Write(path, nil, nil); err != nil || len(open(t, path).Tensors) != 0 {
		t.Errorf("a file without tensors: %v", err)
	}
}

func TestCompare(t *testing.T) {
	long := checkpoint.ChunkBytes/4 + 3
	a := written(t, floats("same", 1, 2), floats("long", 2, long), floats("gone", 1, 1),
		floats("shape", 1, 2), floats("nan", float32(math.NaN()), 1), floats("zero", 0, 1))
	b := written(t, floats("same", 1, 2), floats("long", 2.5, long), floats("new", 1),
		floats("shape", 1, 1, 2), floats("nan", 1, 1), floats("zero", float32(math.Copysign(0, -1)), 1))
	list, err := checkpoint.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct {
		kind     string
		abs, rel float64
	}{
		"same": {checkpoint.Equal, 0, 0}, "long": {checkpoint.Changed, 0.5, 0.2},
		"gone": {checkpoint.Removed, 0, 0}, "new": {checkpoint.Added, 0, 0},
		"shape": {checkpoint.Misshapen, 0, 0}, "nan": {checkpoint.Changed, math.Inf(1), math.Inf(1)},
		"zero": {checkpoint.Changed, 0, 0},
	}
	if len(list) != len(want) {
		t.Errorf("%d differences, want %d", len(list), len(want))
	}
	for _, d := range list {
		w := want[d.Name]
		var abs, rel float64
		if d.MaxAbs != nil {
			abs, rel = float64(*d.MaxAbs), float64(*d.MaxRel)
		}
		if d.Kind != w.kind || abs != w.abs || rel != w.rel ||
			(d.MaxAbs != nil) != (w.kind == checkpoint.Changed) {
			t.Errorf("%+v by %v, %v; want %+v", d, abs, rel, w)
		}
	}
	text, err := json.Marshal([]checkpoint.Number{0.5, checkpoint.Number(math.Inf(1))})
	if string(text) != `[0.5,"+Inf"]` || err != nil {
		t.Errorf("JSON %s, %v", text, err)
	}
}
