package worker

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/data"
)

// Texts are padded to the longest of their batch, and second parts of pairs are marked.
func TestTextsOfABatch(t *testing.T) {
	s := data.Shard{Samples: 2, Tokens: []int32{7, 8, 9, 5, 6}, Lengths: []int32{3, 2}, Splits: []int32{1, 0}}
	want := map[string][]int64{"batch.3.tokens": {7, 8, 9, 5, 6, 0}, "batch.3.lengths": {3, 2},
		"batch.3.kinds": {0, 1, 1, 0, 0, 0}}
	for _, e := range textsOf(3, s) {
		var text bytes.Buffer
		if err := e.Data(&text); err != nil {
			t.Fatal(err)
		}
		got := make([]int64, e.Shape.Elems())
		err := binary.Read(&text, binary.LittleEndian, got)
		if err != nil || !slices.Equal(got, want[e.Name]) {
			t.Errorf("%s %v: %v, error %v, want %v", e.Name, e.Shape, got, err, want[e.Name])
		}
		delete(want, e.Name)
	}
	if len(want) > 0 {
		t.Errorf("no %v", want)
	}
	s.Splits = []int32{0, 0}
	if entries := textsOf(0, s); len(entries) != 2 {
		t.Errorf("%d tensors without pairs, want tokens and lengths", len(entries))
	}
}

// All batches of a run are written, or those that fit, in whole epochs.
func TestSampledBatches(t *testing.T) {
	const batch, bytes = 16, 16 * (3*32*32*4 + 8)
	for _, test := range []struct {
		limit, steps int
		b            Batches
		want         []int // samples of each
	}{
		{40, 7, Batches{2, 100 * bytes}, []int{16, 16, 8, 16, 16, 8, 16}},
		{40, 7, Batches{2, 6*bytes - 1}, []int{16, 16, 8, 16, 16, 8}},
		{40, 7, Batches{2, 4 * bytes}, []int{16, 16, 8}},
		{40, 7, Batches{2, bytes}, []int{16, 16}},
		{40, 1, Batches{2, bytes}, []int{16, 16}},
		{160, 7, Batches{2, 5 * bytes}, []int{16, 16, 16, 16, 16}},
	} {
		c := setting.Default()
		c.LimitTrain, c.Steps, c.Batch = test.limit, test.steps, batch
		path := filepath.Join(t.TempDir(), "sample.safetensors")
		about, err := Sample(t.Context(), c, nil, test.b, path)
		if err != nil {
			t.Fatal(err)
		}
		found, err := checkpoint.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for labels, isThere := found.Find("batch.0.labels"); isThere; {
			got = append(got, labels.Shape[0])
			labels, isThere = found.Find(fmt.Sprintf("batch.%d.labels", len(got)))
		}
		found.Close()
		if !slices.Equal(got, test.want) || about.Batches != len(got) || about.Samples != test.limit {
			t.Errorf("%d samples, %d steps, %+v: batches of %v, %+v, want %v", test.limit, test.steps, test.b,
				got, about, test.want)
		}
	}
}
