package host

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// groupMemory returns the least memory that this process's control group, or one above it, may use, and how
// much of it is left; math.MaxUint64 without a limit. It finds the proc and sys folders below root.
func groupMemory(root string) (limit, left uint64) {
	limit, left = math.MaxUint64, math.MaxUint64
	number := func(folder, file string) (uint64, error) {
		text, _ := os.ReadFile(filepath.Join(folder, file)) // "" is no number
		return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	}
	for _, folder := range groupFolders(root) {
		for most, used := range map[string]string{"memory.max": "memory.current", // of versions 2 and 1
			"memory.limit_in_bytes": "memory.usage_in_bytes"} {
			m, err := number(folder, most)
			if err != nil {
				continue // "max", or the other version
			}
			u, _ := number(folder, used) // 0: not known
			limit, left = min(limit, m), min(left, m-min(m, u))
		}
	}
	return limit, left
}

// groupFolders returns the folders of this process's control groups that bound memory, and of those above
// them.
func groupFolders(root string) (folders []string) {
	groups, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup")) // "": none is known
	for line := range strings.Lines(string(groups)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 || part[1] != "" && part[1] != "memory" {
			continue
		}
		for group := part[2]; ; group = filepath.Dir(group) {
			folders = append(folders, filepath.Join(root, "sys/fs/cgroup", part[1], group))
			if group == "/" || group == "." {
				break
			}
		}
	}
	return folders
}
