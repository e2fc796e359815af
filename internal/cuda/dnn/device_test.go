//go:build cuda && linux

package dnn

import (
	"testing"

	"lockstep/internal/cuda/cudatest"
)

// gpu is a device with the library, for one test.
type gpu struct {
	*cudatest.GPU
	library *Library
}

// openGPU opens device 0, or skips the test.
func openGPU(t *testing.T) *gpu {
	g := cudatest.Open(t)
	if _, err := load(); err != nil {
		t.Skip("needs cuDNN: ", err)
	}
	l, err := Open(g.Device)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	t.Log(g.Device.Name, l.Version(), l.Path())
	return &gpu{g, l}
}
