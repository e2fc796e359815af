package host

import (
	"bytes"
	"os"
	"strconv"
)

// PeakRSS returns the largest resident memory of this process so far in bytes, 0 if unknown. The
// kernel's getrusage would count the parent's memory from before exec.
func PeakRSS() int64 { return statusBytes("VmHWM:") }

// residentBytes returns the resident memory of this process in bytes, 0 if unknown.
func residentBytes() int64 { return statusBytes("VmRSS:") }

// statusBytes returns an entry of the process's status that counts kilobytes.
func statusBytes(entry string) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte(entry))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, err := strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}

// ResetPeakRSS starts PeakRSS anew, so that a run within this process has its own figure.
func ResetPeakRSS() {
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // where forbidden, the peak is all-time
}
