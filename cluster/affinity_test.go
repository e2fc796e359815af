package cluster_test

import (
	"reflect"
	"testing"

	"lockstep/cluster"
)

func TestWorkersThatFillTheMachineGetTheirOwnProcessors(t *testing.T) {
	for _, test := range []struct {
		available      []int
		world, threads int
		want           [][]int
	}{
		{[]int{0, 1}, 2, 1, [][]int{{0}, {1}}},
		{[]int{2, 3, 6, 7}, 2, 2, [][]int{{2, 3}, {6, 7}}},
		{[]int{0, 1, 2, 3}, 2, 1, nil}, // processors to spare
		{[]int{0, 1}, 4, 1, nil},       // workers share processors
		{[]int{0, 1}, 1, 2, nil},
		{nil, 2, 1, nil},
	} {
		got := cluster.Assign(test.available, test.world, test.threads)
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("assign(%v, %d, %d) = %v, want %v",
				test.available, test.world, test.threads, got, test.want)
		}
	}
}
