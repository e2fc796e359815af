package strategy_test

import (
	"slices"
	"testing"

	"lockstep/app/strategy"
	"lockstep/gradsync"
)

// A name says one thing.
func TestNamesAreOfOneStrategy(t *testing.T) {
	var seen []string
	for _, s := range strategy.All() {
		if slices.Contains(seen, s.Name) {
			t.Errorf("%s is another strategy too", s.Name)
		}
		seen = append(seen, s.Name)
		if got := strategy.Named(s.Name); got.Usage != s.Usage || s.Usage == "" {
			t.Errorf("%s: usage %q, listed %q", s.Name, got.Usage, s.Usage)
		}
	}
	if s := strategy.Named("unknown"); s.Name != "" || s.IsLoose() {
		t.Errorf("an unknown name has %+v", s)
	}
}

// What gradsync can exchange is a strategy whose workers exchange gradients, and a bench compares it.
func TestExchangesAreStrategies(t *testing.T) {
	for _, name := range gradsync.Names() {
		s := strategy.Named(name)
		if s.Exchange != strategy.Gradients || s.IsLoose() || !slices.Contains(strategy.Compared(), name) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// Every strategy that workers exchange by can be predicted, and one that cannot be exact says why.
func TestEveryExchangeIsPredicted(t *testing.T) {
	for _, s := range strategy.All() {
		if isReal := s.Exchange != strategy.Nothing && s.Name != strategy.Auto; isReal != (len(s.Ways) > 0) {
			t.Errorf("%s has %d ways", s.Name, len(s.Ways))
		}
		if s.IsLoose() != (s.Inexact != "") {
			t.Errorf("%s: loose %v, inexact because %q", s.Name, s.IsLoose(), s.Inexact)
		}
	}
}
