package job_test

import (
	"runtime"
	"testing"

	"lockstep/app/job"
	"lockstep/app/setting"
)

// A worker alone has no more threads for Go code than this process may use cores, unless it computes with
// more. Workers that exchange have two more each.
func TestGoThreads(t *testing.T) {
	all := runtime.NumCPU()
	for _, test := range []struct{ cores, workers, threads, want int }{
		{1, 1, 1, 1}, {1, 1, 3, 3}, {1, 2, 1, 6}, {all, 1, all, all}, {all, 1, 1, min(3, all)},
		{all, 2, 4, 12},
	} {
		c := setting.Default()
		c.Workers, c.Threads = test.workers, test.threads
		before := runtime.GOMAXPROCS(test.cores)
		got := job.GoThreads(c)
		runtime.GOMAXPROCS(before)
		if got != test.want {
			t.Errorf("%d workers of %d compute threads on %d cores: %d, want %d", test.workers, test.threads,
				test.cores, got, test.want)
		}
	}
}
