package cluster_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/cluster"
)

func TestLabHostsTravelInTheEnvironment(t *testing.T) {
	want := []cluster.LabHost{{Name: "host0", Address: "10.77.0.1", Namespace: "/proc/7/fd/8"},
		{Name: "host1", Address: "10.77.0.2", Namespace: "/proc/7/fd/9"}}
	e := cluster.LabEnvironment(want)
	if got, err := e.LabHosts(); err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if got, err := (cluster.Environment{}).LabHosts(); err != nil || got != nil {
		t.Errorf("%+v, %v outside of a lab", got, err)
	}
	for _, text := range []string{"host0", "host0=10.77.0.1", "=10.77.0.1=/p", "host0=here=/p",
		"host0=10.77.0.1=", "host0=10.77.0.1=/p,"} {
		_, err := cluster.Environment{cluster.EnvLab: text}.LabHosts()
		if err == nil || !strings.Contains(err.Error(), "want NAME=ADDRESS=NAMESPACE") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for world, want := range []bool{false, false, true, false} {
		if got := e.IsApart(world, 0); got != want {
			t.Errorf("%d workers on 2 hosts are apart: %v, want %v", world, got, want)
		}
	}
}

func TestHostsTakeContiguousRanks(t *testing.T) {
	for _, c := range []struct {
		world, hosts int
		want         []int
	}{
		{4, 4, []int{0, 1, 2, 3}}, {4, 2, []int{0, 0, 1, 1}}, {5, 2, []int{0, 0, 0, 1, 1}},
		{2, 4, []int{0, 1}}, {1, 3, []int{0}}, {3, 1, []int{0, 0, 0}},
	} {
		var got []int
		for rank := range c.world {
			got = append(got, cluster.LabHostOf(rank, c.world, c.hosts))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d workers on %d hosts: %v, want %v", c.world, c.hosts, got, c.want)
		}
	}
}
