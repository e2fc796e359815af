package cluster_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/cluster"
)

// Neither the launcher nor its workers listen on a port where shared memory links all workers or there is
// but one. By TCP a worker listens for its peers alone, and a rendezvous is there if it was asked for.
func TestLocalRunNeedsNoPort(t *testing.T) {
	if _, err := os.Stat("/proc/self/net/tcp"); err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		config             cluster.LaunchConfig
		launcher, eachRank int // ports
	}{
		"alone":         {cluster.LaunchConfig{World: 1}, 0, 0},
		"shared memory": {cluster.LaunchConfig{World: 3, SharedMemory: true}, 0, 0},
		"data by TCP":   {cluster.LaunchConfig{World: 2}, 0, 1},
		"a rendezvous":  {cluster.LaunchConfig{World: 2, SharedMemory: true, Host: "localhost"}, 1, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			begin := filepath.Join(dir, "begin")
			c := test.config
			c.Command = []string{self}
			c.Environment = cluster.ProcessEnvironment().With(cluster.Environment{behaviour: "well",
				beginWith: begin})
			c.Log = func(rank int) string { return filepath.Join(dir, strconv.Itoa(rank)) }
			before, found := len(listening()), make(chan int)
			go func() {
				waitFor(c.Log(c.World - 1)) // the last worker starts, and none has joined
				n := len(listening())
				os.WriteFile(begin, nil, 0o600)
				found <- n
			}()
			results, err := cluster.Launch(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if n := <-found - before; n != test.launcher {
				t.Errorf("the launcher listens on %d ports, want %d", n, test.launcher)
			}
			for rank, text := range results {
				var r result
				if err := json.Unmarshal(text, &r); err != nil {
					t.Fatal(err)
				}
				if r.HasToken != (test.launcher > 0) {
					t.Errorf("rank %d has a token: %v, want it if it must dial", rank, r.HasToken)
				}
				if len(r.Ports) != test.eachRank || r.Size != c.World {
					t.Errorf("rank %d of %d listens on %q, want %d", rank, r.Size, r.Ports, test.eachRank)
				}
			}
		})
	}
}

// waitFor returns when a file is there, or after some seconds.
func waitFor(name string) {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		if _, err := os.Stat(name); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// listening returns the addresses, in hexadecimal, on which this process listens by TCP.
func listening() (found []string) {
	own := map[string]bool{}
	open, _ := os.ReadDir("/proc/self/fd") // none elsewhere
	for _, fd := range open {
		to, _ := os.Readlink("/proc/self/fd/" + fd.Name()) // "": closed meanwhile
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	const state = "0A" // TCP_LISTEN
	for _, table := range []string{"tcp", "tcp6"} {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/self/net/%s", table)) // some have no IPv6
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == state && own[f[9]] {
				found = append(found, f[1])
			}
		}
	}
	return found
}
