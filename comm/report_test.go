package comm_test

import (
	"sync"
	"testing"
	"time"

	"lockstep/comm"
)

// A report says for whom a collective waited, how long, and what it did besides moving bytes.
func TestReportNamesTheLastPeer(t *testing.T) {
	const size, late, delay = 3, 1, 100 * time.Millisecond
	reports := make([]comm.Report, size)
	var came time.Time // the late rank, to the second collective
	var all sync.WaitGroup
	for r, mesh := range comm.NewLocal(size) {
		all.Go(func() {
			g, err := comm.NewGroup(mesh, comm.Config{Algorithm: "direct", Add: func(dst, src []float32) {
				time.Sleep(time.Millisecond)
				comm.Add(dst, src)
			}})
			if err != nil {
				t.Error(err)
				return
			}
			defer g.Close()
			v := make([]float32, 99)
			h := g.Prepare(comm.Call{Op: comm.AllReduce, Out: v, Pieces: [][]float32{v}})
			for range 2 { // the second report has nothing of the first
				if r == late {
					time.Sleep(delay)
					came = time.Now()
				}
				if err := h.Do(); err != nil {
					t.Error(err)
				}
			}
			reports[r] = h.Report()
		})
	}
	all.Wait()
	for r, got := range reports {
		if r != late && got.Last != late {
			t.Errorf("rank %d waited for rank %d, want %d", r, got.Last, late)
		}
		// The margin is for a machine that is busy before the rank begins to wait.
		if least := came.Sub(got.Began) - delay/2; r != late && got.Waited < least {
			t.Errorf("rank %d waited %v, want at least %v", r, got.Waited, least)
		}
		if got.Added < 2*time.Millisecond || got.Waited+got.Added > got.Ended.Sub(got.Began) {
			t.Errorf("rank %d: %+v in %v, want 2 ms of sums", r, got.Split, got.Ended.Sub(got.Began))
		}
	}
}

// What lies after a time is all, nothing, or in proportion.
func TestSplitAfter(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(0, int64(ms)*1e6) }
	r := comm.Report{Began: at(100), Met: at(140), Ended: at(200),
		Split: comm.Split{Waited: 40e6, Added: 30e6, Coded: 6e6}}
	for ms, want := range map[int]comm.Split{
		50: r.Split, 100: r.Split, 200: {}, 300: {},
		130: {Waited: 10e6, Added: 30e6, Coded: 6e6},
		180: {Added: 10e6, Coded: 2e6},
	} {
		if got := r.After(at(ms)); got != want {
			t.Errorf("after %d ms: %+v, want %+v", ms, got, want)
		}
	}
}
