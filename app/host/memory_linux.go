package host

import (
	"math"
	"path/filepath"
	"strconv"
)

// groupMemory returns the least memory that this process's control group, or one above it, may use, and how
// much of it is left; math.MaxUint64 without a limit. It finds the proc and sys folders below root.
func groupMemory(root string) (limit, left uint64) {
	limit, left = math.MaxUint64, math.MaxUint64
	for _, folder := range groupFolders(root, "memory") {
		for most, used := range map[string]string{"memory.max": "memory.current", // of versions 2 and 1
			"memory.limit_in_bytes": "memory.usage_in_bytes"} {
			m, err := strconv.ParseUint(read(folder, most), 10, 64)
			if err != nil {
				continue // "max", or the other version
			}
			u, _ := strconv.ParseUint(read(folder, used), 10, 64) // 0: not known
			limit, left = min(limit, m), min(left, m-min(m, u))
		}
	}
	return limit, left
}

// memoryLimits is groupMemory of this machine.
func memoryLimits() (limit, left uint64) { return groupMemory(string(filepath.Separator)) }
