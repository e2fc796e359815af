package plot

import (
	_ "embed"
	"regexp"
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
