package setting

import (
	"slices"
	"strings"

	"lockstep/data"
	"lockstep/gradsync"
	"lockstep/model"
)

// Catalog has the networks and data sets that a program knows by name. A nil *Catalog has those that
// come with Lockstep.
type Catalog struct {
	Models model.Catalog
	Data   data.Catalog
}

// Models returns the networks that the run's program knows by name.
func (c Config) Models() (k model.Catalog) {
	if c.Catalog != nil {
		k = c.Catalog.Models
	}
	if c.FreshHead {
		k = k.WithFreshHeads()
	}
	return k.WithSide(c.Size)
}

// WithModel returns the configuration for a network. Weights that are given for one, as NAME=PATH, are
// PATH if that is this one, else none.
func (c Config) WithModel(model string) Config {
	name, path, isNamed := strings.Cut(c.Weights, "=")
	if c.Model = model; isNamed && slices.Contains(c.Models().Names(), name) {
		if c.Weights = path; name != model {
			c.Weights, c.FreshHead = "", false
		}
	}
	return c
}

// Datasets returns the data sets that the run's program knows by name.
func (c Config) Datasets() data.Catalog {
	if c.Catalog == nil {
		return data.Catalog{}
	}
	return c.Catalog.Data
}

// WithoutDropout returns c with a catalog of the same names whose networks have no dropout.
func (c Config) WithoutDropout() Config {
	c.Catalog = &Catalog{Models: c.Models().WithoutDropout(), Data: c.Datasets()}
	return c
}

const (
	none = "none" // of test-time augmentation, and of augmentation

	linkLocal = "local"
	linkSHM   = "shm"
	linkTCP   = "tcp"

	ttaFlip      = "flip"
	ttaFlipShift = "flip-shift"

	decayAll      = "all"      // weight decay of every parameter, as in PyTorch
	decayMatrices = "matrices" // not of biases and norms

	withWorkers = "workers" // server s lives in the process of worker s mod W
	apart       = "apart"   // each server is a process of its own

	auto = "auto"

	// Auto is the strategy, or the math, that is replaced by another one before a run begins.
	Auto = auto
)

// Names of the normalisations besides auto.
const (
	NormalizeData     = "data"
	NormalizeImageNet = "imagenet"
)

// wires lists the names of compressions that is reports true for.
func wires(is func(gradsync.Wire) bool) []string {
	var names []string
	for _, w := range gradsync.Wires() {
		if is(w) {
			names = append(names, w.String())
		}
	}
	return names
}

func isAny(gradsync.Wire) bool        { return true }
func isLossless(w gradsync.Wire) bool { return !w.IsLossy() && !w.IsAuto() }
func isFixed(w gradsync.Wire) bool    { return w.IsFixed() } // no residuals, and not decided during the run
