package plot_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/app/report/plot"
)

// palettes returns the colours of the light and of the dark palette by name.
func palettes(t *testing.T) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	for name, at := range map[string]int{"light": 0, "dark": strings.Index(plot.StyleSheet,
		"(prefers-color-scheme:dark)")} {
		text := plot.StyleSheet[at:]
		text = text[strings.Index(text, ":root{"):]
		out[name] = map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z0-9-]+):(#[0-9a-f]{6})`).
			FindAllStringSubmatch(text[:strings.Index(text, "}")], -1) {
			out[name][m[1]] = m[2]
		}
	}
	if len(out["light"]) != len(out["dark"]) || len(out["light"]) < 20 {
		t.Fatalf("%d colours by day, %d by night", len(out["light"]), len(out["dark"]))
	}
	return out
}

// linear returns the linear red, green and blue of a colour, 0 to 1.
func linear(colour string) (rgb [3]float64) {
	for i := range rgb {
		v, _ := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		s := float64(v) / 255
		rgb[i] = s / 12.92
		if s > 0.04045 {
			rgb[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return rgb
}

// contrast is the ratio of the Web Content Accessibility Guidelines 2.1: (L1 + 0.05) / (L2 + 0.05).
func contrast(a, b string) float64 {
	luminance := func(c string) float64 {
		rgb := linear(c)
		return 0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2]
	}
	x, y := luminance(a), luminance(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

// Text reaches 4.5 : 1 on what it stands on, and marks 3 : 1, as the guidelines ask for (1.4.3 and 1.4.11).
func TestContrast(t *testing.T) {
	if got := contrast("#000000", "#ffffff"); math.Abs(got-21) > 1e-9 {
		t.Fatalf("black on white has %v : 1, want 21", got)
	}
	for name, colours := range palettes(t) {
		for _, c := range []struct {
			least     float64
			on, marks string
		}{
			{4.5, "paper", "ink soft accent refused caution sure"}, {4.5, "block", "ink soft accent sure " +
				"caution"},
			{4.5, "panel", "ink"}, {3, "paper", "k0 k1 k2 k3 k4 k5"}, {3, "block", "k0 k1 k2 k3 k4 k5"},
			{4.5, "p0", "on"}, {4.5, "p3", "on"}, {4.5, "p1", "on-light"}, {4.5, "p2", "on-light"},
			{4.5, "p4", "on-light"}, {4.5, "p5", "on-light"}, {4.5, "p6", "on-light"},
		} {
			for mark := range strings.FieldsSeq(c.marks) {
				if got := contrast(colours[mark], colours[c.on]); got < c.least {
					t.Errorf("%s: %s on %s has %.2f : 1, want %v", name, mark, c.on, got, c.least)
				}
			}
		}
	}
}

// Colours of series, and of parts of bars beside each other, are told apart by those who lack one kind of
// cones as well, or by their lightness. The matrices, on linear light, are those of Machado, Oliveira and
// Fernandes, "A physiologically-based model for simulation of color vision deficiency", 2009, at full
// severity; the distance is that of CIELAB.
func TestColoursForTheColourBlind(t *testing.T) {
	const least = 12 // about five times what is just noticed
	kinds := map[string][9]float64{
		"normal": {1, 0, 0, 0, 1, 0, 0, 0, 1},
		"protanopia": {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882,
			-0.048116, 1.051998},
		"deuteranopia": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940,
			0.968881},
		"tritanopia": {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733,
			0.691367, 0.303900},
	}
	for palette, colours := range palettes(t) {
		for kind, m := range kinds {
			apart := func(one, other string) {
				a, b := lab(m, colours[one]), lab(m, colours[other])
				if d := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]); d < least {
					t.Errorf("%s, %s: %s and %s are %.1f apart, want %d", palette, kind, one, other, d, least)
				}
			}
			for i := range plot.NumColours {
				for j := range i {
					apart(fmt.Sprintf("k%d", i), fmt.Sprintf("k%d", j))
				}
				apart(fmt.Sprintf("p%d", i), fmt.Sprintf("p%d", i+1))
			}
		}
	}
}

// lab returns a colour as somebody sees it whose matrix is m, in CIELAB under D65.
func lab(m [9]float64, colour string) [3]float64 {
	in := linear(colour)
	var rgb [3]float64
	for i := range rgb {
		rgb[i] = math.Min(math.Max(m[3*i]*in[0]+m[3*i+1]*in[1]+m[3*i+2]*in[2], 0), 1)
	}
	f := func(x float64) float64 {
		if x > 216./24389 {
			return math.Cbrt(x)
		}
		return (24389./27*x + 16) / 116
	}
	x := f((0.4124*rgb[0] + 0.3576*rgb[1] + 0.1805*rgb[2]) / 0.9505)
	y := f(0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2])
	z := f((0.0193*rgb[0] + 0.1192*rgb[1] + 0.9505*rgb[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// No two of 36 series have dashes and mark in common, so that colour is never needed.
func TestMarksDifferWithoutColour(t *testing.T) {
	var seen []string
	for n := range 36 {
		sample := string(plot.Style{Number: n}.Swatch())
		if slices.Contains(seen, sample) {
			t.Errorf("series %d looks like another one", n)
		}
		seen = append(seen, sample)
	}
}
