package launcher

import (
	"fmt"

	"lockstep/app/job/worker"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/graph/gpu"
	"lockstep/internal/spelling"
)

// placed returns c with its device decided, and the GPU of this machine; nil if the CPU computes. A GPU that
// c demands and that cannot be used is an error of the configuration.
func (o *Options) placed(c setting.Config) (setting.Config, *record.GPU, error) {
	if !c.IsDeviceOpen() && !c.IsOnGPU() {
		return c, nil, nil
	}
	info, why := gpu.Info{}, c.WantsCPU()
	if why == "" {
		e, err := worker.OpenGPU(c.Placed(gpuOf(c)), c.DeviceNumber())
		switch {
		case err == nil:
			info = e.Info()
			e.Close()
		case c.IsDeviceOpen():
			why = err.Error()
		default:
			return c, nil, worker.NoGPU(c, err)
		}
	}
	if why != "" {
		fmt.Fprintf(o.Stderr, "note: --device auto: the CPU computes: %s\n", why)
		cpu := o.decide(c, setting.DeviceCPU)
		if err := cpu.Validate(); err != nil {
			return cpu, nil, setting.Refuse("--%v", err)
		}
		return cpu, nil, nil
	}
	done := o.decide(c, gpuOf(c))
	o.noteGPU(c, done, info)
	return done, worker.Recorded(info), nil
}

// gpuOf returns the name of the GPU that c asks for; the first one for auto.
func gpuOf(c setting.Config) string {
	if c.IsOnGPU() {
		return c.Device
	}
	return setting.DeviceCUDA
}

// decide returns c on a device, and notes which of its values that has changed.
func (o *Options) decide(c setting.Config, device string) setting.Config {
	done := c.Placed(device)
	o.Origins = o.Origins.Changed(c, done, "chosen by --device "+c.Device)
	return done
}

// noteGPU says what computes the run, and what that makes of its settings.
func (o *Options) noteGPU(asked, c setting.Config, info gpu.Info) {
	text := fmt.Sprintf("note: --device %s: %s, %s, computes", asked.Device, info.Name,
		spelling.Size(info.MemoryBytes))
	if text += " in " + c.Math; c.Math != asked.Math {
		text += fmt.Sprintf(", which --math %s means on a GPU", asked.Math)
	}
	fmt.Fprintln(o.Stderr, text)
}
