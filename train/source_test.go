package train_test

import (
	"errors"
	"fmt"
	"testing"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/data/photo"
	"lockstep/train"
)

// elsewhere has the images of a set, and fails from one on.
type elsewhere struct {
	set   *data.Set
	fails int
}

var errLost = errors.New("the disk is gone")

func (e elsewhere) Len() int       { return e.set.Len() }
func (e elsewhere) IsSlow() bool   { return true }
func (e elsewhere) Digest() string { return "" }

func (e elsewhere) ReadSample(dst []byte, i int) error {
	if i >= e.fails {
		return errLost
	}
	copy(dst, e.set.Pixels[i*len(dst):])
	return nil
}

// stored returns the set with its samples in a source that fails from one on.
func stored(s *data.Set, fails int) *data.Set {
	other := *s
	other.Pixels, other.Samples = nil, elsewhere{s, fails}
	return &other
}

// Samples that are read while a run trains make the bits that the same samples make in memory, with any
// number of workers, in either order.
func TestSamplesFromElsewhereChangeNoBit(t *testing.T) {
	for _, isByBlock := range []bool{false, true} {
		c := example(t, "lenet", 70, 40)
		c.ByBlock = isByBlock
		want := run(t, c, 1, 1, compute.Best())
		c.Train, c.Test = stored(c.Train, 70), stored(c.Test, 40)
		for _, workers := range []int{1, 3} {
			compareOutcomes(t, fmt.Sprintf("%d workers, by blocks %v", workers, isByBlock),
				run(t, c, workers, 1, compute.Best())[0], want[0])
		}
	}
}

// Images that are cut, coloured and mixed are the same for any number of workers, and mixing changes the
// weights.
func TestMixedSamplesOfAnyWorkers(t *testing.T) {
	c := example(t, "lenet", 70, 40)
	plain := run(t, c, 1, 1, compute.Best())[0]
	c.Augment = data.Augmentation{Cut: photo.Usual(), Mixup: 0.4, Cutmix: 1}
	want := run(t, c, 1, 1, compute.Best())[0]
	for _, workers := range []int{2, 3} {
		compareOutcomes(t, fmt.Sprintf("%d workers", workers), run(t, c, workers, 1, compute.Best())[0], want)
	}
	if plain.ParameterSHA256 == want.ParameterSHA256 {
		t.Error("mixing changes nothing")
	}
}

// A sample that cannot be read ends the run with its error, in a step or in an evaluation, and what the steps
// before it have done is kept.
func TestASampleThatCannotBeRead(t *testing.T) {
	for what, change := range map[string]func(c *train.Config){
		"training": func(c *train.Config) { c.Train = stored(c.Train, 50) },
		"test":     func(c *train.Config) { c.Test = stored(c.Test, 30) },
	} {
		c := example(t, "lenet", 70, 40)
		change(&c)
		a := &album{}
		c.Checkpointer = a
		done, err := runOne(t, c, t.Context(), nil)
		if !errors.Is(err, errLost) {
			t.Errorf("%s: error %v, want %v", what, err, errLost)
		}
		if len(a.snapshots) != 1 || a.snapshots[0].Step != done.Steps {
			t.Errorf("%s: %d snapshots after %d steps", what, len(a.snapshots), done.Steps)
		}
	}
}
