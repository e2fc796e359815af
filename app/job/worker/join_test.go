package worker

import (
	"testing"

	"lockstep/app/strategy"
)

func TestEveryStrategyHasAJoin(t *testing.T) {
	for _, s := range strategy.All() {
		if joinOf(s.Exchange) == nil {
			t.Errorf("no worker can join with --strategy %s", s.Name)
		}
	}
}
