//go:build !linux

package host

import (
	"math"
	"os"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

func groupMemory(string) (limit, left uint64) { return math.MaxUint64, math.MaxUint64 }

func tasksOf(int) threads { return threads{} }

// tasks are the threads of this process, of which nothing is known.
type tasks struct{}

func (*tasks) list()                 {}
func (*tasks) waited() time.Duration { return 0 }
func (*tasks) close()                {}

// Energy adds up what processors take, of which nothing is known.
type Energy struct{}

// WatchEnergy returns nil: there are no counters.
func WatchEnergy() *Energy { return nil }

// Stop returns 0.
func (*Energy) Stop() float64 { return 0 }

// PeakRSS returns the present value: there is no high-water mark to read.
func PeakRSS() int64 { return residentBytes() }

// PeakMemory returns PeakRSS: what is shared is not known.
func PeakMemory() int64 { return PeakRSS() }

// ResetPeakRSS does nothing: there is no high-water mark to reset.
func ResetPeakRSS() {}

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
