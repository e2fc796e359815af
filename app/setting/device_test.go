package setting_test

import (
	"errors"
	"strings"
	"testing"

	"lockstep/app/setting"
)

func TestDeviceAndMath(t *testing.T) {
	for _, test := range []struct{ device, math, want string }{
		{"cpu", "fast", ""}, {"cpu", "bf16", ""},
		{"cpu", "fp32", "math: fp32 is for --device cuda; "},
		{"cpu", "tf32", "math: tf32 is for --device cuda; "},
		{"cuda", "fast", ""}, {"cuda", "exact", ""}, {"cuda:3", "bf16", ""}, {"cuda", "tf32", ""},
		{"cuda", "bf16x6", "--math bf16x6 is for CPUs, and --device cuda computes on a GPU"},
		{"auto", "tf32", ""}, {"auto", "fp32", ""},
		{"cuda:", "fast", `unknown device "cuda:"`}, {"cuda:-1", "fast", `unknown device "cuda:-1"`},
		{"cuda:64", "fast", `unknown device "cuda:64"`},
		{"gpu", "fast", `device: unknown device "gpu"; did you mean "cuda"?`},
	} {
		c := setting.Default()
		c.Device, c.Math = test.device, test.math
		err, usage := c.Validate(), (*setting.UsageError)(nil)
		if test.want == "" && err != nil || test.want != "" && (!errors.As(err, &usage) ||
			!strings.Contains(err.Error(), test.want)) {
			t.Errorf("--device %s --math %s: %v, want %q", test.device, test.math, err, test.want)
		}
	}
}

// The math has the name that it has on the device that was chosen.
func TestPlaced(t *testing.T) {
	for _, test := range []struct{ math, device, want string }{
		{"fast", "cuda", "fp32"}, {"exact", "cuda:1", "fp32"}, {"tf32", "cuda", "tf32"},
		{"bf16", "cuda", "bf16"}, {"fp32", "cpu", "fast"}, {"exact", "cpu", "exact"}, {"bf16", "cpu", "bf16"},
	} {
		c := setting.Default()
		c.Device, c.Math = "auto", test.math
		if c = c.Placed(test.device); c.Math != test.want || c.Device != test.device {
			t.Errorf("--math %s on %s: %s on %s, want %s", test.math, test.device, c.Math, c.Device,
				test.want)
		}
	}
	c := setting.Default()
	c.Device = "cuda:12"
	if !c.IsOnGPU() || c.DeviceNumber() != 12 {
		t.Errorf("%s is GPU %d, %v", c.Device, c.DeviceNumber(), c.IsOnGPU())
	}
}
