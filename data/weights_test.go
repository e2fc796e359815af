package data_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
)

// All classes that have samples count alike, as with scikit-learn's class_weight="balanced".
func TestBalancedClassWeights(t *testing.T) {
	s := indexed(10)
	s.Classes = []string{"a", "b", "c"}
	s.Labels = []int32{0, 0, 0, 0, 0, 0, 0, 0, 2, 2}
	if got := s.BalancedClassWeights(); !slices.Equal(got, []float32{10. / 16, 0, 10. / 4}) {
		t.Errorf("weights %v", got)
	}
}

// The weights of a step are divided by their mean over the global batch, whichever shards a worker has.
func TestLoaderWeighsSamples(t *testing.T) {
	s := indexed(20)
	s.Weights = make([]float32, 20)
	for i := range s.Weights {
		s.Weights[i] = float32(i % 5)
	}
	hash := s.SHA256()
	for _, run := range [][2]int{{0, 3}, {0, 1}, {1, 3}} {
		l, err := data.NewLoader(data.LoaderConfig{Set: s, Batch: 9, Shards: 3, Lo: run[0], Hi: run[1],
			ToStep: 6})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for range 6 {
			step, err := l.Next()
			if err != nil {
				t.Fatal(err)
			}
			sum, n := 0.0, 0
			for _, sh := range step.Shards {
				for i, w := range sh.Weights {
					if sum += float64(w); (w == 0) != (sh.Indices[i]%5 == 0) {
						t.Errorf("sample %d has weight %v", sh.Indices[i], w)
					}
				}
				n += len(sh.Weights)
			}
			isAll := run == [2]int{0, 3}
			if isAll && (n != step.Samples || math.Abs(sum/float64(n)-1) > 1e-6) {
				t.Errorf("step %d: %d of %d weights, their sum %v", step.Number, n, step.Samples, sum)
			}
		}
	}
	if some := s.Pick([]int32{3, 4}); !slices.Equal(some.Weights, []float32{3, 4}) {
		t.Errorf("weights %v of picked samples", some.Weights)
	}
	if few := s.Limit(2); len(few.Weights) != 2 {
		t.Errorf("weights %v of the first two", few.Weights)
	}
	s.Weights[7] = 9
	if s.SHA256() == hash {
		t.Error("other weights have the same hash")
	}
	s.Weights[7] = float32(math.NaN())
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "weight NaN of sample 7") {
		t.Errorf("error %v", err)
	}
}

func TestReadClassWeights(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weights.csv")
	read := func(text string) ([]float32, error) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return data.ReadClassWeights(path, []string{"cat", "dog, old", "7"})
	}
	for _, text := range []string{"cat,1\n\"dog, old\",2.5\n7,0\n",
		"class,weight\n7, 0\ncat, 1\n\"dog, old\", 2.5", "\ufeffcat;1\n7;0,0\ndog, old;2,5\n"} {
		if got, err := read(text); err != nil || !slices.Equal(got, []float32{1, 2.5, 0}) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	lines := path + ".jsonl"
	text := `{"class":7,"weight":0}` + "\n" + `{"class":"cat","weight":2}`
	if err := os.WriteFile(lines, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := data.ReadClassWeights(lines, []string{"cat", "7"}); err != nil ||
		!slices.Equal(got, []float32{2, 0}) {
		t.Errorf("of JSONL: %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"":                                 `class "cat" has no weight`,
		"cat,1\n7,1\n":                     `class "dog, old" has no weight`,
		"cat,1\ncow,2\n":                   `line 2: "cow" is none of the classes: cat, dog, old, 7`,
		"cat,1\ncat,2\n":                   `line 2: a second weight of "cat", after that in line 1`,
		"cat,-1\n":                         `line 1: "-1" is no weight`,
		"cat,inf\n":                        `line 1: "inf" is no weight`,
		"cat,much\n":                       `line 1: "much" is no weight`,
		"cat\n":                            "want a class and its weight",
		"cat,0\n7,0\n\"dog, old\",0\n":     "all weights are 0",
		"cat,1\n\"dog, old,2\n7,0\n\n\n\n": "line 2: quote that nothing closes",
	} {
		var wrong *data.FormatError
		if got, err := read(text); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, error %v, want %q", text, got, err, want)
		}
	}
	var missing *data.ReadError
	if _, err := data.ReadClassWeights(path+".not", []string{"a"}); !errors.As(err, &missing) {
		t.Errorf("error %v of a missing file", err)
	}
}
