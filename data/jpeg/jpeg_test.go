package jpeg_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	standard "image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"lockstep/data/jpeg"
	"lockstep/random"
)

// images returns those of testdata, which make.py writes, and some of image/jpeg.
func images(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	paths, _ := filepath.Glob("testdata/*.jpg")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = text
	}
	if len(all) < 8 {
		t.Fatalf("%d images in testdata", len(all))
	}
	for _, quality := range []int{1, 30, 75, 100} {
		all[fmt.Sprint("noise ", quality)] = encoded(t, 67, 45, quality)
	}
	return all
}

// encoded returns an image of noise over a slope.
func encoded(t testing.TB, width, height, quality int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	s := random.Derive(uint64(quality))
	for i := range width * height {
		n := uint8(s.Word(uint64(i)) >> 57)
		img.Set(i%width, i/width, color.RGBA{uint8(i/width*2) + n, uint8(i % width * 3), 200 - n, 255})
	}
	var b bytes.Buffer
	if err := standard.Encode(&b, img, &standard.Options{Quality: quality}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// isOther reports whether an image of testdata is one that the package leaves to others.
func isOther(name string) bool {
	switch name {
	case "progressive.jpg", "cmyk.jpg", "rgb.jpg", "cut.jpg":
		return true
	}
	return false
}

// same fails unless the part of two images is the same.
func same(t *testing.T, name string, got, want image.Image, part image.Rectangle) {
	t.Helper()
	if got.Bounds() != want.Bounds() {
		t.Fatalf("%s: bounds %v, want %v", name, got.Bounds(), want.Bounds())
	}
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			if g, w := got.At(x, y), want.At(x, y); g != w {
				t.Fatalf("%s, part %v: pixel (%d, %d) is %v, want %v", name, part, x, y, g, w)
			}
		}
	}
}

// Every part of an image is as image/jpeg decodes it.
func TestPartsAreThoseOfTheStandardLibrary(t *testing.T) {
	var d jpeg.Decoder
	for name, text := range images(t) {
		want, err := standard.Decode(bytes.NewReader(text))
		isPlain := err == nil && !isOther(name)
		for i := range uint64(12) {
			s, part := random.Derive(i), image.Rectangle{}
			got, is := d.Decode(text, func(width, height int) image.Rectangle {
				if part = image.Rect(0, 0, width, height); i > 0 {
					x, y := s.Intn(0, width), s.Intn(1, height)
					part = image.Rect(x, y, x+1+s.Intn(2, width-x), y+1+s.Intn(3, height-y))
				}
				return part
			})
			if is != isPlain {
				t.Fatalf("%s, part %v: plain is %v, want %v", name, part, is, isPlain)
			}
			if is {
				same(t, name, got, want, part)
			}
		}
	}
}

// Whatever text is, what is decoded whole is what image/jpeg makes of it, which accepts it.
func checkAny(t *testing.T, d *jpeg.Decoder, text []byte) {
	got, isPlain := d.Decode(text, func(width, height int) image.Rectangle {
		if width*height > 1<<16 {
			return image.Rectangle{}
		}
		return image.Rect(0, 0, width, height)
	})
	if !isPlain {
		return
	}
	want, err := standard.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%x: decoded, but image/jpeg says %v", text, err)
	}
	same(t, fmt.Sprintf("%x", text), got, want, got.Bounds())
}

func TestDamagedImagesAreNotAcceptedAlone(t *testing.T) {
	var d jpeg.Decoder
	for _, text := range images(t) {
		s := random.Derive(7, uint64(len(text)))
		for i := range uint64(60) {
			damaged := bytes.Clone(text)
			damaged[s.Intn(2*i, len(damaged))] = byte(s.Word(2*i + 1))
			checkAny(t, &d, damaged)
			checkAny(t, &d, text[:s.Intn(2*i, len(text))])
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range images(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkAny(t, &jpeg.Decoder{}, text) })
}

// A decoder that has seen the size allocates nothing.
func TestDecodeAllocatesNothing(t *testing.T) {
	var d jpeg.Decoder
	text := encoded(t, 67, 45, 75)
	whole := func(width, height int) image.Rectangle { return image.Rect(0, 0, width, height) }
	if n := testing.AllocsPerRun(20, func() { d.Decode(text, whole) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func ExampleDecoder() {
	text, err := os.ReadFile("testdata/420.jpg")
	if err != nil {
		fmt.Println(err)
		return
	}
	var d jpeg.Decoder
	img, isPlain := d.Decode(text, func(width, height int) image.Rectangle {
		return image.Rect(width/4, height/4, width/2, height/2)
	})
	fmt.Println(img.Bounds(), isPlain)
	// Output: (0,0)-(45,38) true
}

func BenchmarkDecode(b *testing.B) {
	text := encoded(b, 500, 375, 85)
	whole := func(width, height int) image.Rectangle { return image.Rect(0, 0, width, height) }
	b.Run("part of this package", func(b *testing.B) {
		var d jpeg.Decoder
		for b.Loop() {
			d.Decode(text, func(int, int) image.Rectangle { return image.Rect(80, 60, 430, 320) })
		}
	})
	b.Run("whole of this package", func(b *testing.B) {
		var d jpeg.Decoder
		for b.Loop() {
			d.Decode(text, whole)
		}
	})
	b.Run("image/jpeg", func(b *testing.B) {
		for b.Loop() {
			if _, err := standard.Decode(bytes.NewReader(text)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
