package record

import (
	"math"
	"testing"

	"lockstep/metric"
)

// Three classes, of which one is taken for another and one has no sample.
func TestScores(t *testing.T) {
	p := &metric.Predictions{NumOutputs: 3, Labels: []int32{0, 0, 1, 1, 1},
		Outputs: []float32{4, 1, 0, 3, 1, 0, 2, 1, 0, 0, 5, 0, 3, 2, 1}}
	s := ScoresOf(p, []string{"cat", "dog", "owl"}, func(i int) int { return 10 + i })
	if got := s.Confusion[1]; got[0] != 2 || got[1] != 1 || got[2] != 0 {
		t.Errorf("dogs are taken for %v", got)
	}
	dog, owl := s.Classes[1], s.Classes[2]
	if dog.Samples != 3 || dog.Predicted != 1 || dog.Precision != 1 ||
		math.Abs(float64(dog.Recall)-1./3) > 1e-15 {
		t.Errorf("dog %+v", dog)
	}
	if !math.IsNaN(float64(owl.ROCAUC)) || !math.IsNaN(float64(s.TopFive)) {
		t.Errorf("owl %+v, top five %v: want no figure", owl, s.TopFive)
	}
	if len(s.Worst) != 1 || s.Worst[0].Count != 2 || len(s.Worst[0].Examples) != 2 ||
		s.Worst[0].Examples[0] != 12 || s.Worst[0].Examples[1] != 14 {
		t.Errorf("mistakes %+v", s.Worst)
	}
	if ScoresOf(nil, nil, nil) != nil || ScoresOf(p, []string{"cat"}, nil) != nil {
		t.Error("scores of nothing")
	}
}
