package model_test

import (
	"testing"

	"lockstep/model"
	"lockstep/tensor"
)

func TestCatalogWithoutDropout(t *testing.T) {
	for name, c := range map[float64]model.Catalog{0.1: {}, 0: model.Catalog{}.WithoutDropout()} {
		n, err := c.Named("bert-tiny", 2, tensor.Shape{8})
		if err != nil || n.Dropout() != name || n.WithWords(100).Dropout() != name {
			t.Errorf("dropout %v, error %v, want %v", n.Dropout(), err, name)
		}
	}
	n, err := model.Named("lenet", 10, tensor.Shape{32, 32, 3})
	if err != nil || n.Dropout() != 0 {
		t.Errorf("dropout %v of images, error %v", n.Dropout(), err)
	}
}
