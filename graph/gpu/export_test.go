//go:build cuda && linux && amd64

package gpu

// Prefer makes products use the methods of these names from now on, as far as they exist; see methodNamed.
func (e *Executor) Prefer(names ...string) { e.preferred = names }

// Methods says how each product is computed, in the order of preparation.
func (e *Executor) Methods() []string { return e.methods }

// TooOld is tooOld.
var TooOld = tooOld
