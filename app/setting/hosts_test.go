package setting_test

import (
	"strings"
	"testing"

	"lockstep/app/setting"
	"lockstep/cluster"
)

// On several hosts the number of workers is that of the slots, unless it is given, and never more.
func TestSettingsOnHosts(t *testing.T) {
	e := cluster.RosterEnvironment([]cluster.RosterHost{{Name: "a", Address: "10.0.0.1", Slots: 2, Cores: 8},
		{Name: "b", Address: "10.0.0.2", Slots: 2, Cores: 6},
		{Name: "c", Address: "10.0.0.3", Slots: 1, Cores: 1}})
	for _, test := range []struct {
		flags            map[string]string
		workers, threads int
		link             string
	}{
		{nil, 5, 1, "shm"},
		{map[string]string{"workers": "4"}, 4, 3, "shm"},
		{map[string]string{"workers": "1"}, 1, 8, "local"},
		{map[string]string{"workers": "4", "threads": "2", "link": "tcp"}, 4, 2, "tcp"},
	} {
		c, origins, err := setting.Resolve(setting.Source{Environment: e, Flags: test.flags})
		if err != nil || c.Workers != test.workers || c.Threads != test.threads || c.Link != test.link {
			t.Errorf("%v: %d workers x %d threads over %s, %v; want %+v", test.flags, c.Workers, c.Threads,
				c.Link, err, test)
		}
		if test.flags == nil && origins["workers"] != "derived" {
			t.Errorf("workers are %q, want derived", origins["workers"])
		}
	}
	for want, flags := range map[string]map[string]string{
		"--workers: 6, but the hosts have 5 slots": {"workers": "6"},
		"--link: local keeps all workers":          {"link": "local"},
	} {
		_, _, err := setting.Resolve(setting.Source{Environment: e, Flags: flags})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", flags, err, want)
		}
	}
	again := e.With(cluster.Environment{cluster.EnvRestarts: "[]"})
	if c, _, err := setting.Resolve(setting.Source{Environment: again,
		Flags: map[string]string{"workers": "6"}}); err != nil || c.Workers != 5 {
		t.Errorf("started again without a host: %d workers, %v", c.Workers, err)
	}
}
