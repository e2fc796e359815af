package setting

import "fmt"

// Inexact returns why the run may end with other bits than one worker on the same shards, as a phrase
// such as "top-k leaves out gradients"; "" if it ends with the same. A wire or a length that is decided
// during the run counts as what it says now.
func (c Config) Inexact() string {
	switch {
	case c.Workers == 1 && c.NumServers() > 0 && c.GradientWire().IsLossy():
		return fmt.Sprintf("the wire %s rounds or drops gradients", c.Wire)
	case c.Workers == 1 || c.EvalOnly:
		return ""
	case c.strategy().Inexact != "" && (!c.strategy().IsAsync || c.IsAsync()):
		return c.strategy().Inexact
	case c.GradientWire().IsLossy():
		return fmt.Sprintf("the wire %s rounds or drops gradients", c.Wire)
	case c.Algorithm == "ring" && c.takes("algorithm"):
		return "the ring adds gradients in an order that depends on the number of workers"
	}
	return ""
}
