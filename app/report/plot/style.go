package plot

import (
	_ "embed"
	"image/color"
	"maps"
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

// look is the properties of an element by name.
type look map[string]string

// rule is the properties of the elements of a class.
type rule struct {
	class string
	look  look
}

// parseRules reads a style sheet of the form of plot.css: each selector is a class or "text".
func parseRules(sheet string) (all []rule) {
	for block := range strings.SplitSeq(sheet, "}") {
		selectors, body, _ := strings.Cut(block, "{")
		properties := look{}
		for pair := range strings.SplitSeq(body, ";") {
			name, value, _ := strings.Cut(pair, ":")
			properties[name] = value
		}
		for selector := range strings.SplitSeq(selectors, ",") {
			selector = strings.TrimPrefix(strings.TrimSpace(selector), "svg ")
			all = append(all, rule{strings.TrimPrefix(selector, "."), properties})
		}
	}
	return all
}

// lookOf returns the properties of an element with classes, split by spaces. The last rule for one wins.
func lookOf(rules []rule, class string) look {
	has, out := strings.Fields(class), look{}
	for _, r := range rules {
		if slices.Contains(has, r.class) {
			maps.Copy(out, r.look)
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

// ink returns the colour #rrggbb of a property, with the opacity of the element; nil is none.
func (l look) ink(name, otherwise string) color.Color {
	value := otherwise
	if own := l[name]; own == "currentColor" {
		value = l["color"]
	} else if own != "" {
		value = own
	}
	v, err := strconv.ParseUint(strings.TrimPrefix(value, "#"), 16, 32)
	if err != nil {
		return nil
	}
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: uint8(255*l.number("opacity", 1) +
		0.5)}
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
