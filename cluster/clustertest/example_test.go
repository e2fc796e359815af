package clustertest_test

import (
	"testing"

	"lockstep/cluster"
	"lockstep/cluster/clustertest"
)

// Two hosts with two workers each: those on b are started by its agent.
func ExampleNew() {
	_ = func(t *testing.T) {
		hosts := clustertest.New(t, cluster.ProcessEnvironment(), 2, "a", "b")
		_, err := cluster.Launch(t.Context(), cluster.LaunchConfig{World: 4, Environment: hosts.Environment})
		if err != nil {
			t.Fatal(err)
		}
	}
}
