package ps_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/comm/shm"
	"lockstep/comm/tcp"
	"lockstep/gradsync"
	"lockstep/ps"
)

// sharedMemory links size ranks of this process by shared memory.
func sharedMemory(t testing.TB, size int) []comm.Mesh {
	t.Helper()
	f, err := shm.Create(size)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return connect(t, size, func(ctx context.Context, r int) (comm.Mesh, error) {
		return shm.Connect(ctx, f, r)
	})
}

// loopback links size ranks of this process over the loopback interface.
func loopback(t testing.TB, size int) []comm.Mesh {
	t.Helper()
	listeners, addrs := make([]*tcp.Listener, size), make([]string, size)
	for r := range listeners {
		l, err := tcp.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		listeners[r], addrs[r] = l, l.Addr()
	}
	return connect(t, size, func(ctx context.Context, r int) (comm.Mesh, error) {
		return tcp.Connect(ctx, listeners[r], tcp.Config{Rank: r, Addrs: addrs,
			Token: []byte("a token of sixteen bytes or more")})
	})
}

func connect(t testing.TB, size int, one func(context.Context, int) (comm.Mesh, error)) []comm.Mesh {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	meshes, errs := make([]comm.Mesh, size), make([]error, size)
	var all sync.WaitGroup
	for r := range meshes {
		all.Go(func() { meshes[r], errs[r] = one(ctx, r) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return meshes
}

// links are the kinds of links between processes.
var links = map[string]commtest.Connect{"shared memory": sharedMemory, "tcp": loopback}

// Lossless codecs change no bit over any link.
func TestServersOverLinksWithCodecs(t *testing.T) {
	for link, connect := range links {
		for _, wire := range gradsync.Wires() {
			if wire.IsLossy() || wire.IsAuto() {
				continue
			}
			for i, shape := range [][2]int{{2, 2}, {3, 1}, {4, 3}} {
				r := newRun(t, shape[0], shape[1], i == 1, false)
				r.push, r.pull = wire, wire
				noErrors(t, fmt.Sprintf("%s, %s, %v", link, wire, shape),
					r.each(t, connect(t, r.layout.Ranks()), func(w *worker) error {
						return errors.Join(w.Load(0), w.train(0, 3))
					}))
			}
		}
	}
}

// With a lossy wire all workers get the same weights, near those of the exact sums. Where the servers
// are makes no difference.
func TestServersWithLossyWires(t *testing.T) {
	for _, name := range []string{"bf16", "top-k"} {
		wire, err := gradsync.ParseWire(name)
		if err != nil {
			t.Fatal(err)
		}
		var all [][]float32
		for _, isApart := range []bool{false, true} {
			r := newRun(t, 3, 2, isApart, false)
			r.push = wire
			weights := make([][]float32, 3)
			noErrors(t, name, r.each(t, comm.NewLocal(r.layout.Ranks()), func(w *worker) error {
				weights[w.rank] = w.weights
				return errors.Join(w.Load(0), w.step(0), w.step(1))
			}))
			all = append(all, weights...)
		}
		for i, w := range all {
			if at := commtest.Differ(w, all[0]); at >= 0 {
				t.Errorf("%s: outcome %d differs at weight %d", name, i, at)
			}
		}
		want, _ := newRun(t, 1, 1, false, false).expect(2)
		if worst := distance(all[0], want); worst == 0 || name == "bf16" && worst > 0.01 {
			t.Errorf("%s: the weights differ by %v from exact ones", name, worst)
		}
	}
}

func distance(a, b []float32) (worst float64) {
	for i := range a {
		worst = max(worst, math.Abs(float64(a[i]-b[i])))
	}
	return worst
}

// A run goes on from the state that worker 0 collected, with other workers and servers.
func TestStateMovesBetweenLayouts(t *testing.T) {
	from, to := newRun(t, 3, 2, true, false), newRun(t, 2, 3, false, true)
	weights, velocity := make([]float32, len(from.data[0])), make([]float32, len(from.data[0]))
	noErrors(t, "first", from.each(t, comm.NewLocal(from.layout.Ranks()), func(w *worker) error {
		err := errors.Join(w.Load(0), w.train(0, 3))
		if w.rank != 0 {
			return err
		}
		return errors.Join(err, w.Collect(nil, [][]float32{velocity}),
			w.Collect(weights, [][]float32{velocity}), w.Collect(weights, [][]float32{velocity}))
	}))
	wantWeights, wantVelocity := from.expect(3)
	if at := commtest.Differ(velocity, wantVelocity); at >= 0 {
		t.Errorf("element %d of the velocity is %v, want %v", at, velocity[at], wantVelocity[at])
	}
	noErrors(t, "second", to.each(t, comm.NewLocal(to.layout.Ranks()), func(w *worker) error {
		copy(w.weights, wantWeights)
		w.Restore([][]float32{velocity})
		return errors.Join(w.Load(3), w.train(3, 5))
	}))
	for s, rule := range to.rules {
		if rule.steps != 5 {
			t.Errorf("server %d counts %d steps, want 5", s, rule.steps)
		}
	}
}

// Counts are added up over all workers, in any number, before the first step and after it.
func TestSumOfCounts(t *testing.T) {
	r := newRun(t, 3, 2, false, false)
	noErrors(t, "sum", r.each(t, comm.NewLocal(3), func(w *worker) error {
		for _, n := range []int{1, 511, 512, 513, 2000} {
			counts := make([]int64, n)
			for i := range counts {
				counts[i] = int64(w.rank*i) - 1
			}
			if err := w.Sum(counts); err != nil {
				return err
			}
			for i, got := range counts {
				if want := int64(3*i) - 3; got != want {
					return fmt.Errorf("count %d of %d is %d, want %d", i, n, got, want)
				}
			}
		}
		return errors.Join(w.Load(0), w.train(0, 2), w.Sum(make([]int64, 7)))
	}))
}

// Every rank learns which process was lost, and what it was.
func TestLostRanksAreNamed(t *testing.T) {
	leave := errors.New("lost")
	for _, victim := range []int{1, 2} { // a worker, and the last worker
		r := newRun(t, 3, 2, true, false)
		errs := r.each(t, comm.NewLocal(5), func(w *worker) error {
			err := errors.Join(w.Load(0), w.train(0, 2))
			if err != nil || w.rank == victim {
				return errors.Join(err, leave)
			}
			return w.step(2)
		})
		for i, err := range errs {
			wantLost(t, fmt.Sprintf("worker %d lost, process %d", victim, i), i == victim, err, victim,
				fmt.Sprintf("lost worker %d (rank %d)", victim, victim))
		}
	}
	for _, isApart := range []bool{true, false} {
		r := newRun(t, 2, 2, isApart, false)
		errs := r.each(t, comm.NewLocal(r.layout.Ranks()), func(w *worker) error {
			if err := errors.Join(w.Load(0), w.train(0, 2)); err != nil {
				return err
			}
			if w.rank == 0 {
				time.Sleep(20 * time.Millisecond) // the other worker waits by now
				r.posts[r.layout.Homes[1]].Shutdown()
			}
			return w.step(2)
		})
		want := "lost server 1 (rank 3)"
		if !isApart {
			want = "lost worker 1 with server 1 (rank 1)"
		}
		wantLost(t, "server lost, worker 0", false, errs[0], r.layout.Homes[1], want)
	}
}

// A worker that leaves before the others is lost to them.
func TestLeavingEarlyIsALoss(t *testing.T) {
	r := newRun(t, 3, 2, false, false)
	errs := r.each(t, comm.NewLocal(3), func(w *worker) error {
		if err := errors.Join(w.Load(0), w.train(0, 2)); err != nil || w.rank == 2 {
			return err
		}
		return w.step(2)
	})
	for i, err := range errs {
		wantLost(t, fmt.Sprintf("process %d", i), i == 2, err, 2, "lost worker 2 (rank 2)")
	}
	if err := errors.Join(errs...); !strings.Contains(err.Error(), "left before step 3") {
		t.Errorf("nobody says why: %v", err)
	}
}

// wantLost checks that err is the loss of a rank with its role; the victim's own error is any.
func wantLost(t *testing.T, what string, isVictim bool, err error, rank int, text string) {
	t.Helper()
	var lost *comm.PeerError
	switch {
	case isVictim:
	case !errors.As(err, &lost) || lost.Rank != rank:
		t.Errorf("%s: got %v, want the loss of rank %d", what, err, rank)
	case !strings.Contains(err.Error(), text):
		t.Errorf("%s: %q does not say %q", what, err, text)
	}
}

// A worker that keeps its links open and pushes nothing is named, not the server that waits for it.
func TestStuckWorkerIsNamed(t *testing.T) {
	r := newRun(t, 3, 1, true, false)
	r.timeout = 800 * time.Millisecond
	release := make(chan struct{})
	var stuck sync.WaitGroup
	stuck.Add(2)
	go func() { stuck.Wait(); close(release) }()
	errs := r.each(t, comm.NewLocal(4), func(w *worker) error {
		if err := errors.Join(w.Load(0), w.train(0, 1)); err != nil {
			return err
		}
		if w.rank == 1 {
			<-release
			return errors.New("stuck")
		}
		defer stuck.Done()
		return w.step(1)
	})
	for i, err := range errs {
		wantLost(t, fmt.Sprintf("process %d", i), i == 1, err, 1, "lost worker 1 (rank 1)")
	}
}

// Workers that disagree about a step are refused.
func TestWorkersAgreeOnTheStep(t *testing.T) {
	r := newRun(t, 2, 1, false, false)
	errs := r.each(t, comm.NewLocal(2), func(w *worker) error {
		if err := w.Load(0); err != nil {
			return err
		}
		return w.step(w.rank)
	})
	if err := errors.Join(errs...); err == nil || !strings.Contains(err.Error(), "announces step") {
		t.Errorf("got %v", err)
	}
}

// A step allocates nothing, at workers and servers.
func TestAStepAllocatesNothing(t *testing.T) {
	for link, connect := range links {
		r := newRun(t, 2, 2, false, false)
		number := [2]int{}
		steps := make([]func(), 2)
		begin, end := make(chan struct{}), make(chan struct{})
		var ready sync.WaitGroup
		ready.Add(2)
		errs := make(chan []error)
		go func() {
			errs <- r.each(t, connect(t, 2), func(w *worker) error {
				err := w.Load(0)
				nodes := w.plan.Pieces(w.rank)
				sums := make([][]float32, len(nodes))
				for i, n := range nodes {
					sums[i] = w.data.Tree(n.Lo, n.Hi)
				}
				steps[w.rank] = func() {
					w.Announce(0.5, 9)
					w.Begin(number[w.rank])
					number[w.rank]++
					for i := range sums {
						copy(w.pieces[i], sums[i])
					}
					w.GatherRows(w.rows)
					for i := range sizes {
						w.Ready(len(sizes) - 1 - i)
					}
					if err := errors.Join(w.WaitRows(), w.WaitWeights(-1)); err != nil {
						t.Error(err)
					}
				}
				ready.Done()
				<-end
				return err
			})
		}()
		ready.Wait()
		close(begin)
		if n := commtest.Allocations(steps); n != 0 {
			t.Errorf("%s: %v allocations in a step, want none", link, n)
		}
		close(end)
		noErrors(t, link, <-errs)
	}
}

func TestLayoutsThatAreRefused(t *testing.T) {
	good := ps.LayoutConfig{Plan: commtest.Cut(t, 2, 2), Order: []int{0, 1}, Len: 6, Servers: 2, RowLen: 1,
		Segments: []gradsync.Segment{{Len: 4}, {Offset: 4, Len: 2}}}
	if _, err := ps.NewLayout(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(c *ps.LayoutConfig)
		want   string
	}{
		{func(c *ps.LayoutConfig) { c.Servers = 0 }, "0 servers, want 1"},
		{func(c *ps.LayoutConfig) { c.Servers, c.IsWhole = 3, true }, "3 servers for 2 whole parameters"},
		{func(c *ps.LayoutConfig) { c.Servers = 7 }, "7 servers for 2 parameters of 6 elements"},
		{func(c *ps.LayoutConfig) { c.Len = 5 }, "5 weights, parameters end at 6"},
		{func(c *ps.LayoutConfig) { c.RowLen = 0 }, "rows of 0 elements"},
		{func(c *ps.LayoutConfig) { c.Order = nil }, "order of 0 parameters"},
	} {
		config := good
		c.change(&config)
		if _, err := ps.NewLayout(config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
