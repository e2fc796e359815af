package plot_test

import (
	"math"
	"strings"
	"testing"

	"lockstep/app/report/plot"
)

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
