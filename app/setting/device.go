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

func devices() []string { return []string{DeviceCPU, DeviceCUDA, auto} }

// deviceSetting says what computes.
func deviceSetting() Setting {
	s := choice("device", "what computes forward and backward passes; cuda is an NVIDIA GPU, which a binary "+
		"built with -tags cuda can use: workers of a host take its GPUs in turn; cuda:1 is the second "+
		"one; auto takes a GPU if one can be used, and says so", devices(),
		func(c *Config) *string { return &c.Device })
	check := s.check
	s.check = func(c *Config) error {
		number, isNumbered := strings.CutPrefix(c.Device, DeviceCUDA+":")
		if !isNumbered {
			return check(c)
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n >= maxDevices || strconv.Itoa(n) != number {
			return fmt.Errorf("%.80q is no GPU; want cuda:N, with N from 0 to %d", c.Device, maxDevices-1)
		}
		return nil
	}
	return s.aliases("accelerator")
}

// mathSetting says how products are rounded.
func mathSetting() Setting {
	return choice("math", "how matrix products are computed: fast takes Winograd's and Strassen's "+
		"algorithms, whose gradients are twice as far from float64 as PyTorch's float32; exact avoids them; "+
		"bf16x6 and bf16x3 sum six and three products of bf16 parts on AMX; "+
		"bf16 rounds the operands of large products to bf16, which pays on AMD's AVX512_BF16 (on AMX it is "+
		"untried); on a GPU fp32, tf32 and bf16 are known, and fast and exact mean fp32; auto times those "+
		"that the machines have, some seconds each, says how far each is from exact in the first step, and "+
		"takes fast unless another one that multiplies as exactly takes less than 0.95 of its step",
		mathNames(), func(c *Config) *string { return &c.Math })
}

// Math is a math that auto compares.
type Math struct {
	Name string
	Bits int // of operands that enter a product
}

// Maths returns the maths that this machine has on the device of c, which is decided. The first is the usual
// one, with the bits of float32.
func (c Config) Maths() []Math {
	if c.IsOnGPU() {
		return []Math{{mathFloat32, 24}, {mathTF32, 11}, {compute.BF16.String(), 8}}
	}
	isa, _ := c.KernelPath() // of which Validate has told
	var all []Math
	for _, m := range []compute.Math{compute.Fast, compute.Exact, compute.BF16x6, compute.BF16x3,
		compute.BF16} {
		if m.On(isa) == nil {
			all = append(all, Math{m.String(), m.Bits()})
		}
	}
	return all
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

// MemoryLimit returns how many bytes of activations are kept; 0: all. A GPU computes nothing again to save
// memory unless another limit than the default is given.
func (c Config) MemoryLimit() int64 {
	if c.IsOnGPU() && c.Memory == defaultMemory {
		return 0
	}
	return int64(c.Memory)
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

// Placed returns c with the device decided, and with the name of its math on that device: fast and exact are
// fp32 on a GPU, and fp32 is fast on the CPU.
func (c Config) Placed(device string) Config {
	c.Device = device
	isFloat32 := c.Math == compute.Fast.String() || c.Math == compute.Exact.String()
	switch {
	case c.IsOnGPU() && isFloat32:
		c.Math = mathFloat32
	case device == DeviceCPU && c.Math == mathFloat32:
		c.Math = compute.Fast.String()
	}
	return c
}

// moved returns c on its device with a math that this has: that of the run that is resumed may be of another
// device.
func (c Config) moved() Config {
	isCPU := c.Device == DeviceCPU
	switch {
	case c.IsOnGPU() && c.Math != mathTF32 && c.Math != compute.BF16.String():
		c.Math = mathFloat32
	case isCPU && (c.Math == mathFloat32 || c.Math == mathTF32):
		c.Math = compute.Fast.String()
	}
	return c
}

// deviceProblems adds what the device cannot compute.
func (c Config) deviceProblems(add adder) {
	isOfGPU := c.Math == mathFloat32 || c.Math == mathTF32
	switch {
	case c.Math == auto && c.Resume != "":
		add("math", "auto is for the beginning of a run; one that is resumed keeps its math: leave it out")
	case c.Math == auto && c.Replay != "":
		add("math", "auto is for a new run, and one that is replayed has its math: name that of %s", c.Replay)
	case c.Device == DeviceCPU && isOfGPU:
		add("math", "%s is for --device %s; on the CPU want %s or %s, which are float32, or %s", c.Math,
			DeviceCUDA, compute.Fast, compute.Exact, compute.BF16)
	case c.IsOnGPU() && len(c.SlowWorkers) > 0:
		add("slow-worker", "slows what a CPU computes, and --device %s computes on a GPU", c.Device)
	case c.IsOnGPU() && c.WantsCPU() != "":
		add("math", "%s is for CPUs with AMX; with --device %s want %s, %s or %s", c.Math, c.Device,
			mathFloat32, mathTF32, compute.BF16)
	}
}
