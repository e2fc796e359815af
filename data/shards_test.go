package data_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/data"
)

// filed is a file of a tar archive.
type filed struct {
	name string
	text []byte
}

func writeTar(t testing.TB, path string, members ...filed) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		h := tar.Header{Name: m.name, Size: int64(len(m.text)), Mode: 0o600, Typeflag: tar.TypeReg}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(m.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// picture returns an image of 12x9 that depends on i, as a JPEG or PNG.
func picture(t testing.TB, i int) (text []byte, ending string) {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 12, 9))
	for at := range 12 * 9 {
		img.Set(at%12, at/12, color.RGBA{uint8(at * i), uint8(at + 40*i), uint8(255 - at), 255})
	}
	var b bytes.Buffer
	encode, ending := func() error { return png.Encode(&b, img) }, "png"
	if i%2 == 0 {
		encode, ending = func() error { return jpeg.Encode(&b, img, nil) }, "jpg"
	}
	if err := encode(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), ending
}

// shardFolder writes three shards of ten samples to train on, and one to test, of the classes 0 to 2.
func shardFolder(t testing.TB) string {
	folder := t.TempDir()
	for part, n := range map[string]int{"train": 3, "val": 1} {
		for k := range n {
			var all []filed
			for i := range 10 {
				text, ending := picture(t, 10*k+i)
				name := fmt.Sprintf("./%03d", 10*k+i)
				all = append(all, filed{name + ".cls", []byte(fmt.Sprintln(i % 3))},
					filed{name + ".seg." + ending, text}, filed{name + "." + ending, text})
			}
			writeTar(t, filepath.Join(folder, fmt.Sprintf("%s-%04d.tar", part, k)), all...)
		}
	}
	return folder
}

// sameSamples fails unless two sets have the same samples in the same order, by an epoch of a loader with
// threads.
func sameSamples(t *testing.T, what string, a, b *data.Set) {
	t.Helper()
	if a == nil || b == nil || a.Len() != b.Len() || a.Pixels == nil || b.Samples == nil {
		t.Fatalf("%s: want one in memory and one that is not, of as many samples", what)
	}
	var steps [2]*data.Loader
	for i, s := range []*data.Set{a, b} {
		l, err := data.NewLoader(data.LoaderConfig{Set: s, Batch: 8, Shards: 2, Hi: 2, Threads: 1 + 2*i,
			Augment: data.Augmentation{Flip: true, Pad: 2}})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		steps[i] = l
	}
	for range (a.Len() + 7) / 8 {
		x, err := steps[0].Next()
		y, fault := steps[1].Next()
		if err != nil || fault != nil {
			t.Fatal(what, err, fault)
		}
		for i := range x.Shards {
			if !slices.Equal(x.Shards[i].Images, y.Shards[i].Images) ||
				!slices.Equal(x.Shards[i].Labels, y.Shards[i].Labels) {
				t.Fatalf("%s: shard %d of step %d differs", what, i, x.Number)
			}
		}
	}
}

