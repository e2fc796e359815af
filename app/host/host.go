package host

import (
	"os"
	"runtime"

	"lockstep/compute"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
)

// Host describes the machine of a run; it is written to host.json. What the system does not
// tell is "" or 0.
type Host struct {
	Name          string   `json:"name"`
	OS            string   `json:"os"`       // linux, darwin, ...
	Platform      string   `json:"platform"` // distribution and version
	Kernel        string   `json:"kernel"`
	Arch          string   `json:"arch"`
	CPU           string   `json:"cpu"` // model name
	PhysicalCores int      `json:"physical_cores"`
	LogicalCores  int      `json:"logical_cores"`
	UsableCores   int      `json:"usable_cores"` // after affinity and container limits
	MemoryBytes   uint64   `json:"memory_bytes"`
	ISA           []string `json:"isa"` // kernel paths of this processor and build
	Go            string   `json:"go"`
	Lab           string   `json:"lab,omitempty"` // flags of the lab whose hosts the workers were on
}

// Describe returns what is known about this machine.
func Describe() Host {
	h := Host{OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(), UsableCores: Cores()}
	for _, isa := range compute.Supported() {
		h.ISA = append(h.ISA, isa.String())
	}
	h.Name, _ = os.Hostname()
	if info, err := host.Info(); err == nil {
		h.Platform = info.Platform + " " + info.PlatformVersion
		h.Kernel = info.KernelVersion
	}
	if infos, err := cpu.Info(); err == nil && len(infos) > 0 {
		h.CPU = infos[0].ModelName
	}
	h.PhysicalCores, _ = cpu.Counts(false)
	h.LogicalCores, _ = cpu.Counts(true)
	h.MemoryBytes = MemoryBytes()
	return h
}

// MemoryBytes returns the machine's memory, 0 if unknown.
func MemoryBytes() uint64 {
	memory, err := mem.VirtualMemory()
	if err != nil {
		return 0
	}
	return memory.Total
}

// Cores returns how many processors this process may use.
func Cores() int { return min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }
