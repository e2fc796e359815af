package job

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

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
