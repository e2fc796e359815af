package plot_test

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/report/plot"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// small are charts with every kind of shape: curves with dashes, marks, a band and faint values; bars; full
// and hollow dots with intervals.
func small() map[string]plot.Chart {
	at := []float64{1, 2, 3, 4}
	style := func(i int) plot.Style { return plot.Style{Colour: i, Number: i} }
	return map[string]plot.Chart{
		"lines": plot.Lines{X: "step", Y: "loss", Series: []plot.Series{
			{Label: "ideal", IsReference: true, At: at, Values: []float64{3, 2, 1, 0.5}},
			{Keys: []string{"A"}, Label: "single", Style: style(0), At: at, Values: []float64{4, 3, 2.5,
				2.25}},
			{Keys: []string{"B"}, Label: "ddp ≈ 2×1", Style: style(3), At: at,
				Values: []float64{3, math.NaN(), 1, 1.5},
				Lo:     []float64{2.5, 1, 0.5, 1}, Hi: []float64{3.5, 2.5, 1.5, 2}}}},
		"bars": plot.Bars{X: "ms", Parts: []string{"forward", "backward", "exposed"},
			Beside: "hidden", BesideAt: 2, Rows: []plot.Bar{{Name: "A  single",
				Values: []float64{2, 3, 1}, Beside: 1.5},
				{Name: "B  ddp", Values: []float64{1, 2, 0.5}}}},
		"matrix": plot.Matrix{Rows: "class", Columns: "predicted", Names: []string{"cat", "dog", "owl"},
			Values: [][]float64{{90, 10, 0}, {30, 40, 30}, {0, 0, 0}}},
		"lanes": plot.Lanes{X: "ms", Parts: []string{"forward", "exchange"}, Path: "path", Rows: []plot.Lane{
			{Name: "rank 0", Main: []plot.Box{{0, 0, 3, "forward"}, {1, 3, 9, "wait"}},
				Below: []plot.Box{{-1, 3, 7, "rank 1"}, {-1, 7, 7.3, "rank 1"}, {1, 7.3, 9, "bucket 0"}}},
			{Name: "rank 1", Main: []plot.Box{{0, 0, 6, "forward"}, {1, 6, 9.5, "wait"}}}},
			Steps: []plot.Step{{1, 0, 6}, {1, 6, 7}, {0, 7, 9}}},
		"dots": plot.Dots{X: "ms", Groups: []plot.DotGroup{{Title: "Fastest", IsOne: true,
			Rows: []plot.DotRow{{Name: "A  ddp", Style: style(2), Values: []float64{4, 4.5, 5},
				Left: []float64{8}, Middle: 4.5, Lo: 4.1, Hi: 4.9, End: "4.50 ms"}, {Name: "B  ps",
				Style: style(1), Values: []float64{4.4, 5}, Middle: 4.7, Lo: 4.4, Hi: 5, End: "4.70 ms"}}}}},
	}
}

// head names a chart, and text has several lines.
func head(name string) plot.Head { return plot.Head{ID: name, Title: name} }

const text = "A dot is the median of a run after its first step, a tick the median of all runs, a bar its " +
	"interval. On the right stand the median and the speed-up over the baseline. lenet: ddp, 2 workers"

// The PNG pictures were compared with what Chromium makes of the SVG files, with the Go fonts installed and
// two pixels for one: the mean difference was below 0.5 of 255.
func TestPNG(t *testing.T) {
	for name, chart := range small() {
		var b bytes.Buffer
		if err := plot.PNG(&b, head(name), chart, text); err != nil {
			t.Fatal(err)
		}
		got := b.Bytes()
		path := filepath.Join("testdata", name+".png")
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		comparePictures(t, path, got, golden)
	}
}

// comparePictures allows for other rounding on other processors.
func comparePictures(t *testing.T, path string, got, want []byte) {
	t.Helper()
	var pictures [2]image.Image
	for i, text := range [][]byte{got, want} {
		var err error
		if pictures[i], err = png.Decode(bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	a, b := pictures[0], pictures[1]
	if a.Bounds() != b.Bounds() {
		t.Fatalf("%s has %v, want %v; -update rewrites it", path, a.Bounds(), b.Bounds())
	}
	const tolerance = 4 << 8
	others := 0
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			r1, g1, b1, _ := a.At(x, y).RGBA()
			r2, g2, b2, _ := b.At(x, y).RGBA()
			for _, d := range []int{int(r1) - int(r2), int(g1) - int(g2), int(b1) - int(b2)} {
				if d > tolerance || d < -tolerance {
					others++
				}
			}
		}
	}
	if others > 0 {
		t.Errorf("%s: %d values differ; -update rewrites it", path, others)
	}
}

// A chart with very many rows is drawn with fewer pixels.
func TestPNGIsBounded(t *testing.T) {
	chart := plot.Bars{Parts: []string{"a"}}
	for range 600 {
		chart.Rows = append(chart.Rows, plot.Bar{Name: strings.Repeat("long ", 100), Values: []float64{1}})
	}
	var b bytes.Buffer
	if err := plot.PNG(&b, head("x"), chart, ""); err != nil {
		t.Fatal(err)
	}
	c, err := png.DecodeConfig(&b)
	if most := 17 << 20; err != nil || c.Width*c.Height > most {
		t.Errorf("%d × %d pixels (%v)", c.Width, c.Height, err)
	}
}

// A picture that has left its page says what it shows: title, what the marks stand for, whole names, source.
func TestAPictureAloneExplainsItself(t *testing.T) {
	for name, chart := range small() {
		file := string(plot.File(head(name), chart, text))
		for _, want := range []string{`class="title" text-anchor="start">` + name + "<",
			"A dot is the median of a run", "2 workers<"} {
			if !strings.Contains(file, want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
	}
}
