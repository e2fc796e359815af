package model_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/model"
	"lockstep/tensor"
)

// FuzzConfig wants an error or names of classes that differ, and no panic.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"id2label":{"0":"a","1":7},"label2id":{"a":0,"7":"1"},"hidden_act":"relu"}`))
	f.Add([]byte(`{"id2label":{"0":"LABEL_0"},"label2id":{"LABEL_0":0},"layer_norm_eps":1e-5}`))
	f.Add([]byte(`{"id2label":["a"],"num_attention_heads":"2"}`))
	n, err := model.Named("bert-tiny", 2, tensor.Shape{8})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, config []byte) {
		names, err := model.ClassNames(config)
		for i, name := range names {
			if err != nil || slices.Index(names, name) != i {
				t.Fatalf("%q, %v", names, err)
			}
		}
		if list, err := n.Differences(config); err != nil && len(list) > 0 {
			t.Fatalf("%q, %v", list, err)
		}
	})
}

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
