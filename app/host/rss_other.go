//go:build !linux

package host

import (
	"os"

	"github.com/shirou/gopsutil/v4/process"
)

// PeakRSS returns residentBytes: without a high-water mark to read, the present value stands for it.
func PeakRSS() int64 { return residentBytes() }

// residentBytes returns the resident memory of this process in bytes, 0 if unknown.
func residentBytes() int64 {
	p, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		return 0
	}
	memory, err := p.MemoryInfo()
	if err != nil {
		return 0
	}
	return int64(memory.RSS)
}

// PeakMemory returns PeakRSS: what is shared is not known.
func PeakMemory() int64 { return PeakRSS() }

// ResetPeakRSS does nothing: there is no high-water mark to reset.
func ResetPeakRSS() {}
