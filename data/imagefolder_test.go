package data_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/data"
	"lockstep/tensor"
)

// The sums in integers against the definition in floating point.
func TestResizeIsAreaOrLinear(t *testing.T) {
	for _, c := range []struct{ from, to int }{{1, 1}, {5, 5}, {8, 4}, {7, 3}, {9, 8}, {100, 1}, {1, 4},
		{3, 7}, {4, 8}, {31, 32}} {
		src := make([]byte, c.from*c.from*4)
		for i := range src {
			src[i] = byte(i * i * 31 % 257)
		}
		weight := func(i, j int) float64 { // of source pixel j in pixel i of the result
			scale := float64(c.from) / float64(c.to)
			if c.to <= c.from {
				covered := math.Min(float64(i+1)*scale, float64(j+1)) - math.Max(float64(i)*scale, float64(j))
				return math.Max(0, covered) / scale
			}
			middle := math.Min(math.Max((float64(i)+0.5)*scale-0.5, 0), float64(c.from-1))
			return math.Max(0, 1-math.Abs(middle-float64(j)))
		}
		for i, got := range data.Resize(src, c.from, c.to) {
			y, x, channel, want := i/3/c.to, i/3%c.to, i%3, 0.0
			for v := range c.from {
				for u := range c.from {
					want += weight(y, v) * weight(x, u) * float64(src[(v*c.from+u)*4+channel])
				}
			}
			if math.Abs(float64(got)-want) > 0.5+1e-6 {
				t.Fatalf("%d to %d: element %d is %d, want %.3f", c.from, c.to, i, got, want)
			}
		}
	}
}

// plain returns an image of one colour.
func plain(width, height int, c color.Color) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		img.Set(i%width, i/width, c)
	}
	return img
}

