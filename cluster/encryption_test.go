package cluster_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"lockstep/cluster"
	"lockstep/cluster/clustertest"
)

// Links between hosts are encrypted unless that was not wanted, and those of one machine are if it was. What
// the workers know afterwards has no secret.
func TestEncryption(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	several := clustertest.New(t, cluster.ProcessEnvironment(), 1, "a", "b", "c").Environment
	for name, test := range map[string]struct {
		environment cluster.Environment
		config      cluster.LaunchConfig
		want        cluster.Encryption
	}{
		"several hosts": {several, cluster.LaunchConfig{}, cluster.EncryptTLS},
		"not wanted": {several, cluster.LaunchConfig{Encryption: cluster.EncryptNone},
			cluster.EncryptNone},
		"one host":     {nil, cluster.LaunchConfig{}, cluster.EncryptNotNeeded},
		"a rendezvous": {nil, cluster.LaunchConfig{Host: "localhost"}, cluster.EncryptNotNeeded},
		"wanted on one": {nil, cluster.LaunchConfig{Encryption: cluster.EncryptTLS, Streams: 3},
			cluster.EncryptTLS},
	} {
		t.Run(name, func(t *testing.T) {
			c, dir := test.config, t.TempDir()
			c.World, c.Command = 3, []string{self}
			c.Environment = cluster.ProcessEnvironment().With(test.environment).With(
				cluster.Environment{behaviour: "well"})
			c.Log = func(rank int) string { return filepath.Join(dir, strconv.Itoa(rank)) }
			results, err := cluster.Launch(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			for rank, text := range results {
				var r result
				if err := json.Unmarshal(text, &r); err != nil {
					t.Fatal(err)
				}
				if r.Rank != rank || r.Size != 3 || r.Welcome.Encryption != test.want {
					t.Errorf("rank %d of %d: %q, want %q", r.Rank, r.Size, r.Welcome.Encryption, test.want)
				}
				if r.Welcome.Streams != test.config.Streams {
					t.Errorf("rank %d: %d streams, want %d", r.Rank, r.Welcome.Streams, test.config.Streams)
				}
				if strings.Contains(string(text), "secret") || strings.Contains(string(text), "certificate") {
					t.Errorf("rank %d shows secrets: %s", rank, text)
				}
			}
		})
	}
}
