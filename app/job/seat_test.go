package job_test

import (
	"testing"

	"lockstep/app/job"
)

// A worker alone has no more threads than cores, unless it computes with more.
func TestThreadsAlone(t *testing.T) {
	for _, test := range []struct{ threads, cores, want int }{
		{1, 1, 1}, {2, 2, 2}, {1, 2, 2}, {2, 16, 4}, {15, 16, 16}, {4, 2, 4},
	} {
		if got := job.ThreadsAlone(test.threads, test.cores); got != test.want {
			t.Errorf("%d compute threads on %d cores: %d, want %d", test.threads, test.cores, got, test.want)
		}
	}
}
