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
		{Series: []Series{{At: []float64{1}, Values: []float64{no}}}, IsLog: true},
	}
	drawn := make(chan string)
	go func() {
		for _, one := range charts {
			drawn <- string(Markup(Head{}, one))
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

// An interval of two runs that spans powers of ten leaves the dots their room.
func TestIntervalsLeaveDotsTheirRoom(t *testing.T) {
	d := Dots{Groups: []DotGroup{{Rows: []DotRow{
		{Values: []float64{1, 2}, Middle: 1.5, Lo: 1e-6, Hi: 1e6},
		{Values: []float64{3}, Middle: 3, Lo: 2.9, Hi: 3.1}}}}}
	x, _ := d.axis(frame{width: 600, isWide: true})
	if x.isLog || x.lo != 0 || x.hi > 8 {
		t.Errorf("axis from %v to %v, logarithmic %v; want from 0 to twice the greatest dot", x.lo, x.hi,
			x.isLog)
	}
}

// Names at the ends of curves, of rows, and the label of a reference stand inside their plot, wide and
// narrow; a name is cut only where there is no room. Letters are taken to be as wide as the mean that
// Chromium drew.
func TestNamesStandInsideTheirPlot(t *testing.T) {
	const long = "single 1×2 pytorch channels-last"
	lines := Lines{X: "workers", Y: "speed-up", Series: []Series{
		{Keys: []string{"A", "B"}, Label: "ddp", At: []float64{1, 2, 3}, Values: []float64{1, 2, 3.9}},
		{Keys: []string{"C"}, Label: long, At: []float64{1, 2}, Values: []float64{1, 1.5}},
		{Label: "ideal", IsReference: true, At: []float64{1, 2, 3}, Values: []float64{1, 2, 4}}}}
	dots := Dots{Groups: []DotGroup{{Rows: []DotRow{{Name: "F  " + long, Values: []float64{1}, Middle: 1,
		End: "3.74 ms"}}}}}
	bars := Bars{Parts: []string{"forward"}, Rows: []Bar{{Name: strings.Repeat("diloco ", 12),
		Values: []float64{1}}}}
	label := regexp.MustCompile(`<text x="([\d.-]+)" y="([\d.-]+)" class="name" text-anchor="(\w+)">([^<]+)<`)
	for _, chart := range []Chart{lines, dots, bars} {
		for _, svg := range strings.SplitAfter(string(Markup(Head{}, chart)), "</svg>")[:2] {
			found := label.FindAllStringSubmatch(svg, -1)
			if len(found) == 0 {
				t.Fatalf("%T: no names", chart)
			}
			isWide, width := strings.Contains(svg, `class="wide"`), 343.0
			if isWide {
				width = 580
			}
			for _, l := range found {
				x, _ := strconv.ParseFloat(l[1], 64)
				from, to := x, x+0.95*nameWidth(l[4])
				if l[3] == "end" {
					from, to = x-0.95*nameWidth(l[4]), x
				}
				if from < 0 || to > width {
					t.Errorf("%T: %q from %.0f to %.0f is not inside %v", chart, l[4], from, to, width)
				}
			}
			_, isBars := chart.(Bars)
			if isCut := strings.Contains(svg, "…"); isCut != isBars && isWide {
				t.Errorf("%T: cut: %v", chart, isCut)
			}
		}
	}
}
