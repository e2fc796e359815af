package plot

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// noisy returns n points over a width, with one peak.
func noisy(n int, width float64) []point {
	var all []point
	for i := range n {
		all = append(all, point{x: width * float64(i) / float64(n-1), y: 50 + 20*math.Sin(float64(7*i))})
	}
	all[n/3].y = -17
	return all
}

// A curve of many points keeps its ends, its extremes and every gap, in fewer points; one of few has all.
func TestThinned(t *testing.T) {
	const width = 600
	all := noisy(4000, width)
	all[2000].gap = true
	got := thinned(all)
	if most := 2*width/stripWidth + 8; len(got) > most {
		t.Errorf("%d points, want at most %d", len(got), most)
	}
	if got[0] != all[0] || got[len(got)-1] != all[len(all)-1] {
		t.Error("an end is missing")
	}
	lowest, gaps := math.Inf(1), 0
	for i, p := range got {
		if p.gap {
			gaps++
			continue
		}
		lowest = min(lowest, p.y)
		if i > 0 && !got[i-1].gap && p.x < got[i-1].x {
			t.Fatalf("point %d is left of the one before", i)
		}
	}
	if lowest != -17 || gaps != 1 {
		t.Errorf("the peak is at %v, %d gaps", lowest, gaps)
	}
	few := noisy(20, width)
	if len(thinned(few)) != len(few) {
		t.Error("a curve of few points has lost some")
	}
}

