package plot

import (
	"cmp"
	"fmt"
	"math"
)

// Bars is a chart of stacked bars, one per row.
type Bars struct {
	X     string   // name of the axis, with its unit
	Parts []string // of a bar, in order
	Rows  []Bar
	// Beside names what a thin bar below a row stands for; it ends where part BesideAt begins.
	Beside   string
	BesideAt int
}

// Bar is a row of [Bars].
type Bar struct {
	Name   string
	Values []float64 // by part
	Beside float64   // NaN: unknown
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

// Legend implements [Chart]: a sample of each part, if there are several.
func (b Bars) Legend() (all []Named) {
	for i, name := range b.Parts {
		all = append(all, Named{box(i), "", name})
	}
	return all
}

// Data implements [Tabular]: a row for each bar.
func (b Bars) Data() [][]any {
	head := []any{"row"}
	for _, part := range b.Parts {
		head = append(head, part+", "+b.X)
	}
	all := [][]any{append(head, "sum", cmp.Or(b.Beside, "beside"))}
	for _, r := range b.Rows {
		line := []any{r.Name}
		for _, v := range r.Values {
			line = append(line, v)
		}
		all = append(all, append(line, r.Total(), r.Beside))
	}
	return all
}

func (b Bars) rows() rows {
	r := rows{beside: 34, above: 46}
	for _, one := range b.Rows {
		r.names = append(r.names, one.Name)
	}
	return r
}

func (b Bars) frame(f frame) frame { return b.rows().frame(f, 0, 62) }

func (b Bars) draw(c canvas, f frame) {
	longest := 0.0
	for _, r := range b.Rows {
		longest = math.Max(longest, r.Total())
	}
	x := newAxis(0, longest, 5, f.left, f.width-f.right)
	drawGrid(c, x, f.top, f.height-f.bottom)
	drawScale(c, f, x, b.X)
	height := b.rows().height(f)
	for i, r := range b.Rows {
		b.drawRow(c, f, x, r, f.top+height*float64(i), height)
	}
}

func (b Bars) drawRow(c canvas, f frame, x axis, r Bar, top, height float64) {
	y, thick := top+7, height-14
	if !f.isWide {
		y, thick = top+20, height-26
	}
	drawName(c, f, r.Name, top, y+thick/2, 0)
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
				fmt.Sprintf("%s: %s %s", r.Name, b.Beside, digits(r.Beside)))
		}
		sum += v
		if to-from > 0.05 {
			c.rect(from, y, to-from, thick, part(i), fmt.Sprintf("%s: %s %s, %s", r.Name, b.Parts[i],
				digits(v),
				share(v/total)))
		}
		if to-from > 40 && len(r.Values) > 1 {
			c.text((from+to)/2, y+thick/2+4, fmt.Sprintf("inside q%d", i%numParts), "middle",
				share(v/total))
		}
	}
	c.text(x.pixel(sum)+6, y+thick/2+4, "tick", "start", digits(total))
}

// numParts is the number of colours of parts.
const numParts = 7

// part is the class of part i of a bar.
func part(i int) string { return fmt.Sprintf("phase p%d", i%numParts) }

// share writes a part of 1 in percent; what is there is never "0 %".
func share(v float64) string {
	if v > 0 && v < 0.01 {
		return "< 1 %"
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}
