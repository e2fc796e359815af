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
		setting.Size(info.MemoryBytes))
	switch c.Math {
	case asked.Math:
		text += " in " + c.Math
	default:
		text += fmt.Sprintf(" in %s, which --math %s means on a GPU", c.Math, asked.Math)
	}
	gpus := gpu.Count()
	if worker.IsNumbered(c) {
		gpus = 1
	}
	switch n := o.mostOfHost(c); {
	case o.Meeting != nil && gpus == 1: // each process may see another one; the summary will know
	case n > gpus:
		text += fmt.Sprintf("; %s share %s: their times show contention, not scaling",
			spelling.Count(n, "worker"), spelling.Count(max(gpus, 1), "GPU"))
	case n > 1:
		text += fmt.Sprintf("; %d workers have a GPU each", n)
	}
	fmt.Fprintln(o.Stderr, text)
}

// mostOfHost returns the greatest number of workers of one host.
func (o *Options) mostOfHost(c setting.Config) int {
	if o.Meeting != nil {
		return max(1, o.Place.LocalWorld)
	}
	most := 0
	for _, l := range o.Environment.Loads(c.Workers, c.NumApart()) {
		most = max(most, l.Workers)
	}
	if most == 0 {
		return c.Workers
	}
	return most
}
