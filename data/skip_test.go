package data_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
)

// Damaged images are left out by name, from memory, from files and from tar files alike; a cache has them,
// and one too many is an error.
func TestDamagedImagesAreLeftOut(t *testing.T) {
	folder, shards := photographs(t)
	whole := loadPath(t, folder, data.Options{Side: 7}).Train
	var all []filed
	for i := range 18 {
		text, ending := picture(t, i)
		name := strings.TrimSuffix(filepath.Base(trainFile(folder, i)), ending)
		if i == 4 || i == 9 {
			text = text[:len(text)/2]
			if err := os.WriteFile(trainFile(folder, i), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		class := []byte([]string{"cat", "dog"}[i%2])
		all = append(all, filed{name + ending, text}, filed{name + "cls", class})
	}
	writeTar(t, filepath.Join(shards, "train-0.tar"), all...)
	cache := t.TempDir()
	for what, o := range map[string]data.Options{"memory": {Side: 7}, "files": {Side: 7, Uncut: true},
		"cache": {Side: 7, Cache: cache}, "cache again": {Side: 7, Cache: cache}} {
		o.SkipBad = 2
		for _, path := range []string{folder, shards} {
			s := loadPath(t, path, o)
			about, first := s.String(), "cat/04.jpg (truncated: damaged header), dog/09"
			if s.Train.Len() != 16 || !strings.Contains(about, "damaged: 2 images: ") ||
				path == folder && !strings.Contains(about, first) {
				t.Errorf("%s, %s: %d images, %s", what, path, s.Train.Len(), s)
			}
			if path == folder && o.Uncut == false {
				size := s.Train.SampleBytes()
				var want []byte
				for i := range 18 {
					if i != 4 && i != 9 {
						want = append(want, whole.Pixels[i*size:(i+1)*size]...)
					}
				}
				if !slices.Equal(s.Train.Pixels, want) {
					t.Errorf("%s: other pixels than those of the images that are whole", what)
				}
			}
		}
	}
	for _, path := range []string{folder, shards} {
		_, err := data.Catalog{}.Load(t.Context(), path, data.Options{Side: 7, SkipBad: 1, Cache: cache})
		if err == nil || !strings.Contains(err.Error(), "2 images cannot be decoded") {
			t.Errorf("%s: error %v, want one about two images", path, err)
		}
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
