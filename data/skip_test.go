package data_test

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/data"
)

// Damaged images are left out by name, from memory, from files and from tar files alike; a cache has them, so
// that another run leaves out the same, and one too many is an error.
func TestDamagedImagesAreLeftOut(t *testing.T) {
	folder, shards := photographs(t)
	whole := loadPath(t, folder, data.Options{Side: 7}).Train
	size := whole.SampleBytes()
	want := slices.Concat(whole.Pixels[:4*size], whole.Pixels[5*size:9*size], whole.Pixels[10*size:])
	damage := func(repair bool) { // keeps sizes and dates
		t.Helper()
		var all []filed
		for i := range 18 {
			text, ending := picture(t, i)
			name := strings.TrimSuffix(filepath.Base(trainFile(folder, i)), ending)
			if i == 4 || i == 9 {
				n := len(text) * i / 10
				if text = text[:n]; repair {
					text = slices.Concat(dot(t), make([]byte, n))[:n]
				}
				writeDated(t, trainFile(folder, i), text)
			}
			class := []byte([]string{"cat", "dog"}[i%2])
			all = append(all, filed{name + ending, text}, filed{name + "cls", class})
		}
		writeTar(t, filepath.Join(shards, "train-0.tar"), all...)
		date(t, filepath.Join(shards, "train-0.tar"))
	}
	damage(false)
	cache := t.TempDir()
	check := func(what string, o data.Options, n int) {
		t.Helper()
		o.Side, o.SkipBad = 7, 2
		for _, path := range []string{folder, shards} {
			s := loadPath(t, path, o)
			about, first := s.String(), "cat/04.jpg (truncated: damaged header), dog/09"
			if s.Train.Len() != n || n == 16 && !strings.Contains(about, "damaged: 2 images: ") ||
				n == 16 && path == folder && !strings.Contains(about, first) {
				t.Errorf("%s, %s: %d images, %s", what, path, s.Train.Len(), about)
			}
			if s.Train.Samples == nil && n == 16 && !slices.Equal(s.Train.Pixels, want) {
				t.Errorf("%s, %s: other pixels than those of the images that are whole", what, path)
			}
		}
	}
	check("memory", data.Options{}, 16)
	check("files", data.Options{Uncut: true}, 16)
	check("cache", data.Options{Cache: cache}, 16)
	damage(true)
	check("cache again", data.Options{Cache: cache}, 16)
	check("without it", data.Options{}, 18)
	for _, path := range []string{folder, shards} {
		_, err := data.Catalog{}.Load(t.Context(), path, data.Options{Side: 7, SkipBad: 1, Cache: cache})
		if err == nil || !strings.Contains(err.Error(), "2 images cannot be decoded") {
			t.Errorf("%s: error %v, want one about two images", path, err)
		}
	}
}

// A part of which no image is left is refused.
func TestAPartOfDamagedImagesIsRefused(t *testing.T) {
	folder, shards := photographs(t)
	var all []filed
	for i := range 18 {
		writeDated(t, trainFile(folder, i), []byte("HEIC"))
		name := fmt.Sprintf("%02d.", i)
		all = append(all, filed{name + "jpg", []byte("HEIC")}, filed{name + "cls", []byte("cat")})
	}
	writeTar(t, filepath.Join(shards, "train-0.tar"), all...)
	for _, path := range []string{folder, shards, filepath.Join(shards, "train-0.tar")} {
		_, err := data.Catalog{}.Load(t.Context(), path, data.Options{SkipBad: 100})
		if err == nil || !strings.Contains(err.Error(), "of 18 images none can be decoded; the first is ") {
			t.Errorf("%s: error %v, want one about a part without images", path, err)
		}
	}
}

// dot returns a PNG of one pixel.
func dot(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, plain(1, 1, color.Black)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// writeDated writes a file of the date that all of them have.
func writeDated(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	date(t, path)
}

func date(t *testing.T, path string) {
	t.Helper()
	at := time.Unix(1e9, 0)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// trainFile returns the path of an image of photographs.
func trainFile(folder string, i int) string {
	paths, _ := filepath.Glob(filepath.Join(folder, "train", "*", "*"))
	slices.SortFunc(paths, func(a, b string) int {
		return strings.Compare(filepath.Base(a), filepath.Base(b))
	})
	return paths[i]
}