// writeImage writes a PNG or a JPEG, as the name says.
func writeImage(t testing.TB, path string, img image.Image) {
	t.Helper()
	var b bytes.Buffer
	err := png.Encode(&b, img)
	if strings.HasSuffix(path, ".jpg") {
		b.Reset()
		err = jpeg.Encode(&b, img, nil)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// shades returns a folder of 12 grey images a class, and others: image i of class c is 20*c + i.
func shades(t testing.TB, root string, classes ...string) {
	t.Helper()
	for c, class := range classes {
		for i := range 12 {
			shade := color.Gray{uint8(20*c + i)}
			writeImage(t, filepath.Join(root, class, fmt.Sprintf("%02d.png", i)), plain(5+i, 9, shade))
		}
		if err := os.WriteFile(filepath.Join(root, class, "notes.txt"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// firstBytes returns the first byte of each image.
func firstBytes(s *data.Set) []int {
	var all []int
	for i := range s.Len() {
		all = append(all, int(s.Pixels[i*s.Shape.Elems()]))
	}
	return all
}

func TestImageFolderWithoutTestPart(t *testing.T) {
	root := t.TempDir()
	shades(t, root, "b", "a")
	train, test, err := data.Load(context.Background(), root, data.Options{Side: 4})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := firstBytes(train)[:5], []int{20, 0, 21, 1, 22}; !slices.Equal(got, want) {
		t.Errorf("training images %v, want %v", got, want)
	}
	if got, want := firstBytes(test), []int{24, 9}; !slices.Equal(got, want) {
		t.Errorf("test images %v, want %v", got, want)
	}
	if train.Len() != 22 || !slices.Equal(train.Labels[:3], []int32{0, 1, 0}) || train.Generated ||
		!slices.Equal(train.Classes, []string{"a", "b"}) || !train.Shape.Equal(tensor.Shape{4, 4, 3}) {
		t.Errorf("%d images %v, labels %v, classes %v", train.Len(), train.Shape, train.Labels, train.Classes)
	}
}

func TestImageFolderWithParts(t *testing.T) {
	root := t.TempDir()
	wide := image.NewNRGBA(image.Rect(0, 0, 6, 2)) // the middle square is red; its transparency is dropped
	for y := range 2 {
		for x := range 6 {
			wide.Set(x, y, color.NRGBA{0, 0, 255, 255})
		}
		wide.Set(2, y, color.NRGBA{200, 0, 0, 255})
		wide.Set(3, y, color.NRGBA{200, 0, 0, 0})
	}
	writeImage(t, filepath.Join(root, "train", "x", "wide.png"), wide)
	writeImage(t, filepath.Join(root, "train", "y", "one.jpg"), plain(3, 3, color.Gray{90}))
	writeImage(t, filepath.Join(root, "test", "y", "two.jpg"), plain(64, 40, color.Gray{140}))
	train, test, err := data.Load(context.Background(), root, data.Options{Side: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := train.Pixels[:6], []byte{200, 0, 0, 200, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("middle of the wide image %v, want %v", got, want)
	}
	if firstBytes(train)[1] != 90 || firstBytes(test)[0] != 140 || test.Len() != 1 || test.Labels[0] != 1 {
		t.Errorf("shades %v, %v, test labels %v", firstBytes(train), firstBytes(test), test.Labels)
	}
}

// The second load reads the cache; a changed file, a damaged cache and another size do not.
func TestImageFolderIsDecodedOnce(t *testing.T) {
	root, o := t.TempDir(), data.Options{Side: 4, Cache: t.TempDir()}
	shades(t, root, "a", "b")
	load := func() int {
		t.Helper()
		train, _, err := data.Load(context.Background(), root, o)
		if err != nil {
			t.Fatal(err)
		}
		return firstBytes(train)[2]
	}
	if path, err := (data.Catalog{}).Fetch(context.Background(), root, o); err != nil || path != root {
		t.Fatalf("fetch: %q, %v", path, err)
	}
	caches, _ := filepath.Glob(filepath.Join(o.Cache, "folders", "*"))
	if len(caches) != 1 || load() != 1 {
		t.Fatalf("caches %v", caches)
	}
	second := filepath.Join(root, "a", "01.png")
	info, err := os.Stat(second)
	if err != nil {
		t.Fatal(err)
	}
	hidden := bytes.Repeat([]byte("?"), int(info.Size())) // same name, size and time
	before, _ := os.ReadFile(second)
	change := func(contents []byte, at time.Time) {
		t.Helper()
		err := errors.Join(os.WriteFile(second, contents, 0o644), os.Chtimes(second, at, at))
		if err != nil {
			t.Fatal(err)
		}
	}
	change(hidden, info.ModTime())
	if got := load(); got != 1 {
		t.Errorf("second load: shade %d, want 1 from the cache", got)
	}
	change(before, info.ModTime())
	cache, _ := os.ReadFile(caches[0])
	cache[48] ^= 1
	if err := os.WriteFile(caches[0], cache, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := load(); got != 1 {
		t.Errorf("damaged cache: shade %d, want 1", got)
	}
	change(hidden, info.ModTime().Add(time.Second))
	_, _, err = data.Load(context.Background(), root, o)
	wantFormatError(t, "changed", err, "01.png", 0, "neither JPEG nor PNG nor WebP")
}

func TestImageFolderNamesTheFault(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good.png")
	writeImage(t, good, plain(20, 20, color.White))
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	huge := bytes.Clone(whole) // claims 60000 x 60000 pixels
	binary.BigEndian.PutUint32(huge[16:], 60000)
	binary.BigEndian.PutUint32(huge[20:], 60000)
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 0xff
	for name, c := range map[string]struct {
		contents []byte
		reason   string
	}{
		"huge":    {huge, "60000x60000 pixels, want 1 to 178956970; scale it down"},
		"cut":     {whole[:len(whole)-20], "damaged image"},
		"flipped": {flipped, "damaged image"},
		"header":  {whole[:20], "damaged header"},
		"empty":   {nil, "neither JPEG nor PNG nor WebP"},
		"gif":     {[]byte("GIF89a"), "neither JPEG nor PNG nor WebP"},
	} {
		root := t.TempDir()
		shades(t, root, "a", "b")
		if err := os.WriteFile(filepath.Join(root, "b", "03.png"), c.contents, 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := data.Load(context.Background(), root, data.Options{})
		wantFormatError(t, name, err, filepath.Join("b", "03.png"), -1, c.reason)
	}
	root := t.TempDir()
	_, _, err = data.Load(context.Background(), root, data.Options{})
	wantFormatError(t, "no classes", err, root, -1, "0 folders")
	shades(t, filepath.Join(root, "train"), "a")
	shades(t, filepath.Join(root, "test"), "a", "c")
	_, _, err = data.Load(context.Background(), root, data.Options{})
	wantFormatError(t, "other class", err, filepath.Join("test", "c"), -1, `class "c" is not among`)
	if err := os.MkdirAll(filepath.Join(root, "empty", "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, _, err = data.Load(context.Background(), filepath.Join(root, "empty"), data.Options{})
	wantFormatError(t, "no images", err, "a", -1, "no .jpg, .jpeg, .png or .webp file; left out: nothing")
}
