package data_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
	"lockstep/data/photo"
	columns "lockstep/data/table"
	"lockstep/random"
	"lockstep/tensor"
)

// step returns a loader's step of all of its shards, or of those from lo to hi.
func firstStep(t *testing.T, set *data.Set, a data.Augmentation, lo, hi, threads int) *data.Step {
	t.Helper()
	l, err := data.NewLoader(data.LoaderConfig{Set: set, Batch: 12, Shards: 3, Lo: lo, Hi: hi, Seed: 5,
		Augment: a, FromStep: 1, Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s, err := l.Next()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each sample is, by its share, itself and the next of its shard, in colours as in classes; the classes
// change places if the other has more of it. Workers that have some of the shards get the same.
func TestMixing(t *testing.T) {
	shape := tensor.Shape{6, 5, 3}
	set, elems := tiny(36, shape), shape.Elems()
	set.Classes = make([]string, 36)
	for i := range set.Labels {
		set.Labels[i] = int32(i) // so that classes tell samples apart
	}
	plain := firstStep(t, set, data.Augmentation{}, 0, 3, 1)
	for name, a := range map[string]data.Augmentation{"mixup": {Mixup: 1}, "cutmix": {Cutmix: 1},
		"both": {Mixup: 0.4, Cutmix: 1}} {
		mixed := firstStep(t, set, a, 0, 3, 2)
		numCut, numMean := 0, 0
		for v, sh := range mixed.Shards {
			before := plain.Shards[v]
			if len(sh.Others) != sh.Samples || len(sh.Shares) != sh.Samples {
				t.Fatalf("%s: %d others, %d shares", name, len(sh.Others), len(sh.Shares))
			}
			for i := range sh.Samples {
				next := (i + 1) % sh.Samples
				own, other := before.Images[i*elems:(i+1)*elems], before.Images[next*elems:(next+1)*elems]
				share, isOwn := sh.Shares[i], sh.Labels[i] == before.Labels[i]
				if share < 0.5 || share > 1 {
					t.Errorf("%s: a share of %v", name, share)
				}
				if !isOwn {
					share = 1 - share
				}
				want := []int32{before.Labels[i], before.Labels[next]}
				if got := []int32{sh.Labels[i], sh.Others[i]}; !slices.Equal(got, want) &&
					!slices.Equal(got, []int32{want[1], want[0]}) {
					t.Errorf("%s: classes %v, want %v", name, got, want)
				}
				isCut, fromOther := true, 0
				for k, x := range sh.Images[i*elems : (i+1)*elems] {
					switch {
					case x == other[k] && x != own[k]:
						fromOther++
					case x != own[k]:
						isCut = false
						if mean := share*own[k] + (1-share)*other[k]; math.Abs(float64(x-mean)) > 1e-5 {
							t.Fatalf("%s: element %d is %v, want %v", name, k, x, mean)
						}
					}
				}
				if !isCut {
					numMean++
				} else if numCut++; math.Abs(float64(fromOther)/float64(elems)-float64(1-share)) > 1e-6 {
					t.Errorf("%s: %d of %d elements are the other's, whose share is %v", name, fromOther,
						elems, 1-share)
				}
			}
		}
		if name != "mixup" && numCut == 0 || name != "cutmix" && numMean == 0 ||
			name == "cutmix" && numMean > 0 {
			t.Errorf("%s: %d cut, %d means", name, numCut, numMean)
		}
		for v := range 3 {
			part := firstStep(t, set, a, v, v+1, 1).Shards[0]
			if whole := mixed.Shards[v]; !slices.Equal(part.Images, whole.Images) ||
				!slices.Equal(part.Labels, whole.Labels) || !slices.Equal(part.Others, whole.Others) ||
				!slices.Equal(part.Shares, whole.Shares) {
				t.Errorf("%s: shard %d alone differs", name, v)
			}
		}
	}
}

// photographs writes 18 images of two classes as a folder, and as tar files.
func photographs(t *testing.T) (folder, shards string) {
	folder, shards = t.TempDir(), t.TempDir()
	var all []filed
	for i := range 18 {
		text, ending := picture(t, i)
		class := []string{"cat", "dog"}[i%2]
		path := filepath.Join(folder, "train", class, fmt.Sprintf("%02d.%s", i, ending))
		val := filepath.Join(folder, "val", class, fmt.Sprintf("%02d.%s", i, ending))
		for _, p := range []string{path, val} {
			err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o700), os.WriteFile(p, text, 0o600))
			if err != nil {
				t.Fatal(err)
			}
		}
		name := fmt.Sprintf("%02d.", i)
		all = append(all, filed{name + ending, text}, filed{name + "cls", []byte(class)})
	}
	writeTar(t, filepath.Join(shards, "train-0.tar"), all...)
	writeTar(t, filepath.Join(shards, "val-0.tar"), all...)
	return folder, shards
}

// Parts are cut from files as they are, whatever the size of samples: a folder and tar files give the same,
// with any number of threads, and colours are of three channels.
func TestPartsAreCutFromFiles(t *testing.T) {
	folder, shards := photographs(t)
	a := data.Augmentation{Cut: photo.Usual(), Flip: true, Jitter: photo.Jitter{Brightness: 0.4, Hue: 0.1}}
	o := data.Options{Side: 7, Uncut: true}
	one, other := loadPath(t, folder, o), loadPath(t, shards, o)
	if one.Train.Samples == nil || other.Train.Samples == nil || one.Train.Len() != 18 {
		t.Fatalf("%v, %v: want images that are decoded when they are read", one, other)
	}
	x, y := firstStep(t, one.Train, a, 0, 3, 1), firstStep(t, other.Train, a, 0, 3, 3)
	small := firstStep(t, loadPath(t, folder, data.Options{Side: 7}).Train, a, 0, 3, 1)
	for v := range x.Shards {
		if !slices.Equal(x.Shards[v].Images, y.Shards[v].Images) {
			t.Errorf("shard %d of a folder differs from that of tar files", v)
		}
		if slices.Equal(x.Shards[v].Images, small.Shards[v].Images) {
			t.Errorf("shard %d is cut from what was scaled before", v)
		}
	}
	picked := one.Train.Pick([]int32{4, 2, 9})
	l, err := data.NewLoader(data.LoaderConfig{Set: picked, Batch: 3, Shards: 1, Hi: 1, Augment: a})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Next(); err != nil {
		t.Error(err)
	}
}

// What cannot be cut, coloured or mixed is refused before anything is read.
func TestAugmentationIsChecked(t *testing.T) {
	colours := tensor.Shape{4, 4, 3}
	grey, floats, targets := tiny(8, tensor.Shape{4, 4, 1}), tiny(8, colours), tiny(8, colours)
	rows := tiny(8, tensor.Shape{1, 1, 3})
	rows.Table = &columns.Table{}
	floats.IsFloat, floats.Pixels = true, make([]byte, 4*len(floats.Pixels))
	targets.NumTargets, targets.Targets = 1, make([]float32, 8)
	for want, c := range map[string]data.LoaderConfig{
		"1 channels":      {Set: grey, Augment: data.Augmentation{Jitter: photo.Jitter{Hue: 0.1}}},
		"floats":          {Set: floats, Augment: data.Augmentation{Cut: photo.Usual()}},
		"rows of a table": {Set: rows, Augment: data.Augmentation{Pad: 4}},
		"labels alone":    {Set: targets, Augment: data.Augmentation{Mixup: 1}},
		"mixup 3":         {Set: grey, Augment: data.Augmentation{Mixup: 3}},
		"want a batch of": {Set: grey, Shards: 3, Augment: data.Augmentation{Cutmix: 1}},
		"weights are of one": {Set: grey.WithClassWeights([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
			Augment: data.Augmentation{Mixup: 1}},
		"above 0 to 1":           {Set: grey, Augment: data.Augmentation{Cut: photo.Cut{MinArea: 2}}},
		"hue turned by 1, want ": {Set: grey, Augment: data.Augmentation{Jitter: photo.Jitter{Hue: 1}}},
	} {
		c.Batch, c.Hi, c.Shards = 4, 1, max(1, c.Shards)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// BenchmarkPhotographs decodes, cuts and normalises the images of the folder LOCKSTEP_IMAGES, or 64 made
// ones, for networks that read 224 x 224, by as many threads as there are processors.
func BenchmarkPhotographs(b *testing.B) {
	folder := os.Getenv("LOCKSTEP_IMAGES")
	if folder == "" {
		folder = b.TempDir()
		for i := range 64 {
			path := filepath.Join(folder, "train", fmt.Sprint("class", i%2), fmt.Sprintf("%d.jpg", i))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
				os.WriteFile(path, noise(b, 500, 375), 0o600)); err != nil {
				b.Fatal(err)
			}
		}
	}
	sets, err := data.Catalog{}.Load(b.Context(), folder, data.Options{Side: 224, Uncut: true})
	if err != nil {
		b.Fatal(err)
	}
	l, err := data.NewLoader(data.LoaderConfig{Set: sets.Train, Batch: 32, Shards: 1, Hi: 1,
		Threads: runtime.GOMAXPROCS(0), Augment: data.Augmentation{Cut: photo.Usual(), Flip: true}})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for range 4 { // which are prepared ahead
		l.Next()
	}
	seen := 0
	for b.Loop() {
		s, err := l.Next()
		if err != nil {
			b.Fatal(err)
		}
		seen += s.Samples
	}
	b.ReportMetric(float64(seen)/b.Elapsed().Seconds(), "images/s")
}

// noise returns a JPEG of noise over a slope.
func noise(b *testing.B, width, height int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = uint8(i/width/16) + uint8(random.Derive(1).Word(uint64(i))>>59)
	}
	var text bytes.Buffer
	if err := jpeg.Encode(&text, img, &jpeg.Options{Quality: 90}); err != nil {
		b.Fatal(err)
	}
	return text.Bytes()
}
