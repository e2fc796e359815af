package plot

import "math"

// Waterfall is a chart of how one total becomes another: a bar for each step of the way, between those of
// both.
type Waterfall struct {
	X          string // name of the axis, with its unit
	From, To   string // names of the totals
	Start, End float64
	Falls      []Fall
}

// Fall is a step of a [Waterfall].
type Fall struct {
	Name   string
	Value  float64
	Lo, Hi float64 // interval of the value; NaN: none
	IsSure bool    // it is drawn full; else in outline
}

// Legend implements [Chart]: rows have their names beside them.
func (w Waterfall) Legend() []Named { return nil }

// Data implements [Tabular]: a row for each bar.
func (w Waterfall) Data() [][]any {
	all := [][]any{{"row", w.X, "from", "to"}, {w.From, w.Start, math.NaN(), math.NaN()}}
	for _, f := range w.Falls {
		all = append(all, []any{f.Name, f.Value, f.Lo, f.Hi})
	}
	return append(all, []any{w.To, w.End, math.NaN(), math.NaN()})
}

func (w Waterfall) rows() rows {
	r := rows{beside: 28, above: 44, names: []string{w.From}}
	for _, f := range w.Falls {
		r.names = append(r.names, f.Name)
	}
	r.names = append(r.names, w.To)
	return r
}

func (w Waterfall) frame(f frame) frame { return w.rows().frame(f, 0, 62) }

func (w Waterfall) draw(c canvas, f frame) {
	all, at := []float64{0, w.Start, w.End}, w.Start
	for _, fall := range w.Falls {
		all = append(all, at+fall.Lo, at+fall.Hi, at+fall.Value)
		at += fall.Value
	}
	lo, hi := span(all)
	x := newAxis(lo, hi, 5, f.left, f.width-f.right)
	drawGrid(c, x, f.top, f.height-f.bottom)
	drawScale(c, f, x, w.X)
	height := w.rows().height(f)
	bar := func(i int, name string, from, to, value float64, class string) {
		top := f.top + height*float64(i)
		y, thick := top+5, height-10
		if !f.isWide {
			y, thick = top+20, height-26
		}
		drawName(c, f, name, top, y+thick/2, 0)
		left, right := x.pixel(min(from, to)), x.pixel(max(from, to))
		c.rect(left, y, max(right-left, 1), thick, class, name+": "+digits(value))
		c.text(right+6, y+thick/2+4, "tick", "start", digits(value))
	}
	bar(0, w.From, 0, w.Start, w.Start, part(5))
	at = w.Start
	for i, fall := range w.Falls {
		class := part(2)
		if fall.Value < 0 {
			class = part(3)
		}
		if !fall.IsSure {
			class = "beside"
		}
		bar(i+1, fall.Name, at, at+fall.Value, fall.Value, class)
		if known(fall.Lo) && known(fall.Hi) {
			y := f.top + height*float64(i+2) - 3
			c.line(x.pixel(at+fall.Lo), y, x.pixel(at+fall.Hi), y, "axis")
		}
		at += fall.Value
	}
	bar(len(w.Falls)+1, w.To, 0, w.End, w.End, part(5))
}
