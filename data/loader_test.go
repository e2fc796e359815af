package data_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"lockstep/data"
	"lockstep/data/photo"
	"lockstep/internal/alloctest"
	"lockstep/shard"
	"lockstep/tensor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A loader returns the steps that are sought, in any order, those that it has prepared ahead for
// nothing included, and ends after the last one.
func TestSeek(t *testing.T) {
	set := indexed(37)
	config := data.LoaderConfig{Set: set, Batch: 8, Shards: 2, Hi: 2, Seed: 5, ToStep: 15}
	all := map[int][]int32{}
	for step := range config.ToStep {
		all[step] = soughtIndices(t, config, []int{step})[0]
	}
	for _, steps := range [][]int{{0, 4, 8, 12}, {14, 0, 1, 2, 7, 6, 5, 14, 14, 3}, {2, 3, 4, 9, 14, 13}} {
		for _, config.IsSought = range []bool{true, false} {
			for i, got := range soughtIndices(t, config, steps) {
				if !slices.Equal(got, all[steps[i]]) {
					t.Errorf("steps %v: step %d has samples %v, want %v", steps, steps[i], got, all[steps[i]])
				}
			}
		}
	}
	l, err := data.NewLoader(config)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.Seek(14)
	if _, err := l.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Next(); err != io.EOF {
		t.Errorf("after the last step: got %v, want EOF", err)
	}
}

// A step that is prepared while it is being sought is not taken for one of those before it.
func TestSeekKeepsWhatItSeeks(t *testing.T) {
	config := data.LoaderConfig{Set: indexed(37), Batch: 8, Shards: 2, Hi: 2, Seed: 5}
	steps := make([]int, 20_000)
	for i := range steps {
		steps[i] = i * 7 % 15
	}
	for _, config.IsSought = range []bool{true, false} {
		if got := soughtIndices(t, config, steps); len(got) != len(steps) {
			t.Errorf("%d of %d steps", len(got), len(steps))
		}
	}
}

// soughtIndices returns the samples of the steps that a loader is asked for.
func soughtIndices(t *testing.T, c data.LoaderConfig, steps []int) (samples [][]int32) {
	t.Helper()
	l, err := data.NewLoader(c)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, step := range steps {
		l.Seek(step)
		s, err := l.Next()
		if err != nil || s.Number != step {
			t.Fatalf("seek %d: got %+v, %v", step, s, err)
		}
		var all []int32
		for _, sh := range s.Shards {
			all = append(all, sh.Indices...)
		}
		samples = append(samples, all)
	}
	return samples
}

// indexed returns n images [1, 2, 1] that spell their own index, normalised to themselves.
func indexed(n int) *data.Set {
	s := &data.Set{Name: "indexed", Shape: tensor.Shape{1, 2, 1}, Classes: []string{"only"},
		Pixels: make([]byte, 2*n), Labels: make([]int32, n),
		Mean: []float32{0}, Std: []float32{1.0 / 255}}
	for i := range n {
		s.Pixels[2*i], s.Pixels[2*i+1] = byte(i), byte(i>>8)
	}
	return s
}

// indexedTexts returns n texts of uneven lengths that consist of their own index, most of them pairs.
func indexedTexts(n int) *data.Set {
	s := &data.Set{Name: "indexed", Classes: []string{"only"}, Labels: make([]int32, n),
		Shape: tensor.Shape{29}, Texts: &data.Texts{Vocabulary: n}}
	for i := range n {
		for range 1 + i*i%29 {
			s.Texts.Tokens = append(s.Texts.Tokens, int32(i))
		}
		s.Texts.Ends = append(s.Texts.Ends, len(s.Texts.Tokens))
		s.Texts.Splits = append(s.Texts.Splits, int32(i%s.Texts.Length(i)))
	}
	return s
}

