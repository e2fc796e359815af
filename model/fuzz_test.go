package model_test

import (
	"strings"
	"testing"

	"lockstep/model"
	"lockstep/tensor"
)

func FuzzNamed(f *testing.F) {
	f.Add("lenet", 10, 32, 32, 3)
	f.Add("bert-tiny", 2, 128, 0, 0)
	f.Add("resnet20", 10, 8, 8, 1)
	f.Fuzz(func(t *testing.T, name string, classes, h, w, c int) {
		if classes > 1<<10 || max(h, w) > 1<<8 || c > 8 {
			return // allowed, but slow
		}
		shape := tensor.Shape{h, w, c}
		if (model.Catalog{}).ReadsTexts(name) {
			shape = shape[:1]
		}
		n, err := model.Named(name, classes, shape)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: %v", name, err)
			}
			return
		}
		if n.Name != name || n.Classes != classes || classes < 1 || shape.Elems() < 1 {
			t.Fatalf("%q with %d classes of %v is %+v", name, classes, shape, n)
		}
	})
}
