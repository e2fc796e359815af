package plot

import (
	"fmt"
	"html/template"
	"math"
)

// Bars is a chart of stacked bars, one per row.
type Bars struct {
	Head
	X     string   // name of the axis, with its unit
	Parts []string // of a bar, in order
	Rows  []Bar
	// Beside names what a thin bar below a row stands for; it ends where part BesideAt begins.
	Beside   string
	BesideAt int
}

// Bar is a row of [Bars].
type Bar struct {
	Key, Label string
	Values     []float64 // by part
	Beside     float64   // NaN: unknown
	End        string    // written at its end; "": the sum
}

// Total is the sum of the parts that are known.
func (b Bar) Total() float64 {
	sum := 0.0
	for _, v := range b.Values {
		if known(v) {
			sum += v
		}
	}
	return sum
}

// Markup implements [Chart].
func (b Bars) Markup() template.HTML { return both(b) }

// File implements [Chart].
func (b Bars) File(around Around) []byte { return file(alone{b, around}) }

// PNG implements [Chart].
func (b Bars) PNG(around Around) ([]byte, error) { return png(alone{b, around}) }

// Data implements [Chart]: a row for each bar.
func (b Bars) Data() [][]string {
	head := append([]string{"row"}, b.Parts...)
	if b.Beside != "" {
		head = append(head, b.Beside)
	}
	rows := [][]string{head}
	for _, r := range b.Rows {
		line := []string{rowName(r.Key, r.Label)}
		for _, v := range r.Values {
			line = append(line, exact(v))
		}
		if b.Beside != "" {
			line = append(line, exact(r.Beside))
		}
		rows = append(rows, line)
	}
	return rows
}

// Heights of a row, wide and narrow.
const (
	wideRow   = 34
	narrowRow = 46
)

func (b Bars) wide() frame {
	f := b.Head.wide()
	f.left, f.right, f.top = nameWidth(b.names(), longestBar), 62, 4
	f.height = f.top + f.bottom + wideRow*float64(len(b.Rows))
	return f
}

func (b Bars) narrow() frame {
	f := b.Head.narrow()
	f.left, f.right, f.top = 8, 58, 4
	f.height = f.top + f.bottom + narrowRow*float64(len(b.Rows))
	return f
}

func (b Bars) names() (names []string) {
	for _, r := range b.Rows {
		names = append(names, rowName(r.Key, r.Label))
	}
	return names
}

func (b Bars) cutNames() []string { return cutNames(b.names(), longestBar) }

// longestName is how many characters of a row's name are drawn above its dots in a narrow plot, or more.
const longestName = 28

// longestBar is that beside the bars of a wide plot, longestBeside that beside the dots of one: enough for
// a row of another program with its hosts and settings.
const (
	longestBar    = 36
	longestBeside = 42
)

// longestAbove is how many characters of a name are drawn above its row in a narrow plot.
const longestAbove = 42

// roomBeforeEnd returns how many characters of a name are drawn in a narrow plot before what ends its row: as
// many as there is room for.
func roomBeforeEnd(f frame, end string) int {
	const letter, gap = 7.2, 10
	room := f.width - f.left - f.right - gap - letter*float64(len([]rune(end)))
	return max(longestName, int(room/letter))
}

// nameWidth returns the room that names of rows need on the left, cut to so many characters.
func nameWidth(names []string, most int) float64 {
	longest := 8
	for _, n := range names {
		longest = max(longest, min(len([]rune(n)), most))
	}
	return 22 + 7.2*float64(longest)
}

func rowName(key, label string) string {
	if key == "" {
		return label
	}
	return key + "  " + label
}

func (b Bars) draw(c canvas, f frame) {
	longest := 0.0
	for _, r := range b.Rows {
		longest = math.Max(longest, r.Total())
	}
	x := newAxis(0, longest, 5, f.left, f.width-f.right)
	drawGrid(c, x, f.top, f.height-f.bottom)
	drawScale(c, f, x, b.X)
	height := float64(narrowRow)
	if f.isWide {
		height = wideRow
	}
	for i, r := range b.Rows {
		b.drawRow(c, f, x, r, f.top+height*float64(i), height)
	}
}

// drawGrid draws the grid behind rows between two heights, and their left edge.
func drawGrid(c canvas, x axis, top, base float64) {
	for _, v := range x.ticks {
		c.line(x.pixel(v), top, x.pixel(v), base, "grid")
	}
	c.line(x.at, top, x.at, base, "axis")
}

// drawScale writes the values of the axis below all rows.
func drawScale(c canvas, f frame, x axis, name string) {
	for _, v := range x.ticks {
		c.text(x.pixel(v), f.height-f.bottom+18, "tick", "middle", Trim(v))
	}
	c.text((f.left+f.width-f.right)/2, f.height-8, "label", "middle", name)
}

func (b Bars) drawRow(c canvas, f frame, x axis, r Bar, top, height float64) {
	y, thick := top+7, height-14
	name := rowName(r.Key, r.Label)
	if f.isWide {
		c.text(f.left-10, y+thick/2+4, "name", "end", shortName(name, longestBar))
	} else {
		y, thick = top+20, height-26
		c.text(f.left+6, top+14, "name", "start", shortName(name, longestAbove))
	}
	if b.Beside != "" && known(r.Beside) {
		thick -= 6
	}
	sum, total := 0.0, r.Total()
	for i, v := range r.Values {
		if !known(v) {
			continue
		}
		from, to := x.pixel(sum), x.pixel(sum+v)
		if i == b.BesideAt && b.Beside != "" && r.Beside > 0 {
			start := x.pixel(sum - r.Beside)
			c.rect(start, y+thick+2, from-start, 5, "beside",
				fmt.Sprintf("%s: %s %s", name, b.Beside, digits(r.Beside)))
		}
		sum += v
		share := fmt.Sprintf("%.0f %%", 100*v/total)
		if to-from > 0.05 {
			c.part(from, y, to-from, thick, i, fmt.Sprintf("%s: %s %s, %s", name, b.Parts[i], digits(v),
				share))
		}
		if to-from > 40 && len(r.Values) > 1 {
			c.text((from+to)/2, y+thick/2+4, fmt.Sprintf("inside q%d", i%len(hatchings())), "middle", share)
		}
	}
	end := r.End
	if end == "" {
		end = digits(total)
	}
	c.text(x.pixel(sum)+6, y+thick/2+4, "tick", "start", end)
}
