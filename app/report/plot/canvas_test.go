package plot

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A place that is no number is a gap, and a value beyond all numbers ends an axis: neither is drawn for ever.
func TestNoNumbers(t *testing.T) {
	no, huge := math.NaN(), math.MaxFloat64
	charts := []Lines{
		{Series: []Series{{At: []float64{1, 2, no, 4}, Values: []float64{1, 2, 3, 4}}}},
		{Series: []Series{{At: []float64{1, no, no, no}, Values: []float64{1, 2, 3, no}}}},
		{Series: []Series{{At: []float64{1, 2, huge}, Values: []float64{1, huge, 3}}}},
		{Series: []Series{{At: []float64{1, no, 3}, Values: []float64{2, 2, 2}, Lo: []float64{1, 1, no},
			Hi: []float64{3, 3, 3}}}},
		{Series: []Series{{Values: []float64{no}}}, IsLog: true},
	}
	drawn := make(chan string)
	go func() {
		for _, one := range charts {
			if _, err := PNG(one, Around{}); err != nil {
				t.Error(err)
			}
			drawn <- string(Markup(one))
		}
	}()
	for i := range charts {
		select {
		case text := <-drawn:
			if strings.Contains(text, "NaN") {
				t.Errorf("chart %d has a place that is no number: %s", i, text)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("chart %d is drawn for ever", i)
		}
	}
}

// An axis shows the difference of its values: from 0 only where that leaves them half of it.
func TestAxisShowsTheDifference(t *testing.T) {
	for _, test := range []struct{ lo, hi, from, to float64 }{{94.1, 95.8, 94, 96}, {10, 95, 0, 100},
		{3.7, 3.9, 3.7, 3.9}, {0.02, 0.02, 0, 0.02}, {0, 0, 0, 1}} {
		a := newAxis(test.lo, test.hi, 5, 0, 100)
		if math.Abs(a.lo-test.from) > 1e-9 || math.Abs(a.hi-test.to) > 1e-9 {
			t.Errorf("%v to %v: the axis is from %v to %v, want %v to %v", test.lo, test.hi, a.lo, a.hi,
				test.from,
				test.to)
		}
	}
}

// The distances of a path add up to where its last point is: their roundings do not.
func TestPathEndsWhereItsLastPointIs(t *testing.T) {
	m := &markup{}
	points := []point{{x: 10.04, y: 20}}
	for i := range 150 {
		points = append(points, point{x: 10.04 + 3.33*float64(i+1), y: 20 + 0.05*float64(i+1)})
	}
	m.path(points, false, "curve", "")
	d := regexp.MustCompile(` d="M(\S+) (\S+)l([^"]*)"`).FindStringSubmatch(m.String())
	if d == nil {
		t.Fatal("no path")
	}
	var ends [2]float64
	for i := range ends {
		ends[i], _ = strconv.ParseFloat(d[1+i], 64)
	}
	for i, text := range strings.Fields(d[3]) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		ends[i%2] += v
	}
	last := points[len(points)-1]
	if math.Abs(ends[0]-last.x) > 0.051 || math.Abs(ends[1]-last.y) > 0.051 {
		t.Errorf("it ends at %v, want %v", ends, last)
	}
}

// Hatchings are lines within their box, as one path: Chromium prints a pattern as a picture of the page.
func TestHatchingsAreLinesWithinTheirBox(t *testing.T) {
	const x, y, w, h = 101.3, 40.0, 33.3, 20.0
	for i, rulings := range hatchings() {
		length := 0.0
		points := hatching(x, y, w, h, i)
		for j := 0; j+2 < len(points); j += 3 {
			a, b := points[j], points[j+1]
			length += math.Hypot(b.x-a.x, b.y-a.y)
			for _, p := range points[j : j+2] {
				if p.gap || p.x < x-1e-9 || p.x > x+w+1e-9 || p.y < y-1e-9 || p.y > y+h+1e-9 {
					t.Errorf("part %d: a line to %v, outside", i, p)
				}
			}
		}
		want := 0.0 // lines are an even share of the box
		for _, r := range rulings {
			want += w * h / (r.every / math.Hypot(r.along, r.across))
		}
		if math.Abs(length-want) > 40 {
			t.Errorf("part %d: %.0f of lines, want about %.0f", i, length, want)
		}
	}
}

// Names at the ends of curves, of rows, and the label of a reference stand inside their plot, wide and
// narrow;
// a name is cut only where there is no room. Letters are taken to be as wide as the mean that Chromium drew.
func TestNamesStandInsideTheirPlot(t *testing.T) {
	const long = "single 1×2 pytorch channels-last"
	lines := Lines{X: "workers", Y: "speed-up", Series: []Series{
		{Keys: []string{"A", "B"}, Label: "ddp", Values: []float64{1, 2, 3.9}},
		{Keys: []string{"C"}, Label: long, At: []float64{1, 2}, Values: []float64{1, 1.5}},
		{Label: "ideal", IsReference: true, Values: []float64{1, 2, 4}}}}
	dots := Dots{Groups: []DotGroup{{Rows: []DotRow{{Key: "F", Label: long, Values: []float64{1}, Middle: 1,
		End: "3.74 ms"}}}}}
	bars := Bars{Parts: []string{"forward"}, Rows: []Bar{{Key: "F", Label: strings.Repeat("diloco ", 12),
		Values: []float64{1}}}}
	label := regexp.MustCompile(`<text x="([\d.-]+)" y="([\d.-]+)" class="name" text-anchor="(\w+)">([^<]+)<`)
	for _, chart := range []Chart{lines, dots, bars} {
		for _, f := range []frame{chart.wide(), chart.narrow()} {
			m := &markup{}
			chart.draw(canvas{on: m}, f)
			found := label.FindAllStringSubmatch(m.String(), -1)
			if len(found) == 0 {
				t.Fatalf("%T %s: no names", chart, f.class)
			}
			for _, l := range found {
				x, _ := strconv.ParseFloat(l[1], 64)
				from, to := x, x+0.95*nameWidth(l[4])
				if l[3] == "end" {
					from, to = x-0.95*nameWidth(l[4]), x
				}
				if from < 0 || to > f.width {
					t.Errorf("%T %s: %q from %.0f to %.0f is not inside %v", chart, f.class, l[4], from, to,
						f.width)
				}
			}
			_, isBars := chart.(Bars)
			if isCut := strings.Contains(m.String(), "…"); isCut != isBars && f.isWide {
				t.Errorf("%T: cut: %v", chart, isCut)
			}
		}
	}
}
