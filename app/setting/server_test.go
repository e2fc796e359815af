package setting_test

import (
	"strings"
	"testing"

	"lockstep/app/host"
	"lockstep/app/setting"
)

// Servers with the workers have no ranks; servers apart have those after the workers', and a core each.
func TestRanksOfServers(t *testing.T) {
	c := setting.Default()
	c.Strategy, c.Workers, c.Servers = "ps", 2, 3
	c = c.Complete()
	threads := func() int { return max(1, (host.Cores()-c.NumApart())/2) }
	check := func(servers, world int, ranks ...int) {
		t.Helper()
		if c.NumServers() != servers || c.World() != world || c.Threads != threads() ||
			c.NumThreads() != 2*c.Threads+c.NumApart() {
			t.Errorf("%d servers in a world of %d, %d of %d threads; want %d in %d, %d threads",
				c.NumServers(), c.World(), c.Threads, c.NumThreads(), servers, world, threads())
		}
		for s, want := range ranks {
			if got := c.ServerRank(s); got != want {
				t.Errorf("server %d has rank %d, want %d", s, got, want)
			}
		}
	}
	check(3, 2, 0, 1, 0)
	c.ServerPlace, c.Threads = "apart", 0
	c = c.Complete()
	check(3, 5, 2, 3, 4)
	c.EvalOnly, c.Threads = true, 0
	c = c.Complete()
	check(0, 2)
	c.EvalOnly, c.Strategy, c.Threads = false, "ddp", 0
	c = c.Complete()
	check(0, 2)
}

// A single worker with a server apart runs as processes; with one in its own process it needs none.
func TestLinkOfServers(t *testing.T) {
	for place, isOne := range map[string]bool{"workers": true, "apart": false} {
		c := setting.Default()
		c.Strategy, c.ServerPlace = "ps", place
		if got := c.Complete().IsOneProcess(); got != isOne {
			t.Errorf("%s: one process %v, want %v", place, got, isOne)
		}
	}
}

// Settings of servers are named idle where there are none, and a resumed run may have kept them.
func TestServersElsewhereAreIdle(t *testing.T) {
	flags := map[string]string{"servers": "2", "server-place": "apart", "workers": "2"}
	c, origins, err := setting.Resolve(setting.Source{Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	idle := strings.Join(c.Idle(origins), "; ")
	for _, name := range []string{"--server-place", "--servers"} {
		if !strings.Contains(idle, name+" has no effect: it is for --strategy ps") {
			t.Errorf("%q does not name %s", idle, name)
		}
	}
	flags["strategy"], flags["wire"], flags["workers"] = "ps", "bf16", "1"
	c, origins, err = setting.Resolve(setting.Source{Flags: flags})
	if idle := c.Idle(origins); err != nil || len(idle) > 0 || c.Inexact() == "" {
		t.Errorf("%v, idle %q, inexact %q; one worker rounds what it sends its servers", err, idle,
			c.Inexact())
	}
	for _, name := range []string{"rebalance", "overlap-forward", "shard-optimizer"} {
		flags := map[string]string{"strategy": "ps", "workers": "1", name: "true"}
		c, origins, err := setting.Resolve(setting.Source{Flags: flags})
		want := "--" + name + " has no effect: it is for --strategy "
		if idle := strings.Join(c.Idle(origins), "; "); err != nil || !strings.HasPrefix(idle, want) {
			t.Errorf("idle %q, %v; want %q", idle, err, want)
		}
	}
}
