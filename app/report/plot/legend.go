package plot

// Named is a line of a legend.
type Named struct {
	Sample
	Key, Name string
}

// Sample is a piece of a curve or of a bar that stands beside a name in a legend.
type Sample struct {
	paint func(c canvas, width, height float64)
}

// curve is a sample of a curve: its colour, dashes and mark.
func curve(s Style) Sample {
	return Sample{func(c canvas, width, height float64) {
		c.line(1, height/2, width-1, height/2, "curve "+s.class())
		c.marks([]point{{width / 2, height / 2}}, s, "mark", "")
	}}
}

// box is a sample of the fill of part i of a bar.
func box(i int) Sample {
	return Sample{func(c canvas, width, height float64) { c.rect(0, 0, width, height, part(i), "") }}
}