// indices returns the samples of a shard of an indexed set.
func indices(t rapid.TB, set *data.Set, sh data.Shard) []int {
	var samples []int
	if set.Texts == nil {
		for j := range sh.Samples {
			samples = append(samples, int(sh.Images[2*j]+0.5)+256*int(sh.Images[2*j+1]+0.5))
		}
		return samples
	}
	at := 0
	for i, n := range sh.Lengths {
		sample := int(sh.Tokens[at])
		if !slices.Equal(sh.Tokens[at:at+int(n)], set.Texts.At(sample)) {
			t.Fatalf("tokens %v are not text %d", sh.Tokens[at:at+int(n)], sample)
		}
		if got, want := sh.Splits[i], set.Texts.Split(sample); got != want {
			t.Fatalf("text %d splits at %d, want %d", sample, got, want)
		}
		samples = append(samples, sample)
		at += int(n)
	}
	if at != len(sh.Tokens) || len(sh.Lengths) != sh.Samples || len(sh.Splits) != sh.Samples {
		t.Fatalf("%d tokens in %d texts, want %d, %d", len(sh.Tokens), len(sh.Lengths), at, sh.Samples)
	}
	return samples
}

// epoch runs one loader over all steps of one epoch and returns the samples of each of its shards,
// [step][shard], and the coverage hash.
func epoch(t rapid.TB, set *data.Set, batch, shards, lo, hi, epoch int) ([][][]int, uint64) {
	steps := data.NewSampler(set.Len(), batch, shards, 3).StepsPerEpoch()
	l, err := data.NewLoader(data.LoaderConfig{Set: set, Batch: batch, Shards: shards,
		Lo: lo, Hi: hi, Seed: 3, FromStep: epoch * steps, ToStep: (epoch + 1) * steps})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var got [][][]int
	coverage := uint64(0)
	for number := epoch * steps; ; number++ {
		s, err := l.Next()
		if err == io.EOF {
			return got, coverage
		} else if err != nil {
			t.Fatal(err)
		}
		if s.Number != number || s.Epoch != epoch || s.InEpoch != number%steps {
			t.Fatalf("step %d is epoch %d, step %d there; want step %d",
				s.Number, s.Epoch, s.InEpoch, number)
		}
		var step [][]int
		for i, sh := range s.Shards {
			if sh.Number != lo+i || sh.Samples != shard.Samples(s.Samples, shards, sh.Number) {
				t.Fatalf("shard %d has %d samples", sh.Number, sh.Samples)
			}
			step = append(step, indices(t, set, sh))
			coverage += sh.Coverage()
		}
		got = append(got, step)
	}
}

func TestEverySampleOncePerEpochWhateverTheWorkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "samples")
		shards := rapid.IntRange(1, 9).Draw(t, "shards")
		batch := rapid.IntRange(shards, 60).Draw(t, "batch")
		workers := rapid.IntRange(1, shards).Draw(t, "workers")
		number := rapid.IntRange(0, 3).Draw(t, "epoch")
		set := indexed(n)
		if rapid.Bool().Draw(t, "texts") {
			set = indexedTexts(n)
		}
		whole, _ := epoch(t, set, batch, shards, 0, shards, number)

		plan, err := shard.Cut(shards, workers)
		if err != nil {
			t.Fatal(err)
		}
		seen, total := make([]int, n), uint64(0)
		for rank := range workers {
			lo, hi := plan.Run(rank)
			part, coverage := epoch(t, set, batch, shards, lo, hi, number)
			total += coverage
			for step := range part {
				for i, samples := range part[step] {
					if !slices.Equal(samples, whole[step][lo+i]) {
						t.Fatalf("step %d, shard %d: %v with %d workers, %v with one",
							step, lo+i, samples, workers, whole[step][lo+i])
					}
					for _, s := range samples {
						seen[s]++
					}
				}
			}
		}
		for s, k := range seen {
			if k != 1 {
				t.Fatalf("sample %d used %d times", s, k)
			}
		}
		if total != data.Coverage(n) {
			t.Fatalf("coverage %#x, want %#x", total, data.Coverage(n))
		}
	})
}

func TestCoverageSeesAMissingAndADoubleSample(t *testing.T) {
	if data.Coverage(5) == data.Coverage(4) || data.Coverage(0) != 0 {
		t.Error("coverage does not depend on the samples")
	}
	a, _ := epoch(t, indexed(40), 8, 2, 0, 1, 0)
	_, half := epoch(t, indexed(40), 8, 2, 0, 1, 0)
	if len(a) != 5 || half+half == data.Coverage(40) {
		t.Error("half of the samples twice has the hash of all samples")
	}
}

