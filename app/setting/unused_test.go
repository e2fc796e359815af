package setting_test

import (
	"strings"
	"testing"

	"lockstep/app/setting"
)

// The settings of a run say that local-sgd did not use the defaults of the outer optimizer.
func TestUnusedDefaults(t *testing.T) {
	origins := setting.Origins{"outer-lr": "default", "average-every": "default"}
	for strategy, isUsed := range map[string]bool{"local-sgd": false, "diloco": true} {
		c := setting.Default()
		c.Strategy, c.Workers = strategy, 2
		text := string(c.YAML(origins))
		isTold := strings.Contains(text, "# default, not used by "+strategy+"\n")
		if isTold == isUsed || strings.Count(text, "not used") > 1 {
			t.Errorf("%s: %s", strategy, text)
		}
	}
}
