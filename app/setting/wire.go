package setting

import "lockstep/gradsync"

// GradientWire returns the form in which gradients travel: as they are where none do.
func (c Config) GradientWire() gradsync.Wire {
	w, err := gradsync.ParseWire(c.Wire)
	if err != nil || c.EvalOnly {
		return gradsync.Wire{} // Validate refuses what is no wire
	}
	return w
}

// wires lists the forms in which gradients may travel.
func wires() []string {
	var names []string
	for _, w := range gradsync.Wires() {
		names = append(names, w.String())
	}
	return names
}

// exactWires lists those that change no bit of the result.
func exactWires() []string {
	var names []string
	for _, w := range gradsync.Wires() {
		if !w.IsLossy() && !w.IsAuto() {
			names = append(names, w.String())
		}
	}
	return names
}

// IsLossy reports whether gradients that travel as wire are rounded or thinned out, so that the result
// is another than that of one worker. Of "auto", and of what is no wire, it is not known, and false.
func IsLossy(wire string) bool { return Config{Wire: wire}.GradientWire().IsLossy() }

// wireProblem returns why gradients cannot travel as asked for, or nil.
func (c Config) wireProblem() error {
	w, err := gradsync.ParseWire(c.Wire)
	if err != nil || c.Strategy == "gather-scatter" { // which has an algorithm of its own
		return err
	}
	return w.Check(c.Algorithm)
}
