package host

import (
	"math"
	"os"
	"path/filepath"
	"strings"
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

func TestTaskRoom(t *testing.T) {
	const unlimited = "Max processes             unlimited            unlimited            processes\n"
	limited := strings.Replace(unlimited, "unlimited", "7", 1)
	uid := os.Getuid()
	for _, c := range []struct {
		name  string
		files map[string]string
		uid   int
		room  int
		limit string
	}{
		{"nothing is known", nil, uid + 1, math.MaxInt, ""},
		{"no limit", map[string]string{"proc/self/limits": unlimited, "proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/pids.max": "max\n", "sys/fs/cgroup/a/pids.current": "3\n"}, uid,
			math.MaxInt, ""},
		{"a control group", map[string]string{"proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/pids.max": "100\n", "sys/fs/cgroup/a/b/pids.current": "3\n"}, uid, 97,
			"100 for a control group (pids.max), of which 3 are in use"},
		{"the group above", map[string]string{"proc/self/cgroup": "3:cpu:/x\n4:pids:/a/b\n",
			"sys/fs/cgroup/pids/a/b/pids.max": "100\n", "sys/fs/cgroup/pids/a/b/pids.current": "3\n",
			"sys/fs/cgroup/pids/a/pids.max": "50\n", "sys/fs/cgroup/pids/a/pids.current": "49\n"}, uid, 1,
			"50 for a control group (pids.max), of which 49 are in use"},
		{"a user", map[string]string{"proc/self/limits": limited, "proc/loadavg": "0.1 0.1 0.1 1/300 77\n",
			"proc/1/task/1/x": "", "proc/1/task/2/x": "", "proc/7/task/7/x": ""}, max(uid, 1), 4,
			"7 for this user (ulimit -u), of which 3 are in use"},
		{"root", map[string]string{"proc/self/limits": limited}, 0, math.MaxInt, ""},
	} {
		root := machine(t, c.files)
		if c.name == "a user" && uid == 0 { // whose files these are
			for _, pid := range []string{"1", "7"} {
				if err := os.Chown(filepath.Join(root, "proc", pid), c.uid, -1); err != nil {
					t.Skip(err)
				}
			}
		}
		if room, limit := taskRoom(root, c.uid); room != c.room || limit != c.limit {
			t.Errorf("%s: %d, %q; want %d, %q", c.name, room, limit, c.room, c.limit)
		}
	}
	if room, limit := TaskRoom(); room < 1 {
		t.Errorf("here: %d, %q", room, limit)
	}
}
