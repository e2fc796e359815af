package report

import (
	"fmt"
	"html/template"

	"lockstep/app/analysis"
)

// bars is a plot of stacked phases, one bar per line.
type bars struct {
	id, title, description string
	rows                   []barRow
}

// barRow is one bar: milliseconds by phase, in the order of analysis.Phases.
type barRow struct {
	key, label string
	values     []float64
}

func (b barRow) total() float64 {
	sum := 0.0
	for _, v := range b.values {
		sum += v
	}
	return sum
}

// markup draws the plot for both widths of window; the style sheet shows one.
func (b bars) markup() template.HTML {
	wide, narrow := wideFrame(), narrowFrame()
	wide.left, wide.right, wide.top = 146, 44, 4
	narrow.left, narrow.right, narrow.top = 8, 46, 4
	const wideRow, narrowRow = 34, 46
	wide.height = wide.top + wide.bottom + wideRow*float64(len(b.rows))
	narrow.height = narrow.top + narrow.bottom + narrowRow*float64(len(b.rows))
	return b.draw(wide, wideRow) + b.draw(narrow, narrowRow)
}

func (b bars) draw(f frame, rowHeight float64) template.HTML {
	id := b.id + "-" + f.class
	c := newCanvas(id, f.class, b.title, b.description, f.width, f.height)
	c.textures(id)
	longest := 0.0
	for _, r := range b.rows {
		longest = max(longest, r.total())
	}
	x := newAxis(0, longest, 5, f.left, f.width-f.right)
	base := f.height - f.bottom
	for _, v := range x.ticks {
		c.line(x.pixel(v), f.top, x.pixel(v), base, "grid")
		c.text(x.pixel(v), base+18, "tick", "middle", trim(v))
	}
	c.line(f.left, f.top, f.left, base, "axis")
	c.text((f.left+f.width-f.right)/2, f.height-8, "label", "middle",
		"ms per step")
	for i, r := range b.rows {
		b.drawRow(c, f, x, id, r, f.top+rowHeight*float64(i), rowHeight)
	}
	return c.markup()
}

func (b bars) drawRow(c *canvas, f frame, x axis, id string, r barRow, top,
	rowHeight float64) {
	y, thick := top+7, rowHeight-14
	name := r.key + "  " + r.label
	if f.isWide {
		c.text(f.left-10, y+thick/2+4, "mark", "end", name)
	} else {
		y, thick = top+20, rowHeight-26
		c.text(f.left+6, top+14, "mark", "start", name)
	}
	sum := 0.0
	for i, phase := range analysis.Phases() {
		v := r.values[i]
		from, to := x.pixel(sum), x.pixel(sum+v)
		sum += v
		title := fmt.Sprintf("%s: %s %s ms, %.0f %%", name, phaseName(phase), digits(v, 3),
			100*v/r.total())
		if to-from > 0.05 {
			c.rect(from, y, to-from, thick, "phase p"+fmt.Sprint(i), title)
			c.texture(from, y, to-from, thick, id, i)
		}
		share := fmt.Sprintf("%.0f %%", 100*v/r.total())
		if to-from > 40 {
			c.text((from+to)/2, y+thick/2+4, "inside q"+fmt.Sprint(i), "middle", share)
		}
	}
	c.text(x.pixel(sum)+6, y+thick/2+4, "tick", "start", digits(sum, 3))
}

// phaseName is the phase as written for people.
func phaseName(phase string) string {
	if phase == "sync_exposed" {
		return "exposed communication"
	}
	return phase
}

// trim formats a tick of a linear axis without trailing zeros.
func trim(v float64) string { return fmt.Sprintf("%.6g", v) }

// box is a sample of a phase's fill.
func box(id string, phase int) template.HTML {
	c := newSample()
	c.textures(id)
	c.rect(0, 0, c.width, c.height, fmt.Sprintf("phase p%d", phase), "")
	c.texture(0, 0, c.width, c.height, id, phase)
	return c.markup()
}
