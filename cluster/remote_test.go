//go:build unix

package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/cluster"
	"lockstep/cluster/clustertest"
)

// onHosts launches workers on hosts of two slots each.
func onHosts(t *testing.T, ctx context.Context, h *clustertest.Hosts, c cluster.LaunchConfig, how string) (
	results []result, dir string, err error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	c.Command, c.ServerCommand = []string{self}, []string{self}
	c.Environment = h.Environment.With(cluster.Environment{behaviour: how})
	c.JoinTimeout, c.SilenceTimeout = timeoutsOf(how)
	c.Log = func(rank int) string { return filepath.Join(dir, "rank"+string(rune('0'+rank))+".log") }
	texts, err := cluster.Launch(ctx, c)
	for _, text := range texts {
		var r result
		if text == nil {
			continue // the run went on without it
		}
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	return results, dir, err
}

// Workers are on the hosts in the order of their slots, linked by shared memory within each, and listen at
// their host's address. The same connection serves one launch after another.
func TestLaunchOnSeveralHosts(t *testing.T) {
	h := clustertest.New(t, cluster.ProcessEnvironment(), 2, "a", "b", "c")
	for _, test := range []struct {
		workers, servers int
		hosts            []string
	}{
		{4, 0, []string{"a", "a", "b", "b"}},
		{2, 0, []string{"a", "a"}},
		{3, 2, []string{"a", "a", "b", "a", "b"}},
		{6, 1, []string{"a", "a", "b", "b", "c", "c", "a"}},
	} {
		world := test.workers + test.servers
		c := cluster.LaunchConfig{World: world, Servers: test.servers, SharedMemory: true}
		results, _, err := onHosts(t, t.Context(), h, c, "well")
		if err != nil || len(results) != world {
			t.Fatalf("%v: %d results, %v", test.hosts, len(results), err)
		}
		for rank, r := range results {
			if r.Rank != rank || r.Size != world || !slices.Equal(r.Welcome.Hosts, test.hosts) {
				t.Errorf("rank %d of %v: %+v", rank, test.hosts, r)
			}
		}
		for rank, address := range results[0].Welcome.Addresses {
			own := map[string]string{"a": "127.0.0.1", "b": "127.0.0.2", "c": "127.0.0.3"}[test.hosts[rank]]
			if world > 2 && !strings.HasPrefix(address, own) || world == 2 && address != "" {
				t.Errorf("rank %d of %v listens at %q", rank, test.hosts, address)
			}
		}
	}
}

func TestLaunchOnHostsRefuses(t *testing.T) {
	h := clustertest.New(t, cluster.ProcessEnvironment(), 1, "a", "b")
	var wrong *cluster.EnvironmentError
	_, _, err := onHosts(t, t.Context(), h, cluster.LaunchConfig{World: 3}, "well")
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "2 slots, for 3 workers") {
		t.Errorf("three workers: %v", err)
	}
	_, _, err = onHosts(t, t.Context(), h, cluster.LaunchConfig{World: 2, SharedMemory: true}, "well")
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "share no memory") {
		t.Errorf("shared memory between hosts: %v", err)
	}
	h.Environment[cluster.EnvAgent] = ""
	_, _, err = onHosts(t, t.Context(), h, cluster.LaunchConfig{World: 2}, "well")
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "lockstep launch") {
		t.Errorf("no agents: %v", err)
	}
}

// What is known about the end of a worker on another host is what is known about one of this host: how it
// ended, with the end of its log.
func TestLaunchNamesTheFirstToDieOnAnotherHost(t *testing.T) {
	for how, test := range map[string]struct{ want, log string }{
		"killed": {`^rank 1 \(pid \d+ on b\) was killed by signal SIGKILL after step 7, phase forward; ` +
			`rank 0: lost peer 1`, ""},
		"late": {`^rank 1 \(pid \d+ on b\) was killed by signal SIGKILL after step 7, phase forward; ` +
			`rank 0: lost peer 1`, ""},
		"panics": {`^rank 1 \(pid \d+ on b\) ended with status 2 after .*: panic: shape mismatch ` +
			`\(its output: .*rank1.log\)`, "the end of .*rank1.log on b:\n(.*\n)*panic: shape mismatch"},
		"fails":   {`^rank 1 \(pid \d+ on b\) failed after step 7, phase forward: file cut off`, ""},
		"stopped": {`^rank 1 \(pid \d+ on b\) has given no sign of life for 2.25s`, ""},
		"stuck": {`^rank 1 \(pid \d+ on b\) is stuck: it has not got on for .*its output: .*rank1.log`,
			"(?s)on b:\n.*SIGQUIT: quit.*main.main"},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			h := clustertest.New(t, cluster.ProcessEnvironment(), 1, "a", "b", "c")
			_, dir, err := onHosts(t, t.Context(), h, cluster.LaunchConfig{World: 3}, how)
			if err == nil || !regexp.MustCompile(test.want).MatchString(err.Error()) {
				t.Errorf("%v, want %s", err, test.want)
			}
			log, _ := os.ReadFile(filepath.Join(dir, "rank1.log"))
			if !regexp.MustCompile(test.log).Match(log) {
				t.Errorf("log %.200q..., want %s", log, test.log)
			}
		})
	}
}

// A host that is lost is named with its ranks, the rest is killed, and a later launch is refused.
func TestLostHostIsNamed(t *testing.T) {
	h := clustertest.New(t, cluster.ProcessEnvironment(), 2, "a", "b")
	began := make(chan bool)
	go func() {
		<-began
		h.Lose(1, "its ssh connection has ended")
	}()
	isBegun := false
	c := cluster.LaunchConfig{World: 4, Progress: func(rank int, p cluster.Progress) {
		if rank == 3 && !isBegun {
			isBegun = true
			began <- true
		}
	}}
	_, _, err := onHosts(t, t.Context(), h, c, "waits")
	var lost *cluster.HostError
	if !errors.As(err, &lost) || lost.Host != "b" || !slices.Equal(lost.Ranks, []int{2, 3}) ||
		err.Error() != "host b is lost, with rank 2, rank 3, after step 7: its ssh connection has ended" {
		t.Errorf("got %v, want the loss of host b", err)
	}
	began = nil
	_, _, err = onHosts(t, t.Context(), h, cluster.LaunchConfig{World: 4}, "well")
	if !errors.As(err, &lost) || lost.Host != "b" {
		t.Errorf("another launch: got %v, want the loss of host b", err)
	}
}

// A run goes on without a rank of another host that it may lose.
func TestLaunchOnHostsGoesOnWithoutARank(t *testing.T) {
	h := clustertest.New(t, cluster.ProcessEnvironment(), 1, "a", "b", "c")
	var lost []string
	c := cluster.LaunchConfig{World: 3, MayLose: func(rank int) bool { return rank == 1 },
		Lost: func(e *cluster.WorkerError) { lost = append(lost, e.Error()) }}
	_, _, err := onHosts(t, t.Context(), h, c, "spared")
	if err != nil || len(lost) != 1 ||
		!regexp.MustCompile(`^rank 1 \(pid \d+ on b\) was killed by signal SIGKILL`).MatchString(lost[0]) {
		t.Errorf("lost %q, %v; want rank 1 on b", lost, err)
	}
}

func TestLaunchOnHostsStopsOnCancel(t *testing.T) {
	h := clustertest.New(t, cluster.ProcessEnvironment(), 1, "a", "b")
	ctx, c := cancelAt(t, 7)
	if _, _, err := onHosts(t, ctx, h, c, "waits"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}
