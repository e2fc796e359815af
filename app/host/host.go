package host

import (
	"fmt"
	"os"
	"runtime"

	"lockstep/app/record"
	"lockstep/compute"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"
)

// Load returns the mean number of processes that were ready to run in the last minute; 0 where the system
// does not tell.
func Load() (processes float64) {
	text, _ := os.ReadFile("/proc/loadavg")
	fmt.Sscan(string(text), &processes)
	return processes
}

// Describe returns what is known about this machine.
func Describe() record.Host {
	h := record.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(), UsableCores: Cores()}
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

// MemoryBytes returns the machine's memory, or less where control groups limit what this process may use, as
// in a container; 0 if unknown.
func MemoryBytes() uint64 {
	memory, err := mem.VirtualMemory()
	if err != nil {
		return 0
	}
	limit, _ := groupMemory("/")
	return min(memory.Total, limit)
}

// AllCores returns how many processors the machine has, also those that this process may not use.
func AllCores() int {
	if all, err := cpu.Counts(true); err == nil {
		return max(all, Cores())
	}
	return Cores()
}

// Cores returns how many processors this process may use.
func Cores() int { return min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }

// FreeMemoryBytes returns the memory that this process can still take without swapping and within the limits
// of its control groups, 0 if unknown.
func FreeMemoryBytes() uint64 {
	memory, err := mem.VirtualMemory()
	if err != nil {
		return 0
	}
	_, left := groupMemory("/")
	return min(memory.Available, left)
}
