package photo_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"slices"
	"testing"

	"lockstep/data/photo"
	"lockstep/random"
)

// golden is what testdata/reference.py writes.
type golden struct {
	Moments []struct {
		Width, Height  int
		Mean, Variance [4]float64 // of area, logarithm of the ratio, middle from left and top
	}
	Scaled []struct {
		Width, Height, Side int
		Box                 [4]int
		SHA256              string
	}
	Coloured []struct {
		Name   string
		Factor float64
		Pixels string
	}
}

func readGolden(t *testing.T) (g golden) {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// picture is that of reference.py.
func picture(width, height int) []byte {
	pixels := make([]byte, 0, width*height*3)
	for y := range height {
		for x := range width {
			for c := range 3 {
				pixels = append(pixels, byte((x*x*(c+3)+y*y*7+x*y*(c+1)*5+c*91)>>3))
			}
		}
	}
	return pixels
}

// Area, ratio and place have torchvision's means and variances, within five standard errors of both samples.
func TestCutsHaveTorchvisionsMoments(t *testing.T) {
	const draws, theirs = 30_000, 100_000
	for _, want := range readGolden(t).Moments {
		var sum, squares [4]float64
		for i := range uint64(draws) {
			r := photo.Usual().Draw(random.Derive(3, i), 7, want.Width, want.Height)
			if !r.In(image.Rect(0, 0, want.Width, want.Height)) || r.Empty() {
				t.Fatalf("%v of %dx%d", r, want.Width, want.Height)
			}
			w, h := float64(r.Dx()), float64(r.Dy())
			x, y := float64(r.Min.X)+w/2, float64(r.Min.Y)+h/2
			for k, x := range [4]float64{w * h / float64(want.Width*want.Height), math.Log(w / h),
				x / float64(want.Width), y / float64(want.Height)} {
				d := x - want.Mean[k]
				sum[k], squares[k] = sum[k]+d, squares[k]+d*d
			}
		}
		for k, name := range []string{"area", "log ratio", "from left", "from top"} {
			off, variance := sum[k]/draws, squares[k]/draws-math.Pow(sum[k]/draws, 2)
			allowed := 5 * math.Sqrt(want.Variance[k]*(1./draws+1./theirs))
			if math.Abs(off) > allowed || math.Abs(variance/want.Variance[k]-1) > 0.05 {
				t.Errorf("%dx%d, %s: mean %v more, variance %v; want 0 within %v, %v", want.Width,
					want.Height, name, off, variance, allowed, want.Variance[k])
			}
		}
	}
}

// Scaled parts are Pillow's to the byte.
func TestScalerIsPillows(t *testing.T) {
	var s photo.Scaler
	for _, want := range readGolden(t).Scaled {
		from := photo.Pixels{Bytes: picture(want.Width, want.Height), Stride: 3 * want.Width, Step: 3,
			Channels: 3}
		b := want.Box
		part := image.Rect(b[0], b[1], b[0]+b[2], b[1]+b[3])
		dst := make([]byte, want.Side*want.Side*3)
		s.Scale(dst, want.Side, want.Side, from, part)
		if sum := sha256.Sum256(dst); hex.EncodeToString(sum[:]) != want.SHA256 {
			t.Errorf("%v of %dx%d to %d differs from Pillow's", part, want.Width, want.Height, want.Side)
		}
		wide := photo.Pixels{Stride: 4 * want.Width, Step: 4, Channels: 3}
		grey := photo.Pixels{Stride: want.Width, Step: 1, Channels: 1}
		for i := 0; i < len(from.Bytes); i += 3 {
			wide.Bytes = append(append(wide.Bytes, from.Bytes[i:i+3]...), 77)
			grey.Bytes = append(grey.Bytes, from.Bytes[i+1])
		}
		other := make([]byte, len(dst))
		s.Scale(other, want.Side, want.Side, wide, part)
		if !slices.Equal(dst, other) {
			t.Errorf("%v: pixels of four bytes are scaled otherwise", part)
		}
		s.Scale(other, want.Side, want.Side, grey, part)
		for i := range len(dst) / 3 {
			if other[i] != dst[3*i+1] {
				t.Fatalf("%v: pixel %d of one channel is %d, want %d", part, i, other[i], dst[3*i+1])
			}
		}
	}
}

// Changed colours are torchvision's within one of 255, which floats of another order may cost.
func TestColoursAreTorchvisions(t *testing.T) {
	for _, want := range readGolden(t).Coloured {
		theirs, err := hex.DecodeString(want.Pixels)
		if err != nil {
			t.Fatal(err)
		}
		ours := picture(12, 5)
		photo.Adjust(ours, want.Name, want.Factor)
		for i, p := range ours {
			if d := int(p) - int(theirs[i]); d > 1 || d < -1 {
				t.Errorf("%s by %v: byte %d is %d, want %d", want.Name, want.Factor, i, p, theirs[i])
				break
			}
		}
	}
}

// Every order of the changes is drawn, and nothing is changed by nothing.
func TestJitterIsPure(t *testing.T) {
	j := photo.Jitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.1}
	first := picture(12, 5)
	j.Apply(first, random.Derive(1), 3)
	again, other, same := picture(12, 5), picture(12, 5), picture(12, 5)
	j.Apply(again, random.Derive(1), 3)
	j.Apply(other, random.Derive(2), 3)
	photo.Jitter{}.Apply(same, random.Derive(1), 3)
	if !slices.Equal(first, again) || slices.Equal(first, other) || !slices.Equal(same, picture(12, 5)) {
		t.Error("changes are no function of the stream, or no change changes something")
	}
}

func TestValidateNamesTheSetting(t *testing.T) {
	for _, c := range []photo.Cut{{MinArea: 0.5}, {MinArea: 0.5, MaxArea: 1}, {MinArea: math.NaN()},
		{MinArea: 0.1, MaxArea: 1, MinRatio: 2, MaxRatio: 1}} {
		if c.Validate() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	for _, j := range []photo.Jitter{{Hue: 0.6}, {Contrast: -1}, {Brightness: math.Inf(1)}} {
		if j.Validate() == nil {
			t.Errorf("%+v is accepted", j)
		}
	}
	err := errors.Join(photo.Usual().Validate(), photo.Cut{}.Validate(), photo.Jitter{}.Validate())
	if err != nil {
		t.Error("what is usual, or nothing, is refused")
	}
}

// The part that is kept of a photograph depends on its number and epoch alone.
func ExampleCut() {
	const seed, epoch, sample = 1, 0, 17
	r := photo.Usual().Draw(random.Derive(seed, epoch, sample), 0, 500, 375)
	fmt.Println(r.In(image.Rect(0, 0, 500, 375)), photo.Usual().Validate())
	// Output: true <nil>
}

func BenchmarkScale(b *testing.B) {
	var s photo.Scaler
	from := photo.Pixels{Bytes: picture(500, 375), Stride: 1500, Step: 3, Channels: 3}
	dst := make([]byte, 224*224*3)
	for b.Loop() {
		s.Scale(dst, 224, 224, from, image.Rect(50, 40, 400, 340))
	}
}
