package host

import (
	"bytes"
	"os"
	"strconv"
)

// PeakRSS returns the largest resident memory of this process so far in bytes, 0 if unknown. The
// kernel's getrusage would count the parent's memory from before exec.
func PeakRSS() int64 { return entryBytes("/proc/self/status", "VmHWM:") }

// PeakMemory returns PeakRSS with its part alone of shared memory, so that those of processes add up. The
// part is that of the shared memory that is there now; where the system does not tell, it is all.
func PeakMemory() int64 {
	part := entryBytes("/proc/self/smaps_rollup", "Pss_Shmem:")
	if part == 0 {
		return PeakRSS()
	}
	return PeakRSS() - max(0, entryBytes("/proc/self/status", "RssShmem:")-part)
}

// residentBytes returns the resident memory of this process in bytes, 0 if unknown.
func residentBytes() int64 { return entryBytes("/proc/self/status", "VmRSS:") }

// entryBytes returns an entry of a file of the process that counts kilobytes; 0 if unknown.
func entryBytes(path, entry string) int64 {
	status, err := os.ReadFile(path)
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
