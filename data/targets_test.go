package data_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
	described "lockstep/data/table"
	"lockstep/tensor"
)

// measured is a set of n images of one pixel, each with two targets and no label.
func measured(n int) *data.Set {
	s := &data.Set{Name: "measured", Shape: tensor.Shape{1, 1, 1}, NumTargets: 2,
		Mean: []float32{0}, Std: []float32{1}}
	for i := range n {
		s.Pixels = append(s.Pixels, byte(i))
		s.Targets = append(s.Targets, float32(i), -float32(i))
	}
	return s
}

// What a network predicts can be read again however many numbers it is, or is not said.
func TestPredictsOfManyTargets(t *testing.T) {
	for n, want := range map[int]int{3072: 3072, described.MaxValues + 1: 0} {
		values := (&data.Set{NumTargets: n}).Predicts()
		if err := described.CheckValues(values); err != nil || len(values) != want {
			t.Errorf("%d targets: %d values, %v, want %d", n, len(values), err, want)
		}
	}
}

// Targets go with their samples: into a part of the set, an evaluation batch and a shard of training.
func TestTargetsGoWithSamples(t *testing.T) {
	s := measured(7)
	if s.Len() != 7 || s.HasLabels() || s.Limit(3).Len() != 3 || s.Bytes() != 7+4*14 {
		t.Errorf("%d samples, labels %v, %d bytes; %d of 3",
			s.Len(), s.HasLabels(), s.Bytes(), s.Limit(3).Len())
	}
	var sh data.Shard
	s.Take(&sh, 2, 4)
	if !slices.Equal(sh.Targets, []float32{2, -2, 3, -3}) || len(sh.Labels) != 0 {
		t.Errorf("taken: targets %v, labels %v", sh.Targets, sh.Labels)
	}
	l, err := data.NewLoader(data.LoaderConfig{Set: s, Batch: 4, Shards: 2, Hi: 2, Seed: 3, ToStep: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 4 {
		step, err := l.Next()
		if err != nil {
			t.Fatal(err)
		}
		for _, sh := range step.Shards {
			if len(sh.Targets) != 2*sh.Samples {
				t.Fatalf("%d targets for %d samples", len(sh.Targets), sh.Samples)
			}
			for i, index := range sh.Indices {
				if sh.Targets[2*i] != float32(index) || sh.Targets[2*i+1] != -float32(index) {
					t.Errorf("sample %d has targets %v", index, sh.Targets[2*i:2*i+2])
				}
			}
		}
	}
}

// Two sets that differ in a target differ in their hash, and a set with too few targets cannot be loaded.
func TestTargetsCount(t *testing.T) {
	a, b := measured(3), measured(3)
	b.Targets[5] = 0.5
	if a.SHA256() == b.SHA256() || a.SHA256() != measured(3).SHA256() {
		t.Errorf("hashes %s, %s, %s", a.SHA256(), b.SHA256(), measured(3).SHA256())
	}
	for want, change := range map[string]func(s *data.Set){
		"7 targets, want 2 for each sample": func(s *data.Set) { s.Targets = append(s.Targets, 1) },
		"2 labels for 3 samples":            func(s *data.Set) { s.Labels = []int32{0, 1} },
	} {
		s := measured(3)
		change(s)
		_, err := data.NewLoader(data.LoaderConfig{Set: s, Batch: 1, Shards: 1, Hi: 1})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

// The labels of a table are numbers with Options.Regression: a tenth of the rows is held out, training
// samples say the scale, a column of weights is no feature, and parts that are scored need not have it.
func TestTargetsOfATable(t *testing.T) {
	lines := []string{"size,w,price"}
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("%d,%d,%d", i, i%3, 1000*i))
	}
	folder := table(t, t.TempDir(), "houses", lines...)
	o := data.Options{Regression: true, LabelColumn: "price", WeightColumn: "w"}
	s := loadPath(t, filepath.Join(folder, "houses.csv"), o)
	if s.Train.Len() != 36 || s.Test.Len() != 4 || !s.IsHeldOut || s.Train.HasLabels() ||
		s.Train.Shape.Elems() != 1 || len(s.Train.Weights) != 36 {
		t.Fatalf("%v: %d weights", s, len(s.Train.Weights))
	}
	v := s.Train.Values[0]
	if v.Name != "price" || v != s.Test.Values[0] || s.Train.Table.Weight != "w" || s.LeftOut != "" {
		t.Errorf("values %+v and %+v, table %+v, left out %s", v, s.Test.Values, s.Train.Table, s.LeftOut)
	}
	if !strings.Contains(s.String(), "predicts price (mean ") {
		t.Errorf("described as %v", s)
	}
	for i := range s.Test.Len() { // the size of row k is k
		x := math.Float32frombits(binary.LittleEndian.Uint32(s.Test.Pixels[4*i:]))
		if s.Test.Row(i) != int(x) {
			t.Errorf("sample %d of the test has row %d, want %v", i, s.Test.Row(i), x)
		}
	}
	var sh data.Shard
	if err := s.Train.Take(&sh, 0, 36); err != nil {
		t.Fatal(err)
	}
	sum, squares := 0.0, 0.0
	for i, y := range sh.Targets {
		sum, squares = sum+float64(y), squares+float64(y*y)
		x := math.Float32frombits(binary.LittleEndian.Uint32(s.Train.Pixels[4*i:]))
		if s.Train.Targets[i] != 1000*x || s.Train.Weights[i] != float32(int(x)%3) ||
			math.Abs(float64(v.Of(y)-s.Train.Targets[i])) > 0.01 {
			t.Errorf("row of size %v: target %v, %v standardised, weight %v", x, s.Train.Targets[i], y,
				s.Train.Weights[i])
		}
	}
	if math.Abs(sum) > 1e-4 || math.Abs(squares-36) > 1e-3 {
		t.Errorf("standardised targets have the sum %v and that of squares %v", sum, squares)
	}
	split, err := s.WithValidation(0.25, 3)
	if err != nil || split.Validation.Len() != 9 || len(split.Train.Weights) != 27 ||
		len(split.Train.Targets) != 27 {
		t.Errorf("%v, error %v", split, err)
	}
	table(t, folder, "train", "size,w,price", "1,1,5", "2,0,6")
	table(t, folder, "test", "price,size", "7,3")
	if s = loadPath(t, folder, o); s.Test.Targets[0] != 7 || s.Test.Weights != nil || s.LeftOut != "" {
		t.Errorf("%v", s)
	}
	for want, line := range map[string]string{
		`line 2: label "x", want a finite number`:       "1,1,x",
		`line 2: label "", want a finite number`:        "1,1,",
		`line 2: label "1e39", want a finite number`:    "1,1,1e39",
		`line 2: "-1" is no weight; want a number of`:   "1,-1,5",
		`line 2: "" is no weight; want a number of 0 o`: "1,,5",
	} {
		bad := table(t, t.TempDir(), "bad", "size,w,price", line)
		_, err := data.Catalog{}.Load(t.Context(), filepath.Join(bad, "bad.csv"), o)
		fault := (*data.FormatError)(nil)
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	bad := table(t, t.TempDir(), "bad", "size,w,price", "1,1,")
	_, err = data.Catalog{}.Load(t.Context(), filepath.Join(bad, "bad.csv"), o)
	if err == nil || !strings.Contains(err.Error(), "or --task classification if labels are classes") {
		t.Errorf("an empty label: %v", err)
	}
	o.Regression = false
	_, err = data.Catalog{}.Load(t.Context(), filepath.Join(folder, "houses.csv"), o)
	if err == nil || !strings.Contains(err.Error(), "--task regression predicts numbers") {
		t.Errorf("prices as classes: %v", err)
	}
}

// Labels and weights of texts may have a decimal comma in a file that semicolons separate, as those of
// tables.
func TestTextsWithDecimalCommas(t *testing.T) {
	folder, o := textFolder(t, map[string]string{"train.csv": "text;label;w\na, b;1,5;0,5\nc;-2;1\n"})
	o.Regression, o.WeightColumn, o.EvalOnly = true, "w", true
	s := loadPath(t, folder, o).Train
	if !slices.Equal(s.Targets, []float32{1.5, -2}) || !slices.Equal(s.Weights, []float32{0.5, 1}) {
		t.Errorf("targets %v, weights %v", s.Targets, s.Weights)
	}
}

// Numbers that float32 tells apart badly, such as times, are named.
func TestNumbersThatFloat32TellsApartBadly(t *testing.T) {
	lines := []string{"time,size,price"}
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("%d,%d,%d", 1_700_000_000+10*i, 100+i, i))
	}
	folder := table(t, t.TempDir(), "times", lines...)
	s := loadPath(t, filepath.Join(folder, "times.csv"), data.Options{Regression: true, LabelColumn: "price"})
	const want = "time varies too little about 1.7e+09 for float32, so subtract that"
	if !strings.Contains(s.Understood, want) || strings.Contains(s.Understood, "size varies") {
		t.Errorf("understood: %s, want %s", s.Understood, want)
	}
}

// Arrays have one number or several for each sample, of any type.
func TestTargetsOfArrays(t *testing.T) {
	folder := t.TempDir()
	var labels []byte
	for i := range 20 {
		labels = binary.LittleEndian.AppendUint64(labels, math.Float64bits(float64(i)/4))
		labels = binary.LittleEndian.AppendUint64(labels, math.Float64bits(7))
	}
	writeArray(t, filepath.Join(folder, "train.npy"), "|u1", "(20, 1, 1)", make([]byte, 20))
	writeArray(t, filepath.Join(folder, "train-labels.npy"), "<f8", "(20, 2)", labels)
	s := loadPath(t, folder, data.Options{Regression: true})
	if s.Train.Len() != 18 || s.Train.NumTargets != 2 || s.Train.Values[1].Mean != 7 ||
		s.Train.Values[1].Std != 1 || s.Test.Targets[1] != 7 {
		t.Errorf("%v: %+v", s, s.Train.Values)
	}
	_, err := data.Catalog{}.Load(t.Context(), folder, data.Options{})
	if err == nil || !strings.Contains(err.Error(), "--task regression predicts numbers") {
		t.Errorf("numbers as classes: %v", err)
	}
	writeArray(t, filepath.Join(folder, "test.npy"), "|u1", "(2, 1, 1)", make([]byte, 2))
	writeArray(t, filepath.Join(folder, "test-labels.npy"), "|u1", "(2,)", []byte{3, 4})
	_, err = data.Catalog{}.Load(t.Context(), folder, data.Options{Regression: true})
	if err == nil || !strings.Contains(err.Error(), "1 targets for each sample, want 2") {
		t.Errorf("parts of one and two numbers: %v", err)
	}
}
