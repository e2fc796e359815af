package setting

import "lockstep/gradsync"

// GradientWire returns the compression of gradients, or of the averages that the strategy exchanges in
// their place: none if nothing is exchanged.
func (c Config) GradientWire() gradsync.Wire {
	name := c.Wire
	if c.takes("outer-wire") {
		name = c.OuterWire
	}
	w, err := gradsync.ParseWire(name)
	if err != nil || c.EvalOnly {
		return gradsync.Wire{} // Validate refuses an unknown wire
	}
	return w
}

// wires lists the names of compressions of gradients.
func wires() []string {
	var names []string
	for _, w := range gradsync.Wires() {
		names = append(names, w.String())
	}
	return names
}

// exactWires lists the lossless ones.
func exactWires() []string {
	var names []string
	for _, w := range gradsync.Wires() {
		if !w.IsLossy() && !w.IsAuto() {
			names = append(names, w.String())
		}
	}
	return names
}

// IsLossy reports whether a wire rounds or drops gradients, so that the result differs from that of one
// worker. For "auto" and for unknown names it returns false.
func IsLossy(wire string) bool { return Config{Wire: wire}.GradientWire().IsLossy() }

// wireProblem returns why the wire cannot be used, or nil.
func (c Config) wireProblem() error {
	w, err := gradsync.ParseWire(c.Wire)
	if err != nil || !c.takes("algorithm") || c.takes("outer-wire") {
		return err
	}
	return w.Check(c.Algorithm)
}
