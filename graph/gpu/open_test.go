//go:build cuda && linux && amd64

package gpu_test

import (
	"errors"
	"os/exec"
	"sync"
	"testing"

	"lockstep/graph/gpu"
	"lockstep/graph/gpu/emulate"
	"lockstep/internal/cuda"
)

// driver returns the folder of the emulated driver, "" if there is a GPU.
var driver = sync.OnceValues(func() (string, error) {
	if d, err := cuda.Open(0); err == nil {
		d.Close()
		return "", nil
	}
	return emulate.Folder()
})

// A GPU from before Ampere and a driver from before CUDA 12.4 are refused by name, and not by what the driver
// says of the kernels.
func TestOldGPUs(t *testing.T) {
	for _, test := range []struct {
		capability, driver int
		want               string
	}{
		{75, 13000, "gpu: Tesla T4 has compute capability 7.5; want 8.0 or more, as GPUs have since Ampere"},
		{80, 12020, "gpu: the driver of Tesla T4 is for CUDA 12.2; want one for 12.4 or newer, as driver " +
			"550 is"},
		{80, 12040, ""}, {86, 12080, ""}, {90, 13000, ""}, {120, 13010, ""},
	} {
		err := gpu.TooOld("Tesla T4", test.capability, test.driver)
		if err == nil && test.want != "" || err != nil && err.Error() != test.want {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}

// open opens a GPU, an emulated one if there is none. With neither it skips the test.
func open(t *testing.T, c gpu.Config) *gpu.Executor {
	t.Helper()
	dir, err := driver()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if dir != "" {
		t.Setenv(cuda.PathVariable, dir)
	}
	e, err := gpu.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Err(); err != nil {
			t.Errorf("the GPU failed: %v", err)
		}
		e.Close()
	})
	return e
}
