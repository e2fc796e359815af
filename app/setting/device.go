package setting

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/compute"
)

// Devices that compute the forward and backward passes. DeviceCUDA is an NVIDIA GPU, the first one unless a
// number follows, as in cuda:1.
const (
	DeviceCPU  = "cpu"
	DeviceCUDA = "cuda"
)

// Names of the math of a GPU, besides bf16, which both have.
const (
	mathFloat32 = "fp32"
	mathTF32    = "tf32"
)

// maxDevices bounds the number of a GPU.
const maxDevices = 64

// isNumbered reports whether a device is one GPU of several.
func isNumbered(device string) bool {
	number, isGPU := strings.CutPrefix(device, DeviceCUDA+":")
	n, err := strconv.ParseUint(number, 10, 8)
	return isGPU && err == nil && n < maxDevices
}

// IsOnGPU reports whether a GPU computes. It is unknown, and false, for a device that is auto.
func (c Config) IsOnGPU() bool {
	kind, _, _ := strings.Cut(c.Device, ":")
	return kind == DeviceCUDA
}

// IsDeviceOpen reports whether the device depends on what the machine has.
func (c Config) IsDeviceOpen() bool { return c.Device == auto }

// DeviceNumber returns the number of the GPU that computes.
func (c Config) DeviceNumber() int {
	_, number, _ := strings.Cut(c.Device, ":")
	n, _ := strconv.Atoi(number) // "" is the first one
	return n
}

// WantsCPU says which setting a GPU has not, as a phrase such as "--math bf16x3 is for CPUs"; "" if a GPU can
// do the run.
func (c Config) WantsCPU() string {
	switch {
	case slices.Contains([]string{compute.BF16x6.String(), compute.BF16x3.String()}, c.Math):
		return fmt.Sprintf("--math %s is for CPUs", c.Math)
	case len(c.SlowWorkers) > 0:
		return "--slow-worker is for CPUs"
	}
	return ""
}

// Placed returns c on a device, with a math that this has: on a GPU fp32 in place of what it has not, on the
// CPU fast in place of fp32 and tf32.
func (c Config) Placed(device string) Config {
	c.Device = device
	switch isOfGPU := c.Math == mathFloat32 || c.Math == mathTF32; {
	case c.IsOnGPU() && !isOfGPU && c.Math != compute.BF16.String():
		c.Math = mathFloat32
	case device == DeviceCPU && isOfGPU:
		c.Math = compute.Fast.String()
	}
	return c
}

// KernelPath returns the kernel path asked for, or the best of this processor.
func (c Config) KernelPath() (compute.ISA, error) {
	if c.ISA == "" {
		return compute.Best(), nil
	}
	isa, err := compute.ParseISA(c.ISA)
	if err == nil && !slices.Contains(compute.Supported(), isa) {
		err = fmt.Errorf("this processor or build has no %v, only %v", isa, compute.Supported())
	}
	return isa, err
}
