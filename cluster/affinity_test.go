package cluster_test

import (
	"reflect"
	"testing"

	"lockstep/cluster"
)

func TestWorkersThatFillTheMachineGetTheirOwnProcessors(t *testing.T) {
	for _, test := range []struct {
		available, threads []int
		want               [][]int
	}{
		{[]int{0, 1}, []int{1, 1}, [][]int{{0}, {1}}},
		{[]int{2, 3, 6, 7}, []int{2, 2}, [][]int{{2, 3}, {6, 7}}},
		{[]int{0, 1, 2, 3, 4}, []int{2, 2, 1}, [][]int{{0, 1}, {2, 3}, {4}}}, // the last is a server
		{[]int{0, 1, 2, 3}, []int{2, 2, 1}, nil},
		{[]int{0, 1, 2, 3}, []int{1, 1}, nil}, // processors to spare
		{[]int{0, 1}, []int{1, 1, 1, 1}, nil}, // workers share processors
		{[]int{0, 1}, []int{2}, nil},
		{[]int{0, 1}, []int{0, 0}, nil},
		{nil, []int{1, 1}, nil},
	} {
		got := cluster.Assign(test.available, test.threads)
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("assign(%v, %v) = %v, want %v", test.available, test.threads, got, test.want)
		}
	}
}
