package checkpoint_test

import (
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"lockstep/checkpoint"
	"lockstep/tensor"
)

// Write and Open read and write safetensors, the format of PyTorch's and Hugging Face's weights.
func Example() {
	folder, err := os.MkdirTemp("", "weights")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, checkpoint.WeightsFile)
	_, err = checkpoint.Write(path, []checkpoint.Entry{{
		Name: "head.weight", DType: checkpoint.F32, Shape: tensor.Shape{2, 3},
		Data: func(w io.Writer) error { _, err := w.Write(make([]byte, 2*3*4)); return err },
	}}, map[string]string{"format": "pt"})
	if err != nil {
		log.Fatal(err)
	}
	r, err := checkpoint.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for _, t := range r.Tensors {
		fmt.Println(t.Name, t.DType, t.Shape, r.Metadata)
	}
	// Output: head.weight F32 [2, 3] map[format:pt]
}
