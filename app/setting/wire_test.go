package setting

import (
	"strings"
	"testing"
)

func TestWiresThatDoNotFit(t *testing.T) {
	c := Default()
	c.Workers, c.Wire, c.Algorithm = 2, "int8", "halving-doubling"
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "would round again") {
		t.Errorf("int8 by halving-doubling: %v", err)
	}
	c.Strategy = "gather-scatter"
	if err := c.Validate(); err != nil {
		t.Errorf("gather-scatter has an algorithm of its own: %v", err)
	}
	for _, wire := range wires(isAny) {
		c.Wire = wire
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", wire, err)
		}
	}
}
