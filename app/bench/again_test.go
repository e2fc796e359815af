package bench_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/app/bench"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
)

// execution is a way to execute a run.
type execution = func(context.Context, bench.Row, launcher.Options) (*record.Summary, error)

// busy is pretend that takes two seconds, by the clock of synctest, and from which others take cores if is
// says so of its number. It is cancelled before the run with the number end; -1: never.
func busy(end int, cancel func(), is func(n int) bool) execution {
	n := -1
	return func(ctx context.Context, c bench.Row, o launcher.Options) (*record.Summary, error) {
		if n++; n == end {
			cancel()
			return nil, context.Canceled
		}
		o.Progress(launcher.Progress{Steps: 3, Step: 1})
		time.Sleep(2 * time.Second) // as pretend says
		s, err := pretend(ctx, c, o)
		if err == nil {
			s.Taken = &record.Taken{}
			if is(n) {
				s.Taken.Others = 0.3
			}
		}
		return s, err
	}
}

func always(int) bool { return true }

// fourRows has four rows in six rounds.
func fourRows(t *testing.T) bench.Config {
	c := matrix([]string{"lenet"}, []string{"single", "all-reduce", "ddp", "none"}, 1, 2)
	c.OneProcess, c.Repeats, c.Out = false, 6, filepath.Join(t.TempDir(), "out")
	return c
}

// A benchmark that is interrupted, among repeats as well, does as many runs in all as one that is not.
func TestResumeRepeatsNoMore(t *testing.T) {
	for _, is := range []func(int) bool{always, func(n int) bool { return n%2 == 0 }} {
		var want string
		for _, end := range []int{-1, 3, 9} {
			synctest.Test(t, func(t *testing.T) {
				got := resumedAt(t, end, is)
				if end < 0 {
					want = got
				}
				if got != want {
					t.Errorf("interrupted before run %d: %s; without: %s", end, got, want)
				}
			})
		}
	}
}

// resumedAt interrupts a benchmark, goes on with it, and once more when it is complete. It returns how often
// each row was run in each round.
func resumedAt(t *testing.T, end int, is func(int) bool) string {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := fourRows(t)
	c.Repeats = 3
	r, err := bench.Run(ctx, c, bench.Options{Execute: busy(end, cancel, is)})
	if (end >= 0) != errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for sitting := range 2 {
		var shown []string
		r, err = bench.Resume(t.Context(), c.Out, 0, nil, bench.Options{
			Execute: busy(-1, nil, func(n int) bool { return is(end + n) }),
			Progress: func(p bench.Progress) {
				if p.Done {
					shown = append(shown, fmt.Sprint(p.Run, "/", p.Runs))
				}
			}})
		if err != nil || !r.Complete {
			t.Fatalf("%v, complete %v", err, r.Complete)
		}
		if isWhole := sitting > 0 || end < 0; isWhole && len(shown) > 0 {
			t.Errorf("a complete benchmark ran %v", shown)
		} else if !isWhole {
			n := end + len(shown)
			checkShown(t, shown, end+1, n)
		}
	}
	counts := make([][3]int, len(r.Rows))
	n := 0
	for i, row := range r.Rows {
		for _, run := range slices.Concat(row.Runs, row.Replaced) {
			counts[i][run.Round]++
			n++
		}
	}
	checkPositions(t, r, n)
	return fmt.Sprint(counts)
}

// checkShown requires that runs were counted from one number to another, the last.
func checkShown(t *testing.T, shown []string, from, to int) {
	t.Helper()
	for i, text := range shown {
		if !strings.HasPrefix(text, fmt.Sprint(from+i, "/")) {
			t.Errorf("runs were counted as %v, want them from %d on", shown, from)
		}
	}
	if last := shown[len(shown)-1]; last != fmt.Sprint(to, "/", to) {
		t.Errorf("the last run was %s, want %d/%d", last, to, to)
	}
}

// Runs are numbered one by one, and each repeat is one more.
func TestProgressCountsRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs []string // as they end
		left := map[int]time.Duration{}
		is := func(n int) bool { return n == 1 || n == 22 } // one run of the first round, and one of the last
		_, err := bench.Run(t.Context(), fourRows(t), bench.Options{Execute: busy(-1, nil, is),
			Progress: func(p bench.Progress) {
				if p.Done {
					runs = append(runs, fmt.Sprint(p.Run, "/", p.Runs))
				} else {
					left[p.Run] = p.Remaining
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for n := 1; n <= 26; n++ {
			want = append(want, fmt.Sprint(n, "/", 24+min(1, n/5)+n/26))
		}
		if !slices.Equal(runs, want) {
			t.Errorf("runs %v, want %v", runs, want)
		}
		// With the first repeat there are five rounds left; the last run is alone.
		for n, seconds := range map[int]time.Duration{5: 42, 26: 2} {
			if left[n] != seconds*time.Second {
				t.Errorf("run %d: %v left, want %d s", n, left[n], seconds)
			}
		}
	})
}

// The time left is no longer than the budget, in which all runs end.
func TestTheTimeLeftKeepsTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fourRows(t)
		c.Budget = 31 * time.Second // of 24 runs of two seconds, which are predicted to be short, and repeats
		began := time.Now()
		probe := func(context.Context, setting.Config, launcher.Options) (record.Probe, error) {
			return record.Probe{Compute: []float64{1e-4, 1e-4}, Shards: 2, Tensors: 1}, nil
		}
		_, err := bench.Run(t.Context(), c, bench.Options{Execute: busy(-1, nil, always), Probe: probe,
			Progress: func(p bench.Progress) {
				if end := time.Since(began) + p.Remaining; end > c.Budget ||
					p.Run > 1 && !p.Done && p.Remaining == 0 {
					t.Errorf("run %d: %v left after %v, with a budget of %v", p.Run, p.Remaining,
						time.Since(began), c.Budget)
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < c.Budget-8*time.Second || took > c.Budget {
			t.Errorf("took %v of %v", took, c.Budget)
		}
	})
}
