package bench

import (
	"slices"
	"strings"
	"testing"

	"lockstep/app/setting"
	"lockstep/cluster"
)

// Every number of hosts is run with every number of workers on each, and every row says which it is.
func TestRowsOnHosts(t *testing.T) {
	base := setting.Default()
	base.Steps = 10
	part := Part{Base: base, Models: []string{"lenet"}, Strategies: []string{"single", "ddp"},
		Workers: []int{1, 2, 4}, Batches: []int{64},
		Layouts: []Layout{{1, 1}, {1, 2}, {2, 1}, {2, 2}}}
	c := Config{Parts: []Part{part}, Repeats: 1, Cores: 4, OwnCores: true, OneProcess: true}
	plan, err := Expand(c)
	if err != nil {
		t.Fatal(err)
	}
	e := cluster.RosterEnvironment([]cluster.RosterHost{{Name: "a", Address: "10.0.0.1", Slots: 2},
		{Name: "b", Address: "10.0.0.2", Slots: 2, Cores: 8}})
	if err := place(plan.Rows, e, c.Cores); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range plan.Rows {
		names = append(names, r.Name())
	}
	if want := []string{"lenet single 1 host × 1 worker × 2 threads",
		"lenet single 1 host × 1 worker × 4 threads", "lenet ddp 1 host × 2 workers × 2 threads",
		"lenet ddp 2 hosts × 1 worker × 2 threads",
		"lenet ddp 2 hosts × 2 workers × 2 threads"}; !slices.Equal(names, want) {
		t.Errorf("rows %q, want %q", names, want)
	}
	last := plan.Rows[len(plan.Rows)-1]
	if s := last.Setting(); s.Hosts != 2 || s.PerHost != 2 || s.Cores != 12 || s.Shards != 4 {
		t.Errorf("%+v, want 12 cores of 2 hosts", s)
	}
	if on, err := plan.Rows[3].environment(e); err != nil ||
		on[cluster.EnvHosts] != "a=10.0.0.1=1,b=10.0.0.2=1=8" {
		t.Errorf("%v, %v", on, err)
	}
	if err := place(plan.Rows, cluster.Environment{}, c.Cores); err == nil ||
		!strings.Contains(err.Error(), "hosts, but there are 0") {
		t.Errorf("without hosts: %v", err)
	}
	part.Conditions = []Condition{{Name: "rate=1gbit", Flags: []string{"--rate", "1gbit"}}}
	c.Parts = []Part{part}
	if _, err := Expand(c); err == nil || !strings.Contains(err.Error(), "has a host of its own") {
		t.Errorf("with a lab of its own: %v", err)
	}
}

// A sweep over hosts has its first row, one worker on one host, also if no strategy for it is given. Without
// that layout no row is added.
func TestASweepOverHostsHasItsBaseline(t *testing.T) {
	base := setting.Default()
	base.Steps = 10
	part := Part{Base: base, Models: []string{"lenet"}, Strategies: []string{"ddp"}, Batches: []int{64},
		Workers: []int{1, 2, 4, 3, 6}, Layouts: []Layout{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 1}, {3, 2}}}
	names := func() (all []string) {
		plan, err := Expand(Config{Parts: []Part{part}, Repeats: 1, Cores: 4, OwnCores: true,
			OneProcess: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range plan.Rows {
			all = append(all, r.Name())
		}
		return all
	}
	sweep := []string{"lenet single 1 host × 1 worker × 2 threads",
		"lenet ddp 1 host × 2 workers × 2 threads",
		"lenet ddp 2 hosts × 1 worker × 2 threads", "lenet ddp 2 hosts × 2 workers × 2 threads",
		"lenet ddp 3 hosts × 1 worker × 2 threads", "lenet ddp 3 hosts × 2 workers × 2 threads"}
	if got := names(); !slices.Equal(got, sweep) {
		t.Errorf("rows %q, want %q", got, sweep)
	}
	part.Layouts = part.Layouts[1:]
	if got := names(); !slices.Equal(got, sweep[1:]) {
		t.Errorf("without 1×1: rows %q, want %q", got, sweep[1:])
	}
}