// A place that is no number is a gap, and a value beyond all numbers ends an axis: neither is drawn for ever.
func TestNoNumbers(t *testing.T) {
	no, huge := math.NaN(), math.MaxFloat64
	charts := []Lines{
		{Series: []Series{{At: []float64{1, 2, no, 4}, Values: []float64{1, 2, 3, 4}}}, Hi: 4},
		{Series: []Series{{At: []float64{1, no, no, no}, Values: []float64{1, 2, 3, no}}}, Hi: 4},
		{Series: []Series{{At: []float64{1, 2, huge}, Values: []float64{1, huge, 3}}}, Hi: huge},
		{Series: []Series{{At: []float64{1, no, 3}, Values: []float64{2, 2, 2}, Lo: []float64{1, 1, no},
			Hi: []float64{3, 3, 3}}}, Hi: 4},
	}
	drawn := make(chan string)
	go func() {
		for _, one := range charts {
			if _, err := one.PNG(Around{}); err != nil {
				t.Error(err)
			}
			drawn <- string(one.Markup())
		}
		drawn <- fmt.Sprint(thinned([]point{{x: no}, {x: 1, y: no}, {x: 2, y: 2}}))
	}()
	for i := range len(charts) + 1 {
		select {
		case text := <-drawn:
			if i < len(charts) && strings.Contains(text, "NaN") {
				t.Errorf("chart %d has a place that is no number: %s", i, text)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("chart %d is drawn for ever", i)
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
	canvas{m}.path(points, false, "curve", "")
	d := regexp.MustCompile(` d="M(\S+) (\S+)l([^"]*)"`).FindStringSubmatch(m.b.String())
	if d == nil {
		t.Fatal("no path")
	}
	x, _ := strconv.ParseFloat(d[1], 64)
	y, _ := strconv.ParseFloat(d[2], 64)
	for i, text := range strings.Fields(strings.ReplaceAll(d[3], "-", " -")) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			x += v
		} else {
			y += v
		}
	}
	last := points[len(points)-1]
	if math.Abs(x-last.x) > 0.051 || math.Abs(y-last.y) > 0.051 {
		t.Errorf("it ends at %v %v, want %v %v", x, y, last.x, last.y)
	}
}

// All marks of a curve are one element, each where it would be by itself.
func TestMarksAreOnePath(t *testing.T) {
	for number, outline := range marks() {
		m := &markup{}
		m.marks([]point{{x: 10, y: 20}, {x: 30, y: 40}}, Style{Number: number}, "mark")
		text := m.b.String()
		if strings.Count(text, "<path") != 1 || strings.Count(text, "Z") != 2 {
			t.Errorf("mark %d: %s", number, text)
		}
		if got := movedPath(outline, 0, 0); len(got) > len(outline) {
			t.Errorf("mark %d where it is: %s, want %s", number, got, outline)
		}
	}
	if got, want := movedPath("M-3.3 -3.3H3.3V3.3H-3.3Z", 10, 20), "M6.7 16.7H13.3V23.3H6.7Z"; got != want {
		t.Errorf("%s, want %s", got, want)
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
		m := &markup{}
		m.part(x, y, w, h, i, "")
		if text := m.b.String(); strings.Contains(text, "pattern") || strings.Contains(text, "url(") ||
			strings.Count(text, "<path") != min(len(rulings), 1) {
			t.Errorf("part %d: %s", i, text)
		}
	}
}

// Names at the ends of curves and the label of a reference stand inside their plot, wide and narrow. Letters
// are taken to be as wide as the widest that Chromium drew in results/r0: 9 pixels a capital, 12 an ellipsis.
func TestLabelsStandInsideTheirPlot(t *testing.T) {
	p := Lines{X: "workers", Y: "speed-up", Lo: 0, Hi: 4, Series: []Series{
		{Keys: []string{"A", "B"}, Label: "ddp", Values: []float64{1, 2, 3.9}},
		{Keys: []string{"AB"}, Label: "ps", Values: []float64{1, 1.5, 2}},
		{Label: "ideal", IsReference: true, Values: []float64{1, 2, 4}}}}
	label := regexp.MustCompile(`<text x="([\d.]+)" y="([\d.]+)" class="(?:name|tick over)"[^>]*>([^<]+)<`)
	for _, f := range []frame{p.Head.wide(), p.Head.narrow()} {
		m := &markup{}
		p.draw(canvas{m}, f)
		found := label.FindAllStringSubmatch(m.b.String(), -1)
		if len(found) != 3 {
			t.Fatalf("%s: %d labels, want 3", f.class, len(found))
		}
		for _, l := range found {
			x, _ := strconv.ParseFloat(l[1], 64)
			y, _ := strconv.ParseFloat(l[2], 64)
			wide := 9 * float64(len(strings.TrimSuffix(l[3], "…")))
			switch {
			case strings.HasSuffix(l[3], "…"):
				wide += 12
			case l[3] == "ideal":
				wide = 0 // it ends at x
			case len(l[3]) > 2:
				wide = 7.2 * float64(len(l[3])) // most letters are small
			}
			if x+wide > f.width || y < 12 {
				t.Errorf("%s: %q at %v, %v is not inside %v", f.class, l[3], x, y, f.width)
			}
		}
	}
}

// A long name of a row is cut in both plots of bars.
func TestLongNamesOfBarsAreCut(t *testing.T) {
	b := Bars{Parts: []string{"forward"}, Rows: []Bar{{Key: "A", Label: strings.Repeat("diloco ", 12),
		Values: []float64{1}}}}
	name := regexp.MustCompile(`class="name"[^>]*>([^<]+)<`)
	for _, f := range []frame{b.wide(), b.narrow()} {
		m := &markup{}
		b.draw(canvas{m}, f)
		found := name.FindStringSubmatch(m.b.String())
		if found == nil || !strings.HasSuffix(found[1], "…") || 7.5*float64(len([]rune(found[1]))) > f.width {
			t.Errorf("%s: the name is %q in a width of %v", f.class, found, f.width)
		}
	}
}

// Where there is room the name of a row of another program is drawn whole.
func TestNamesAreWholeWhereThereIsRoom(t *testing.T) {
	const label = "single 1×2 pytorch channels-last"
	dots := Dots{Groups: []DotGroup{{Rows: []DotRow{{Key: "F", Label: label, Values: []float64{1}, Middle: 1,
		End: "3.74 ms"}}}}}
	bars := Bars{Parts: []string{"forward"}, Rows: []Bar{{Key: "F", Label: label, Values: []float64{1}}}}
	for _, d := range []drawing{dots, bars} {
		for _, f := range []frame{d.wide(), d.narrow()} {
			m := &markup{}
			d.draw(canvas{m}, f)
			if !strings.Contains(m.b.String(), ">F  "+label+"<") {
				t.Errorf("%T, %s: the name is cut: %s", d, f.class, m.b.String())
			}
		}
	}
}
