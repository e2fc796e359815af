package data_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"testing"

	"lockstep/data"
)

// generate returns generated sets of these sizes.
func generate(t testing.TB, name string, trainSize, testSize int) (train, test *data.Set) {
	t.Helper()
	train, test, err := data.Load(context.Background(), name,
		data.Options{TrainSize: trainSize, TestSize: testSize})
	if err != nil {
		t.Fatal(err)
	}
	return train, test
}

// The same bits on every processor: the hash was made on amd64 and holds wherever the test runs.
func TestGlyphsGolden(t *testing.T) {
	train, test := generate(t, "glyphs", 100, 50)
	hash := sha256.New()
	for _, s := range []*data.Set{train, test} {
		hash.Write(s.Pixels)
		for _, label := range s.Labels {
			hash.Write([]byte{byte(label)})
		}
	}
	const want = "13249a7d47cbe796569946b303c8f429c8ebc91c10eff24903351d55f0d82e3f"
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		t.Errorf("sha256 of 100 + 50 glyphs is %s, want %s", got, want)
	}
}

func TestGlyphsDependOnSeedAndIndexAlone(t *testing.T) {
	few, _ := generate(t, "glyphs", 30, 1)
	many, _ := generate(t, "glyphs", 600, 1)
	if !slices.Equal(few.Pixels, many.Pixels[:len(few.Pixels)]) {
		t.Error("the first 30 images change with the size of the set")
	}
	other, _, err := data.Load(context.Background(), "glyphs",
		data.Options{Seed: 1, TrainSize: 30, TestSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(few.Pixels, other.Pixels) {
		t.Error("seeds 0 and 1 give the same images")
	}
}

func TestGlyphsAreLabelledBalancedAndDistinct(t *testing.T) {
	train, test := generate(t, "glyphs", 1000, 300)
	seen := map[string]bool{}
	for _, s := range []*data.Set{train, test} {
		if !s.Generated || s.Name != "glyphs" || s.Source == "" {
			t.Errorf("set is not marked as generated: %v, %q, %q", s.Generated, s.Name, s.Source)
		}
		counts := make([]int, 10)
		for i, label := range s.Labels {
			counts[label]++
			image := string(s.Pixels[i*s.Shape.Elems() : (i+1)*s.Shape.Elems()])
			if seen[image] {
				t.Fatalf("image %d occurs twice", i)
			}
			seen[image] = true
		}
		if slices.Min(counts) != s.Len()/10 || slices.Max(counts) != s.Len()/10 {
			t.Errorf("label counts %v, want %d each", counts, s.Len()/10)
		}
	}
}

func TestGlyphsMeanAndDeviation(t *testing.T) {
	s, _ := generate(t, "glyphs", 2000, 1)
	mean, deviation := moments(s)
	for c := range 3 {
		if math.Abs(mean[c]-float64(s.Mean[c])) > 0.01 ||
			math.Abs(deviation[c]-float64(s.Std[c])) > 0.01 {
			t.Errorf("channel %d: mean %.4f, deviation %.4f; the set says %.4f, %.4f",
				c, mean[c], deviation[c], s.Mean[c], s.Std[c])
		}
	}
}

// moments returns mean and standard deviation of each channel, of pixels in [0, 1].
func moments(s *data.Set) (mean, deviation []float64) {
	channels := s.Shape[2]
	mean, deviation = make([]float64, channels), make([]float64, channels)
	for i, b := range s.Pixels {
		v := float64(b) / 255
		mean[i%channels] += v
		deviation[i%channels] += v * v
	}
	n := float64(len(s.Pixels) / channels)
	for c := range channels {
		mean[c] /= n
		deviation[c] = math.Sqrt(deviation[c]/n - mean[c]*mean[c])
	}
	return mean, deviation
}

// A model that is linear in the pixels must not do: there would be nothing to learn for a network.
func TestGlyphsDefeatLinearModel(t *testing.T) {
	numTrain, epochs := 3000, 5
	if testing.Short() {
		numTrain, epochs = 1000, 2
	}
	train, test := generate(t, "glyphs", numTrain, 500)
	accuracy := linearAccuracy(t, train, test, epochs)
	t.Logf("softmax regression, %d images, %d epochs: %.1f %%", numTrain, epochs, 100*accuracy)
	if accuracy > 0.6 || accuracy < 0.05 {
		t.Errorf("linear model reaches %.1f %%, want 5 to 60", 100*accuracy)
	}
}

// linearAccuracy trains softmax regression by stochastic gradient descent, one sample at a time,
// and returns its accuracy on test.
func linearAccuracy(t *testing.T, train, test *data.Set, epochs int) float64 {
	elems := train.Shape.Elems()
	weights := make([]float32, 10*elems)
	var sh data.Shard
	scores := make([]float32, 10)
	score := func(s *data.Set, i int) {
		if err := s.Take(&sh, i, i+1); err != nil {
			t.Fatal(err)
		}
		for k := range scores {
			sum := float32(0)
			for j, x := range sh.Images {
				sum += weights[k*elems+j] * x
			}
			scores[k] = sum
		}
	}
	for epoch := range epochs {
		rate := 0.0005 / float32(epoch+1)
		for i := range train.Len() {
			score(train, i)
			largest, total := slices.Max(scores), float32(0)
			for k, s := range scores {
				scores[k] = float32(math.Exp(float64(s - largest)))
				total += scores[k]
			}
			for k := range scores {
				slope := scores[k] / total
				if k == int(sh.Labels[0]) {
					slope--
				}
				row := weights[k*elems:][:elems]
				for j, x := range sh.Images {
					row[j] -= rate * slope * x
				}
			}
		}
	}
	correct := 0
	for i := range test.Len() {
		score(test, i)
		if slices.Index(scores, slices.Max(scores)) == int(sh.Labels[0]) {
			correct++
		}
	}
	return float64(correct) / float64(test.Len())
}

func BenchmarkGlyphs(b *testing.B) {
	const n = 1000
	for b.Loop() {
		generate(b, "glyphs", n, 1)
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "images/s")
}
