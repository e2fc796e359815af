package host

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// machine makes the files of a machine below a folder.
func machine(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// The least limit counts, of either version of control groups, of the process's own group or of one above,
// also where a container sees its group as the root.
func TestGroupMemory(t *testing.T) {
	const v1, v2 = "sys/fs/cgroup/memory/", "sys/fs/cgroup/"
	for _, c := range []struct {
		name        string
		files       map[string]string
		limit, left uint64
	}{
		{"nothing is known", nil, math.MaxUint64, math.MaxUint64},
		{"no limit", map[string]string{"proc/self/cgroup": "0::/a\n", v2 + "a/memory.max": "max\n"},
			math.MaxUint64, math.MaxUint64},
		{"version 2", map[string]string{"proc/self/cgroup": "0::/a/b\n", v2 + "a/b/memory.max": "1000\n",
			v2 + "a/b/memory.current": "300\n"}, 1000, 700},
		{"the group above", map[string]string{"proc/self/cgroup": "0::/a/b\n", v2 + "a/b/memory.max": "max\n",
			v2 + "a/memory.max": "500\n", v2 + "a/memory.current": "600\n"}, 500, 0},
		{"version 1", map[string]string{"proc/self/cgroup": "4:memory:/a\n3:cpu:/x\n0::/\n",
			v1 + "a/memory.limit_in_bytes": "800\n", v1 + "a/memory.usage_in_bytes": "100\n",
			v1 + "memory.limit_in_bytes": "9223372036854771712\n"}, 800, 700},
		{"both", map[string]string{"proc/self/cgroup": "4:memory:/a\n0::/b\n",
			v1 + "a/memory.limit_in_bytes": "800\n", v2 + "b/memory.max": "700\n"}, 700, 700},
		{"a container", map[string]string{"proc/self/cgroup": "4:memory:/docker/1\n",
			v1 + "memory.limit_in_bytes": "600\n"}, 600, 600},
	} {
		if limit, left := groupMemory(machine(t, c.files)); limit != c.limit || left != c.left {
			t.Errorf("%s: limit %d, left %d, want %d and %d", c.name, limit, left, c.limit, c.left)
		}
	}
}
