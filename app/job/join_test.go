package job

import (
	"testing"

	"lockstep/app/setting"
)

func TestEveryStrategyHasAJoin(t *testing.T) {
	ways := joins()
	for _, s := range setting.Strategies() {
		if s.Name == setting.Auto {
			continue // it is another one when workers join
		}
		if ways[s.Name] == nil {
			t.Errorf("no worker can join with --strategy %s", s.Name)
		}
		delete(ways, s.Name)
	}
	for name := range ways {
		t.Errorf("--strategy %s is no setting", name)
	}
}
