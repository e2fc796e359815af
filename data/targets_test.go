package data_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/data"
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