// A loader that starts later gives the same steps as one that got there.
func TestFromStepContinuesExactly(t *testing.T) {
	config := data.LoaderConfig{Set: tiny(50, tensor.Shape{6, 6, 3}), Batch: 16, Shards: 3, Lo: 1, Hi: 3,
		Seed: 9, Augment: data.Augmentation{Pad: 2, Flip: true, Cutout: 3}, ToStep: 11}
	texts := config
	texts.Set, texts.Augment = indexedTexts(50), data.Augmentation{}
	for _, config := range []data.LoaderConfig{config, texts} {
		want := contents(t, config)
		for from := range 11 {
			config.FromStep = from
			if got := contents(t, config); !slices.Equal(got, want[from:]) {
				t.Fatalf("steps from %d differ from those of a run from the start", from)
			}
		}
	}
}

// Several threads fill the same images, and looking at the step to come changes none.
func TestThreadsAndAheadChangeNothing(t *testing.T) {
	config := data.LoaderConfig{Set: tiny(50, tensor.Shape{6, 6, 3}), Batch: 16, Shards: 3, Lo: 1, Hi: 3,
		Seed: 9, Augment: data.Augmentation{Pad: 2, Flip: true, Cutout: 3}, ToStep: 11}
	want := contents(t, config)
	config.Threads = 3
	if got := contents(t, config); !slices.Equal(got, want) {
		t.Error("three threads give other steps than one")
	}
	l, err := data.NewLoader(config)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	seen := 0
	for n := range 11 {
		ahead, isReady := l.Ahead()
		again, _ := l.Ahead()
		s, err := l.Next()
		if err != nil || s.Number != n {
			t.Fatalf("step %d: %v, %v", n, s, err)
		}
		if isReady {
			seen++
			if ahead != s || again != s {
				t.Errorf("step %d is another than the one ahead", n)
			}
		}
		time.Sleep(time.Millisecond) // so that the next one is ready
	}
	if _, isReady := l.Ahead(); isReady || seen == 0 {
		t.Errorf("%d of 11 steps seen ahead, and one after the last: %v", seen, isReady)
	}
	l.Seek(4)
	for n := 4; n < 6; n++ {
		time.Sleep(time.Millisecond)
		l.Ahead()
		if s, err := l.Next(); err != nil || s.Number != n {
			t.Fatalf("after a seek: %v, %v, want step %d", s, err, n)
		}
	}
	l.Ahead()
	l.Seek(9) // drops what was ahead
	if s, err := l.Next(); err != nil || s.Number != 9 {
		t.Fatalf("after a seek: %v, %v, want step 9", s, err)
	}
}

// contents returns all a loader gives, one string per step.
func contents(t *testing.T, c data.LoaderConfig) []string {
	t.Helper()
	l, err := data.NewLoader(c)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var steps []string
	for {
		s, err := l.Next()
		if err == io.EOF {
			return steps
		} else if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintln(s.Number, s.Epoch, s.InEpoch, s.Samples)
		for _, sh := range s.Shards {
			text += fmt.Sprintln(sh.Number, sh.Samples, sh.Labels, sh.Images, sh.Tokens, sh.Lengths)
		}
		steps = append(steps, text)
	}
}

