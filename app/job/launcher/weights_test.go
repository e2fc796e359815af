package launcher_test

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/tensor"
)

// trained runs short and returns where its weights are.
func trained(t *testing.T) (path string, s *record.Summary) {
	t.Helper()
	s = run(t, short(t), launcher.Options{})
	if s.Saved == nil || s.Weights != nil {
		t.Fatalf("started from %+v, saved %+v", s.Weights, s.Saved)
	}
	return s.Saved.Path, s
}

func TestEvaluationOfSavedWeights(t *testing.T) {
	path, want := trained(t)
	for name, change := range map[string]func(*setting.Config){
		"one":           func(c *setting.Config) {},
		"two processes": func(c *setting.Config) { c.Workers = 2 },
		"three here":    func(c *setting.Config) { c.Workers, c.Link = 3, "local" },
		"never":         func(c *setting.Config) { c.Workers, c.Strategy, c.Link = 2, "none", "local" },
	} {
		t.Run(name, func(t *testing.T) {
			c := short(t)
			c.Weights, c.EvalOnly = path, true
			change(&c)
			s := run(t, c, launcher.Options{})
			if s.ParameterSHA256 != want.ParameterSHA256 || *s.TestAccuracy != *want.TestAccuracy ||
				s.TestSamples != 30 || s.Steps != 0 || s.TrainAccuracy != nil || s.Saved != nil {
				t.Errorf("%+v", s)
			}
			w := s.Weights
			if w.Path != path || w.SHA256 != want.Saved.SHA256 || w.Tensors != 8 ||
				len(w.Fresh)+len(w.Unused) != 0 || !slices.Equal(w.Mean, []float32{.499, .499, .499}) {
				t.Errorf("started from %+v", w)
			}
		})
	}
}

// foreign writes lenet's weights for so many classes as PyTorch would, without our metadata.
func foreign(t *testing.T, classes int, metadata map[string]string) string {
	t.Helper()
	var entries []checkpoint.Entry
	for name, shape := range map[string]tensor.Shape{
		"conv1.weight": {6, 3, 5, 5}, "conv1.bias": {6}, "conv2.weight": {16, 6, 5, 5},
		"conv2.bias": {16}, "fc1.weight": {64, 784}, "fc1.bias": {64},
		"fc2.weight": {classes, 64}, "fc2.bias": {classes},
	} {
		entries = append(entries, checkpoint.Entry{Name: name, DType: checkpoint.F32, Shape: shape,
			Data: func(w io.Writer) error {
				text := make([]byte, 4*shape.Elems())
				for i := range shape.Elems() {
					x := float32(math.Sin(float64(i))) / 16
					binary.LittleEndian.PutUint32(text[4*i:], math.Float32bits(x))
				}
				_, err := w.Write(text)
				return err
			}})
	}
	path := filepath.Join(t.TempDir(), "foreign.safetensors")
	if _, err := checkpoint.Write(path, entries, metadata); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNormalizationFollowsTheWeights(t *testing.T) {
	own := []float32{.499, .499, .499} // glyphs'
	imagenet := []float32{.485, .456, .406}
	plain := foreign(t, 10, nil)
	says := foreign(t, 10, map[string]string{"lockstep.mean": "0.1,0.2,0.3", "lockstep.std": "1,1,1"})
	grey := foreign(t, 10, map[string]string{"lockstep.mean": "0.1", "lockstep.std": "1"})
	half := foreign(t, 10, map[string]string{"lockstep.mean": "0.1,0.2,0.3"})
	wrong := foreign(t, 10, map[string]string{"lockstep.mean": "x", "lockstep.std": "1,1,1"})
	for _, c := range []struct {
		path, normalize string
		mean            []float32
		code            int
	}{
		{plain, "auto", imagenet, 0}, {plain, "data", own, 0}, {plain, "imagenet", imagenet, 0},
		{says, "auto", []float32{.1, .2, .3}, 0}, {says, "data", own, 0}, {says, "imagenet", imagenet, 0},
		{grey, "auto", nil, job.ExitUsage}, {half, "auto", nil, job.ExitData},
		{wrong, "auto", nil, job.ExitData},
	} {
		config := short(t)
		config.Weights, config.Normalize, config.EvalOnly = c.path, c.normalize, true
		s, err := launcher.Run(t.Context(), config, launcher.Options{})
		if job.ExitCode(err) != c.code {
			t.Errorf("%s of %s: %v, want status %d", c.normalize, c.path, err, c.code)
		} else if err == nil && !slices.Equal(s.Weights.Mean, c.mean) {
			t.Errorf("%s of %s: mean %v, want %v", c.normalize, c.path, s.Weights.Mean, c.mean)
		}
	}
}

func TestFreshHeadIsReportedAndTheSameOnEveryWorker(t *testing.T) {
	path := foreign(t, 7, nil)
	c := short(t)
	c.Weights = path
	_, err := launcher.Run(t.Context(), c, launcher.Options{})
	var mismatch *checkpoint.MatchError
	if !errors.As(err, &mismatch) || job.ExitCode(err) != job.ExitData ||
		!strings.Contains(err.Error(), "fc2.bias: got F32 [7], want [10]") {
		t.Errorf("strictly: %v", err)
	}
	sums := map[string]bool{}
	for _, workers := range []int{1, 2} {
		c := short(t)
		c.Weights, c.FreshHead, c.Workers, c.Link = path, true, workers, "local"
		s := run(t, c, launcher.Options{})
		if s.Weights.Tensors != 6 || !slices.Equal(s.Weights.Fresh, []string{"fc2.weight", "fc2.bias"}) {
			t.Errorf("%d workers: %+v", workers, s.Weights)
		}
		sums[s.Saved.SHA256] = true
	}
	if len(sums) != 1 {
		t.Errorf("one and two workers saved %d different files", len(sums))
	}
}

// The worker's file must be the launcher's: here a link is turned while the data is loaded.
func TestWorkersRefuseAnotherFileThanTheLaunchers(t *testing.T) {
	link := filepath.Join(t.TempDir(), "w.safetensors")
	if err := os.Symlink(foreign(t, 10, nil), link); err != nil {
		t.Skip(err)
	}
	other := foreign(t, 10, map[string]string{"format": "pt"})
	c := short(t)
	c.Weights, c.Workers = link, 2
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// A worker starts after the launcher has read the file: the shell turns the link before it.
	turn := `ln -sf "$0" "$1"; exec "$2"`
	_, err = launcher.Run(t.Context(), c, launcher.Options{
		Worker: []string{"/bin/sh", "-c", turn, other, link, self}})
	if job.ExitCode(err) != job.ExitData ||
		!strings.Contains(err.Error(), "not the file that the run was started with: sha256 ") {
		t.Errorf("%v", err)
	}
}
