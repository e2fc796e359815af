package compare

import (
	"fmt"
	"strings"

	"lockstep/app/record"
)

// mostMaths is more than any device has.
const mostMaths = 8

// MathText says what the maths that were compared before a run took and cost; "" if its math was given.
func MathText(c *record.MathChoice) string {
	if c == nil || len(c.Maths) == 0 {
		return ""
	}
	var parts []string
	for i, m := range c.Maths[:min(len(c.Maths), mostMaths)] {
		text := fmt.Sprintf("%s %s ms", Plain(m.Math), m.Milliseconds())
		if i > 0 && m.IsAs(c.Maths[0]) {
			text = fmt.Sprintf("%s not timed, the same bits in the first shard", Plain(m.Math))
		}
		if m.Gradient > 0 {
			text += fmt.Sprintf(" (gradient off by %.2g)", float64(m.Gradient))
		}
		parts = append(parts, text)
	}
	return fmt.Sprintf("%s, chosen by auto, which takes none that rounds more than float32; steps before "+
		"the run: %s", Plain(c.Chosen), strings.Join(parts, ", "))
}
