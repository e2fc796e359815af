package plot

import (
	_ "embed"
	"image/color"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// StyleSheet has the colours of both palettes as custom properties, and the rules of charts. A page that
// holds charts needs it.
//
//go:embed plot.css
var StyleSheet string

var property = regexp.MustCompile(`var\((--[a-z0-9-]+)\)`)

// lightRules returns the rules of charts in the light palette, and the colour of its paper. Custom properties
// are replaced by their values because not every viewer of SVG knows them.
func lightRules() (rules, paper string) {
	light, rules, _ := strings.Cut(StyleSheet, "}")
	_, rules, _ = strings.Cut(rules, "/* rules */")
	rules, _, _ = strings.Cut(rules, "/* page */")
	values := map[string]string{}
	for _, pair := range strings.Split(strings.TrimPrefix(light, ":root{"), ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), ":")
		values[name] = value
	}
	rules = property.ReplaceAllStringFunc(rules, func(s string) string {
		return values[property.FindStringSubmatch(s)[1]]
	})
	return rules, values["--paper"]
}

// rule is a rule of the style sheet for elements with all of some classes.
type rule struct {
	isText  bool // for texts alone
	classes []string
	weight  int // the later of equal rules wins, and any heavier one
	values  [][2]string
}

// look is the properties of an element by name.
type look map[string]string

// parseRules reads a style sheet of the form of plot.css: selectors are classes, "text" or both below "svg".
func parseRules(sheet string) (all []rule) {
	for block := range strings.SplitSeq(sheet, "}") {
		selectors, body, isRule := strings.Cut(block, "{")
		if !isRule {
			continue
		}
		var values [][2]string
		for pair := range strings.SplitSeq(body, ";") {
			name, value, _ := strings.Cut(pair, ":")
			values = append(values, [2]string{strings.TrimSpace(name), strings.TrimSpace(value)})
		}
		for one := range strings.SplitSeq(selectors, ",") {
			one, isBelow := strings.CutPrefix(strings.TrimSpace(one), "svg ")
			names := strings.Split(one, ".")
			r := rule{isText: names[0] == "text", classes: names[1:], values: values}
			r.weight = 10 * len(r.classes) // as browsers weigh: a class is more than any number of elements
			for _, is := range []bool{isBelow, r.isText} {
				if is {
					r.weight++
				}
			}
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b rule) int { return a.weight - b.weight })
	return all
}

// lookOf returns the properties of an element with classes, split by spaces.
func lookOf(rules []rule, class string, isText bool) look {
	has := strings.Fields(class)
	out := look{}
	for _, r := range rules {
		isMissing := func(c string) bool { return !slices.Contains(has, c) }
		if r.isText && !isText || slices.ContainsFunc(r.classes, isMissing) {
			continue
		}
		for _, v := range r.values {
			out[v[0]] = v[1]
		}
	}
	return out
}

// number returns a property without its unit, or what it is where nothing is said.
func (l look) number(name string, otherwise float64) float64 {
	if v, err := strconv.ParseFloat(strings.TrimSuffix(l[name], "px"), 64); err == nil {
		return v
	}
	return otherwise
}

// ink returns the colour of a property, with the opacity of the element; nil is none.
func (l look) ink(name, otherwise string) color.Color {
	value := l[name]
	if value == "" {
		value = otherwise
	}
	if value == "currentColor" {
		value = l["color"]
	}
	c, isColour := parseColour(value)
	if !isColour {
		return nil
	}
	c.A = uint8(255*l.number("opacity", 1) + 0.5)
	return c
}

// dashes returns the lengths of the dashes and gaps of the element's stroke, in turn; nil is one dash.
func (l look) dashes(scale float64) (lengths []float64) {
	for d := range strings.FieldsSeq(l["stroke-dasharray"]) {
		if v, err := strconv.ParseFloat(d, 64); err == nil {
			lengths = append(lengths, v*scale)
		}
	}
	return lengths
}

// parseColour reads #rrggbb.
func parseColour(s string) (c color.NRGBA, isColour bool) {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 32)
	if err != nil || len(s) != 7 {
		return c, false
	}
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}, true
}