func TestLoaderAugmentsByEpochAndSample(t *testing.T) {
	set := tiny(6, tensor.Shape{5, 5, 3})
	a := data.Augmentation{Pad: 1, Flip: true, Cutout: 2}
	l, err := data.NewLoader(data.LoaderConfig{Set: set, Batch: 6, Shards: 1, Hi: 1, Seed: 4,
		Augment: a, ToStep: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	order, want := make([]int32, 6), make([]float32, 75)
	for e := range 3 {
		s, err := l.Next()
		if err != nil {
			t.Fatal(err)
		}
		data.NewSampler(6, 6, 1, 4).Order(order, e)
		for i, index := range order {
			dy, dx, flip := a.Draw(4, e, int(index))
			set.Place(want, set.Pixels[index*75:(index+1)*75], dy, dx, flip)
			top, bottom, left, right := a.DrawHole(4, e, int(index), 5, 5)
			for y := top; y < bottom; y++ {
				clear(want[(y*5+left)*3 : (y*5+right)*3])
			}
			if !slices.Equal(s.Shards[0].Images[i*75:(i+1)*75], want) ||
				s.Shards[0].Labels[i] != int32(set.Labels[index]) {
				t.Fatalf("epoch %d, sample %d is not its augmented self", e, index)
			}
		}
	}
}

func TestLoaderSteadyStateAllocatesNothing(t *testing.T) {
	images := data.LoaderConfig{Set: tiny(64, tensor.Shape{8, 8, 3}), Batch: 20, Shards: 3, Hi: 3,
		Augment: data.Augmentation{Pad: 2, Flip: true, Cutout: 4}}
	texts := data.LoaderConfig{Set: indexedTexts(64), Batch: 20, Shards: 3, Hi: 3}
	mixed := images
	mixed.Augment = data.Augmentation{Cut: photo.Usual(), Flip: true, Mixup: 0.4, Cutmix: 1,
		Jitter: photo.Jitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.1}}
	late := images
	late.Pace = data.Pace{Factor: 2, Delay: time.Microsecond}
	for _, config := range []data.LoaderConfig{images, texts, mixed, late} {
		l, err := data.NewLoader(config)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		next := func() {
			if _, err := l.Next(); err != nil {
				t.Fatal(err)
			}
		}
		for range 8 { // over the end of an epoch
			next()
		}
		if n := alloctest.Least(40, next); n != 0 {
			t.Errorf("%s: %v allocations per step, want 0", config.Set.Name, n)
		}
	}
}

// A loader that was made slower takes that long for each step, and ends without waiting.
func TestPace(t *testing.T) {
	const delay = 10 * time.Millisecond
	l, err := data.NewLoader(data.LoaderConfig{Set: indexed(100), Batch: 4, Shards: 2, Hi: 2,
		Pace: data.Pace{Factor: 1.5, Delay: delay}})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for range 5 {
		if _, err := l.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took < 5*delay {
		t.Errorf("5 steps took %v, want at least %v", took, 5*delay)
	}
	l.Close()
	l, err = data.NewLoader(data.LoaderConfig{Set: indexed(100), Batch: 4, Shards: 2, Hi: 2,
		Pace: data.Pace{Delay: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // goleak and the test's time say whether it ended
}

func TestCloseEndsAnUnfinishedLoader(t *testing.T) {
	for taken := range 5 {
		l, err := data.NewLoader(data.LoaderConfig{Set: indexed(100), Batch: 4, Shards: 2, Hi: 2})
		if err != nil {
			t.Fatal(err)
		}
		for range taken {
			if _, err := l.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(l.Close(), l.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Next(); err == nil || err == io.EOF {
			t.Errorf("next after close: %v", err)
		}
	}
}

func TestLoaderConfigIsChecked(t *testing.T) {
	good := data.LoaderConfig{Set: indexed(10), Batch: 4, Shards: 2, Hi: 2, ToStep: 1}
	broken := *good.Set
	broken.Pixels = broken.Pixels[1:]
	for want, change := range map[string]func(*data.LoaderConfig){
		"no samples":          func(c *data.LoaderConfig) { c.Set = good.Set.Limit(0) },
		"batch 1 in 2 shards": func(c *data.LoaderConfig) { c.Batch = 1 },
		"run [2, 2)":          func(c *data.LoaderConfig) { c.Lo = 2 },
		"run [0, 3)":          func(c *data.LoaderConfig) { c.Hi = 3 },
		"steps [5, 1)":        func(c *data.LoaderConfig) { c.FromStep = 5 },
		"padding -1":          func(c *data.LoaderConfig) { c.Augment.Pad = -1 },
		"cutout -2":           func(c *data.LoaderConfig) { c.Augment.Cutout = -2 },
		"augmentation of texts": func(c *data.LoaderConfig) {
			c.Set, c.Augment.Flip = indexedTexts(9), true
		},
		"text 3 is tokens": func(c *data.LoaderConfig) {
			c.Set = indexedTexts(9)
			c.Set.Texts.Ends[3] = c.Set.Texts.Ends[2]
		},
		"token 0 is -1, want 0 to 8": func(c *data.LoaderConfig) {
			c.Set = indexedTexts(9)
			c.Set.Texts.Tokens[0] = -1
		},
		"text 4 of 17 tokens splits at 17": func(c *data.LoaderConfig) {
			c.Set = indexedTexts(9)
			c.Set.Texts.Splits[4] = 17
		},
		"8 splits, want one for each of 9 texts": func(c *data.LoaderConfig) {
			c.Set = indexedTexts(9)
			c.Set.Texts.Splits = c.Set.Texts.Splits[:8]
		},
		"19 bytes of pixels": func(c *data.LoaderConfig) { c.Set = &broken },
	} {
		c := good
		change(&c)
		if _, err := data.NewLoader(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A batch holds texts of similar length, its shards about as many tokens, and its place in the
// epoch says nothing about its length.
func TestBatchesByLength(t *testing.T) {
	const n, batch, shards = 6000, 32, 5
	texts := indexedTexts(n).Texts
	s := data.NewSampler(n, batch, shards, 1).ByLength(texts)
	order := make([]int32, n)
	s.Order(order, 2)
	spread, uneven, fromFirst := 0, 0, 0
	steps := s.StepsPerEpoch()
	for step := range steps - 1 { // the last batch is a random one
		shortest, longest, fewest, most := 1000, 0, 1000, 0
		for v := range shards {
			lo, hi := s.Range(step, v)
			tokens := 0
			for _, i := range order[lo:hi] {
				k := texts.Length(int(i))
				shortest, longest, tokens = min(shortest, k), max(longest, k), tokens+k
			}
			fewest, most = min(fewest, tokens*shards/(hi-lo)), max(most, tokens*shards/(hi-lo))
		}
		spread, uneven = spread+longest-shortest, uneven+most-fewest
		if step < steps/2 {
			fromFirst += longest
		} else {
			fromFirst -= longest
		}
	}
	if mean := float64(spread) / float64(steps); mean > 2 {
		t.Errorf("lengths in a batch differ by %.2f on average, want at most 2", mean)
	}
	if mean := float64(uneven) / float64(steps); mean > 1.5 {
		t.Errorf("5 texts in one shard have %.2f tokens more than in another, want at most 1.5", mean)
	}
	if mean := float64(fromFirst) / float64(steps); mean < -2 || mean > 2 {
		t.Errorf("texts of the first half are %.2f longer, want about 0", mean)
	}
}

// What evaluation takes is what the set holds, in order, whatever was taken before.
func TestTakeReadsInOrder(t *testing.T) {
	for _, set := range []*data.Set{indexed(40), indexedTexts(40)} {
		var sh data.Shard
		for _, c := range [][2]int{{0, 7}, {7, 8}, {8, 40}, {3, 3}, {0, 40}} {
			set.Take(&sh, c[0], c[1])
			got := indices(t, set, sh)
			if len(got) != c[1]-c[0] || len(sh.Labels) != len(got) {
				t.Fatalf("[%d, %d): %v", c[0], c[1], got)
			}
			for i, sample := range got {
				if sample != c[0]+i {
					t.Fatalf("[%d, %d): sample %d at %d", c[0], c[1], sample, i)
				}
			}
		}
		if n := alloctest.Least(5, func() { set.Take(&sh, 0, 40) }); n != 0 {
			t.Errorf("%v allocations, want 0", n)
		}
	}
}

func BenchmarkLoader(b *testing.B) {
	set, _ := generate(b, "glyphs", 2000, 1)
	for name, a := range map[string]data.Augmentation{"plain": {}, "crop-flip": {Pad: 4, Flip: true}} {
		b.Run(name, func(b *testing.B) {
			const batch = 250
			l, err := data.NewLoader(data.LoaderConfig{Set: set, Batch: batch, Shards: 1, Hi: 1,
				Augment: a})
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			for b.Loop() {
				if _, err := l.Next(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(batch*b.N)/b.Elapsed().Seconds(), "images/s")
		})
	}
}
