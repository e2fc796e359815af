package model_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/graph"
	"lockstep/model"
	"lockstep/nn"
	"lockstep/tensor"
)

// head is the least network.
func head(x *graph.Node, classes int) *graph.Node {
	return nn.Linear{Out: classes, IsHead: true}.Apply("head", graph.Flatten(x))
}

func TestCatalogAddsANetwork(t *testing.T) {
	c, err := model.Catalog{}.With("mynet", head)
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.Named("mynet", 10, tensor.Shape{8, 8, 3})
	own := []string{"head.weight", "head.bias"}
	if err != nil || n.Name != "mynet" || !slices.Equal(n.Parameters(), own) {
		t.Errorf("%+v, %v", n, err)
	}
	if names := c.Names(); names[len(names)-1] != "mynet" || !slices.Contains(names, "lenet") {
		t.Errorf("names %v", names)
	}
	if _, err := c.Named("mynot", 10, tensor.Shape{8, 8, 3}); !strings.Contains(err.Error(), `"mynet"`) {
		t.Errorf("hint %v", err)
	}
	if _, err := model.Named("mynet", 10, tensor.Shape{8, 8, 3}); err == nil {
		t.Error("the catalog of this package has changed")
	}
}

func TestCatalogRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"lenet": "taken", "": "empty", "My net": "small letters", "9": "letter first",
	} {
		if _, err := (model.Catalog{}).With(name, head); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	if _, err := (model.Catalog{}).With("mynet", nil); err == nil {
		t.Error("a network without a function")
	}
	flat := func(x *graph.Node, _ int) *graph.Node { return graph.Flatten(x) }
	c, err := model.Catalog{}.With("flat", flat)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Named("flat", 10, tensor.Shape{8, 8, 3})
	if err == nil || !strings.Contains(err.Error(), "does not end in logits [1, 10]") {
		t.Errorf("flat: %v", err)
	}
}