// Images that are decoded when they are needed, from tar files or from a folder, are those that were decoded
// before.
func TestDecodedWhileTrainingAsBefore(t *testing.T) {
	shards := shardFolder(t)
	in, out := data.Options{Side: 7}, data.Options{Side: 7, InMemory: 1}
	memory, stored := loadPath(t, shards, in), loadPath(t, shards, out)
	sameSamples(t, "shards", memory.Train, stored.Train)
	sameSamples(t, "shards to validate", memory.Validation, stored.Validation)
	if got := stored.String(); !strings.Contains(got, "3 classes, 0: 12 + 4, 1: 9 + 3, 2: 9 + 3") ||
		!strings.Contains(got, "left out: 40 files") {
		t.Errorf("described as %s", got)
	}
	folder := t.TempDir()
	for i := range 30 {
		text, ending := picture(t, i)
		class := filepath.Join(folder, []string{"cat", "dog"}[i%2])
		path := filepath.Join(class, fmt.Sprintf("%d.%s", i, ending))
		if err := errors.Join(os.MkdirAll(class, 0o700), os.WriteFile(path, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	memory, stored = loadPath(t, folder, in), loadPath(t, folder, out)
	sameSamples(t, "a folder", memory.Train, stored.Train)
	sameSamples(t, "what is held out of a folder", memory.Test, stored.Test)
	for path, folder := range map[string]string{"a folder": folder, "shards": withoutValidation(t, shards),
		"arrays": arrayFolder(t, 900)} {
		a, err := loadPath(t, folder, in).WithValidation(0.2, 3)
		b, fault := loadPath(t, folder, out).WithValidation(0.2, 3)
		if err != nil || fault != nil {
			t.Fatal(path, err, fault)
		}
		sameSamples(t, path+" without what is set apart", a.Train, b.Train)
		sameSamples(t, path+", what is set apart", a.Validation, b.Validation)
	}
	if a, b := stored.Train.SHA256(), loadPath(t, folder, out).Train.SHA256(); a != b {
		t.Errorf("two hashes of the same images: %s, %s", a, b)
	}

	late := time.Now().Add(time.Hour)
	files, _ := filepath.Glob(filepath.Join(folder, "cat", "*"))
	for _, file := range files {
		if err := os.Chtimes(file, late, late); err != nil {
			t.Fatal(err)
		}
	}
	var sh data.Shard
	err := stored.Train.Take(&sh, 0, stored.Train.Len())
	format := (*data.FormatError)(nil)
	if !errors.As(err, &format) || !strings.Contains(err.Error(), "changed") {
		t.Errorf("files that have changed: error %v", err)
	}
}

// withoutValidation returns a folder with the shards to train on.
func withoutValidation(t *testing.T, shards string) string {
	t.Helper()
	folder := t.TempDir()
	paths, _ := filepath.Glob(filepath.Join(shards, "train-*.tar"))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, filepath.Base(path)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// A shard that cannot be read whole, or lacks something, is named before anything is trained.
func TestFaultsOfShardsAreNamed(t *testing.T) {
	one, _ := picture(t, 1)
	full := []filed{{"a.png", one}, {"a.cls", []byte("7")}, {"b.cls", []byte("x")}, {"b.png", one}}
	for want, write := range map[string]func(folder string){
		"train-2.tar: there is no shard of number 1 before it": func(folder string) {
			writeTar(t, filepath.Join(folder, "train-0.tar"), full...)
			writeTar(t, filepath.Join(folder, "train-2.tar"), full...)
		},
		"t-0.tar:./a: an image without .cls": func(folder string) {
			writeTar(t, filepath.Join(folder, "t-0.tar"), full[0], full[2], full[3])
		},
		"a second image of one sample": func(folder string) {
			writeTar(t, filepath.Join(folder, "t.tar"), full[1], full[0], full[0])
		},
		"no sample in it": func(folder string) {
			writeTar(t, filepath.Join(folder, "t.tar"), filed{"readme.txt", []byte("hello")})
		},
		"t.tar:a.png: damaged archive": func(folder string) {
			path := filepath.Join(folder, "t.tar")
			writeTar(t, path, full...)
			if err := os.Truncate(path, 512+int64(len(one))-1); err != nil {
				t.Fatal(err)
			}
		},
		"t.tar: image at byte 1536: damaged": func(folder string) {
			writeTar(t, filepath.Join(folder, "t.tar"), full[1], filed{"a.png", one[:60]}, full[2], full[3])
		},
		"no shard to train on": func(folder string) {
			writeTar(t, filepath.Join(folder, "val.tar"), full...)
		},
	} {
		folder := t.TempDir()
		write(folder)
		s, err := data.Catalog{}.Load(context.Background(), folder, data.Options{InMemory: 1})
		if err == nil {
			var sh data.Shard
			err = s.Train.Take(&sh, 0, s.Train.Len())
		}
		format := (*data.FormatError)(nil)
		if !errors.As(err, &format) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a *FormatError with %q", err, want)
		}
	}
}

// Shards are those of a folder, with whatever number they begin and whatever number they end in; braces say
// which there are.
func TestWhichShardsThereAre(t *testing.T) {
	one, _ := picture(t, 1)
	full := []filed{{"a.png", one}, {"a.cls", []byte("7")}, {"b.cls", []byte("x")}, {"b.png", one}}
	folder := t.TempDir()
	for _, name := range []string{"train/a-00000-of-00010.tar", "train/a-00003-of-00010.tar",
		"val/photos-2024.tar", "other/a-07.tar", "other/a-08.tar"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		writeTar(t, path, full...)
	}
	parts := loadPath(t, folder, data.Options{})
	if parts.Train.Len() != 4 || parts.Validation.Len() != 2 {
		t.Errorf("%v", parts)
	}
	named := filepath.Join(folder, "other", "a-{07..08}.tar")
	set := loadPath(t, named, data.Options{EvalOnly: true})
	if set.Train.Len() != 4 || !(data.Catalog{}).IsPath("a-{07..08}.tar") {
		t.Errorf("%v", set)
	}
	with := loadPath(t, filepath.Join(folder, "train"), data.Options{Validation: named})
	if with.Validation.Len() != 4 {
		t.Errorf("%v", with)
	}
	for path, want := range map[string]string{
		"/a-{07..09}.tar":     "a-09.tar: no such file",
		"/a-{07..08}.zip":     "neither a folder nor",
		"/a-{0..2000000}.tar": "more than 262144 shards",
	} {
		path = filepath.Join(folder, "other") + path
		_, err := data.Catalog{}.Load(context.Background(), path, data.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
