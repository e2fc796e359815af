package compare

import (
	"fmt"
	"strings"

	"lockstep/app/record"
)

// mostMaths is more than any device has.
const mostMaths = 8

// MathText says what the maths that were compared before a run took; "" if its math was given.
func MathText(c *record.MathChoice) string {
	if c == nil || len(c.Maths) == 0 {
		return ""
	}
	var parts []string
	for _, m := range c.Maths[:min(len(c.Maths), mostMaths)] {
		parts = append(parts, fmt.Sprintf("%s %s ms", Plain(m.Math), m.Milliseconds()))
	}
	return fmt.Sprintf("%s, chosen by auto, which takes none that rounds more than float32; steps before "+
		"the run: %s", Plain(c.Chosen), strings.Join(parts, ", "))
}
