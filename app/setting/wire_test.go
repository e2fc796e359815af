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

// A size of buckets that is found by timing is refused where sums depend on it.
func TestBucketsAreNotTunedWhereSumsDependOnThem(t *testing.T) {
	for _, test := range []struct {
		name, value string
		isRefused   bool
	}{
		{"wire", "int8", true}, {"wire", "zstd", false}, {"algorithm", "ring", true},
		{"algorithm", "direct", false}, {"algorithm", "auto", false},
	} {
		_, _, err := Resolve(Source{Flags: map[string]string{"workers": "2",
			"tune-bucket": "true", test.name: test.value}})
		want := "tune-bucket: changes no result, but with --" + test.name + " " + test.value
		if (err != nil) != test.isRefused || test.isRefused && !strings.Contains(err.Error(), want) {
			t.Errorf("--%s %s: %v, want it refused: %v", test.name, test.value, err, test.isRefused)
		}
	}
}
