package strategy

import (
	"slices"
	"strings"

	"lockstep/gradsync"
)

// Names that a program may choose by itself.
const (
	Single = "single"     // the default of one worker, and the baseline of comparisons
	DDP    = gradsync.DDP // the default of several
	None   = "none"       // the floor of comparisons
	Auto   = "auto"       // replaced by another one before a run begins
)

// Exchange is what the workers of a strategy exchange.
type Exchange int

// What is exchanged, and how often.
const (
	Nothing   Exchange = iota
	Gradients          // in a group of equals, in each step
	Averages           // of weights, in a group of equals, after so many steps
	Updates            // gradients for new weights, with parameter servers
)

// Strategy is a way for workers to train together.
type Strategy struct {
	Name  string
	Usage string // what it does, for the help text

	Exchange  Exchange
	IsAlone   bool   // it has one worker
	IsAsync   bool   // workers do not wait for each other
	IsFloor   bool   // workers train a model each: a bound to compare with, not training
	Algorithm string // of its collectives, where it leaves no choice; "": as set
	// Inexact is why several workers may end with other bits than one, whatever the wire; "" if they do not.
	Inexact string

	Takes      []string // settings that are not for every strategy, but for this one
	Ways       []string // its forms among which auto chooses: alone, or with settings of its own
	IsCompared bool     // a bench compares it unless told otherwise
	Colour     int      // of its curves, from 1; 0: that of whatever has none of its own
}

// All returns the strategies in the order of the help text.
func All() []Strategy {
	alone := Strategy{Name: Single, IsAlone: true, IsCompared: true, Colour: 1, Usage: "one worker"}
	return slices.Concat([]Strategy{alone}, gradients(), servers(), averages(), []Strategy{
		{Name: Auto, Exchange: Gradients, Takes: []string{"algorithm", "bucket"},
			Usage: "a few seconds of short runs find the exact strategy with the shortest step"},
		{Name: None, IsFloor: true, IsCompared: true, Colour: 5, Inexact: "workers never exchange gradients",
			Usage: "workers never exchange; a lower bound of the step time"},
	})
}

// Names lists the names of all strategies.
func Names() []string { return names(func(Strategy) bool { return true }) }

// Compared lists the names of those that a bench compares unless told otherwise.
func Compared() []string { return names(func(s Strategy) bool { return s.IsCompared }) }

// Taking lists the names of those that have a setting.
func Taking(setting string) []string {
	return names(func(s Strategy) bool { return s.HasSetting(setting) })
}

func names(is func(Strategy) bool) []string {
	var list []string
	for _, s := range All() {
		if is(s) {
			list = append(list, s.Name)
		}
	}
	return list
}

// Named returns the strategy of a name, or of a way: a name with settings, such as "ps:servers=2"; the zero
// Strategy if there is none.
func Named(way string) Strategy {
	name, _, _ := strings.Cut(way, ":")
	all := All()
	if i := slices.IndexFunc(all, func(s Strategy) bool { return s.Name == name }); i >= 0 {
		return all[i]
	}
	return Strategy{}
}

// HasSetting reports whether the strategy has a setting that is not for every strategy.
func (s Strategy) HasSetting(name string) bool { return slices.Contains(s.Takes, name) }

// IsLoose reports whether the workers do not wait for one another in every step, so that each tells its own
// losses and samples.
func (s Strategy) IsLoose() bool { return s.IsFloor || s.IsAsync || s.Exchange == Averages }
