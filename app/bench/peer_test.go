package bench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/bench"
	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/peer"
	"lockstep/cluster"

	"github.com/google/go-cmp/cmp"
)

func withPeer(c bench.Config) bench.Config {
	c.Peer = peer.Name
	return c
}

// Rows that PyTorch has too get one for each of its formats; the others are told.
func TestRowsOfPeers(t *testing.T) {
	c := withPeer(matrix([]string{"lenet"}, []string{"single", "ddp", "ps", "ddp:bucket=64KiB"}, 1, 2))
	c.OneProcess = false
	plan, err := bench.Expand(c)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"lenet single 1×1 /2", "lenet single 1×1 pytorch nchw /2", "lenet single 1×1 " +
			"pytorch channels-last /2",
		"lenet ddp 2×1 /2", "lenet ddp 2×1 pytorch nchw /2", "lenet ddp 2×1 pytorch channels-last /2",
		"lenet ps 2×1 /2", "lenet ddp 2×1 bucket=64KiB /2",
	}
	if diff := cmp.Diff(want, names(plan)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	var why []string
	for _, s := range plan.Skipped {
		if strings.HasPrefix(s.Strategy, peer.Name) {
			why = append(why, s.Reason)
		}
	}
	want = []string{"PyTorch has no such row: the strategy ps.", "PyTorch has no such row: settings of " +
		"its own."}
	if diff := cmp.Diff(want, why); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}

func TestPeersRefuse(t *testing.T) {
	other := withPeer(matrix([]string{"lenet"}, []string{"single"}, 1))
	other.Peer = "tensorflow"
	for want, c := range map[string]bench.Config{
		"--peer tensorflow: want pytorch": other,
		"it can do none of the rows":      withPeer(matrix([]string{"lenet"}, []string{"ps"}, 2)),
		"the strategy ps":                 withPeer(matrix([]string{"lenet"}, []string{"ps"}, 2)),
	} {
		if _, err := bench.Expand(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	parts := withPeer(matrix([]string{"lenet"}, []string{"single"}, 1))
	parts.Parts[0].Base.Math = "bf16x3"
	if _, err := bench.Expand(parts); err == nil || !strings.Contains(err.Error(), "--math bf16x3") {
		t.Errorf("error %v of products of parts beside float32", err)
	}
	c := withPeer(matrix([]string{"lenet"}, []string{"single"}, 1))
	c.Out = filepath.Join(t.TempDir(), "out")
	e := cluster.ProcessEnvironment().With(cluster.Environment{cluster.EnvPython: "/nowhere/python"})
	_, err := bench.Run(t.Context(), c, bench.Options{Job: launcher.Options{Environment: e}})
	if job.ExitCode(err) != job.ExitUsage || !strings.Contains(err.Error(), "no Python with torch: ") {
		t.Errorf("error %v, want a usage error about Python", err)
	}
	if _, err := os.Stat(c.Out); err == nil {
		t.Error("a folder was made for nothing")
	}
}
