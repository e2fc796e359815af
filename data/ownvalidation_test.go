package data_test

import (
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/data"
)

// A validation part of its own is read as val/ of the data would be: by the classes and columns of the
// training part, of which nothing is held out.
func TestValidationOfItsOwn(t *testing.T) {
	folder, o := textFolder(t, map[string]string{
		"some.csv": "text,label\na,x\nb,y\nc,x\na b,y\n", "more.csv": "text,label\nb b,y\n",
		"numbers.csv": "u,v,label\n1,p,x\n2,q,y\n3,p,x\n4,q,y\n", "others.csv": "v,u,label\np,9,y\n",
	})
	for name, other := range map[string]string{"some.csv": "more.csv", "numbers.csv": "others.csv"} {
		o.Validation = filepath.Join(folder, other)
		s, err := data.Catalog{}.Load(t.Context(), filepath.Join(folder, name), o)
		if err != nil {
			t.Fatal(err)
		}
		if s.Train.Len() != 4 || s.Validation.Len() != 1 || s.Test != nil || s.IsHeldOut ||
			!slices.Equal(s.Validation.Labels, []int32{1}) || !s.Validation.Shape.Equal(s.Train.Shape) {
			t.Errorf("%s: %v", name, s)
		}
	}
	draw := func(at ...string) string {
		path := filepath.Join(append([]string{folder}, at...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err == nil {
			err = errors.Join(png.Encode(f, image.NewGray(image.Rect(0, 0, 2, 2))), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, at := range []string{"cat", "dog"} {
		draw("photos", at, "1.png")
		draw("photos", at, "2.png")
	}
	draw("chosen", "dog", "3.png")
	o.Validation, o.Side = filepath.Join(folder, "chosen"), 2
	s, err := data.Catalog{}.Load(t.Context(), filepath.Join(folder, "photos"), o)
	if err != nil || s.Train.Len() != 4 || s.Test != nil || !slices.Equal(s.Validation.Labels, []int32{1}) {
		t.Errorf("images: %v, %v", s, err)
	}
	draw("chosen", "cow", "4.png")
	for name, want := range map[string]string{"photos": "cow", "glyphs": "has parts of its own"} {
		if name != "glyphs" {
			name = filepath.Join(folder, name)
		}
		_, err := data.Catalog{}.Load(t.Context(), name, o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
	o.Validation = filepath.Join(folder, "none.csv")
	var missing *data.ReadError
	_, err = data.Catalog{}.Load(t.Context(), filepath.Join(folder, "some.csv"), o)
	if !errors.As(err, &missing) {
		t.Errorf("error %v of a missing file", err)
	}
}
