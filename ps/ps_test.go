package ps_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/gradsync"
	"lockstep/ps"
	"lockstep/shard"
)

// momentum is a Rule whose result depends on every detail of a step: v = v/2 + g*scale, w -= rate*v.
type momentum struct {
	weights, velocity []float32
	steps             int
}

func (r *momentum) Step(lo, hi int, g []float32, rate float64, scale float32) {
	if lo == 0 {
		r.steps++
	}
	for i := lo; i < hi; i++ {
		r.velocity[i] = float32(r.velocity[i]/2) + float32(g[i-lo]*scale)
		r.weights[i] -= float32(float32(rate) * r.velocity[i])
	}
}

func (r *momentum) Resume(steps int) { r.steps = steps }

// run is a run with servers, each rank in a goroutine.
type run struct {
	plan    shard.Plan
	layout  *ps.Layout
	data    commtest.Contributions
	push    gradsync.Wire
	pull    gradsync.Wire
	timeout time.Duration

	posts   []*comm.Post
	servers []*ps.Server
	rules   []*momentum
}

// sizes are those of the parameters: uneven, one larger than a bucket.
var sizes = []int{1, 70, 4099, 33_000, 5, 16}

const shards, rowLen = 5, 3

// newRun lays out parameters with gaps between them, in reverse order.
func newRun(t testing.TB, workers, servers int, isApart, isWhole bool) *run {
	t.Helper()
	c := ps.LayoutConfig{Plan: commtest.Cut(t, shards, workers), BucketBytes: 32 << 10, Servers: servers,
		IsApart: isApart, IsWhole: isWhole, SpanBytes: 40_000, RowLen: rowLen,
		Segments: make([]gradsync.Segment, len(sizes))}
	for i := range sizes {
		param := len(sizes) - 1 - i
		c.Order = append(c.Order, param)
		c.Segments[param] = gradsync.Segment{Offset: c.Len, Len: sizes[i]}
		c.Len += (sizes[i] + 15) / 16 * 16
	}
	l, err := ps.NewLayout(c)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{plan: c.Plan, layout: l, data: commtest.NewContributions(shards, c.Len),
		timeout: 20 * time.Second, posts: make([]*comm.Post, l.Ranks()), servers: make([]*ps.Server, servers),
		rules: make([]*momentum, servers)}
	for _, v := range r.data { // gaps hold zeros
		for param, s := range c.Segments {
			if end := s.Offset + s.Len; param > 0 {
				clear(v[end:c.Segments[param-1].Offset])
			} else {
				clear(v[end:])
			}
		}
	}
	return r
}

// each runs f on every worker, and the servers until they are left. It returns the errors of the
// workers and then of the servers.
func (r *run) each(t testing.TB, meshes []comm.Mesh, f func(w *worker) error) []error {
	t.Helper()
	errs := make([]error, r.layout.Workers+len(r.layout.Homes))
	var all sync.WaitGroup
	for rank, mesh := range meshes {
		all.Go(func() {
			p := comm.NewPost(mesh, comm.PostConfig{Timeout: r.timeout})
			r.posts[rank] = p
			defer p.Close()
			var serving sync.WaitGroup
			for s, home := range r.layout.Homes {
				if home == rank {
					server := r.serve(t, p, s)
					serving.Go(func() { errs[r.layout.Workers+s] = server.Serve() })
				}
			}
			if rank < r.layout.Workers {
				if errs[rank] = r.work(p, f); errs[rank] != nil {
					p.Shutdown()
				}
			}
			serving.Wait()
		})
	}
	all.Wait()
	return errs
}

func (r *run) serve(t testing.TB, p *comm.Post, number int) *ps.Server {
	n := r.layout.Parts[number].Len
	rule := &momentum{weights: p.Alloc(n), velocity: make([]float32, n)}
	s, err := ps.NewServer(ps.ServerConfig{Post: p, Layout: r.layout, Number: number, Weights: rule.weights,
		Rule: rule, State: [][]float32{rule.velocity}, Add: comm.Add, Push: r.push, Pull: r.pull})
	if err != nil {
		t.Error(err)
	}
	r.servers[number], r.rules[number] = s, rule
	return s
}

// worker is a worker of a run.
type worker struct {
	*ps.Client
	*run
	rank          int
	weights, rows []float32
	pieces        [][]float32
}

func (r *run) work(p *comm.Post, f func(w *worker) error) error {
	w := &worker{run: r, rank: p.Rank(), weights: make([]float32, len(r.data[0])),
		rows: make([]float32, shards*rowLen)}
	for range r.plan.Pieces(w.rank) {
		w.pieces = append(w.pieces, p.Alloc(len(w.weights)))
	}
	for i := range w.weights {
		w.weights[i] = float32(i%13) / 8
	}
	var err error
	if w.Client, err = ps.NewClient(ps.ClientConfig{Post: p, Layout: r.layout, Pieces: w.pieces,
		Weights: w.weights, Push: r.push, Pull: r.pull}); err != nil {
		return err
	}
	if err := f(w); err != nil {
		return err
	}
	return w.Close()
}

// rate is the learning rate of a step.
func rate(step int) float64 { return 1 / float64(step+2) }

// step makes one step.
func (w *worker) step(number int) error {
	w.Announce(rate(number), 7+number)
	w.Begin(number)
	nodes := w.plan.Pieces(w.rank)
	for i, n := range nodes {
		copy(w.pieces[i], w.data.Tree(n.Lo, n.Hi))
	}
	lo, hi := w.plan.Run(w.rank)
	for i := lo * rowLen; i < hi*rowLen; i++ {
		w.rows[i] = float32(1000*number + i)
	}
	w.GatherRows(w.rows)
	for i := range sizes {
		w.Ready(len(sizes) - 1 - i)
	}
	if err := w.WaitRows(); err != nil {
		return err
	}
	for i, got := range w.rows {
		if want := float32(1000*number + i); got != want {
			return fmt.Errorf("step %d: element %d of the rows is %v, want %v", number, i, got, want)
		}
	}
	if err := w.WaitWeights(0); err != nil {
		return err
	}
	return w.WaitWeights(-1)
}

// expect returns the weights and the velocity after a number of steps of one process.
func (r *run) expect(steps int) (weights, velocity []float32) {
	sum := r.data.Tree(0, shards)
	rule := &momentum{weights: make([]float32, len(sum)), velocity: make([]float32, len(sum))}
	for i := range rule.weights {
		rule.weights[i] = float32(i%13) / 8
	}
	for step := range steps {
		rule.Step(0, len(sum), sum, rate(step), 1/float32(7+step))
	}
	return rule.weights, rule.velocity
}

// train makes steps [from, to), and compares the weights.
func (w *worker) train(from, to int) error {
	for step := from; step < to; step++ {
		if err := w.step(step); err != nil {
			return err
		}
	}
	want, _ := w.expect(to)
	if i := commtest.Differ(w.weights, want); i >= 0 {
		return fmt.Errorf("worker %d: weight %d is %v after %d steps, want %v", w.rank, i, w.weights[i], to,
			want[i])
	}
	return nil
}

func noErrors(t *testing.T, what string, errs []error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// shapes calls f for runs of one to four workers with one to three servers.
func shapes(t *testing.T, f func(name string, r *run)) {
	for workers := 1; workers <= 4; workers++ {
		for servers := 1; servers <= 3; servers++ {
			for _, isApart := range []bool{false, true} {
				for _, isWhole := range []bool{false, true} {
					f(fmt.Sprintf("%d workers, %d servers, apart %t, whole %t", workers, servers, isApart,
						isWhole), newRun(t, workers, servers, isApart, isWhole))
				}
			}
		}
	}
}

// Weights have the bits of one process, and the counters are those of the formula.
func TestServersUpdateAsOneProcess(t *testing.T) {
	shapes(t, func(name string, r *run) {
		noErrors(t, name, r.each(t, comm.NewLocal(r.layout.Ranks()), func(w *worker) error {
			if err := w.Load(0); err != nil {
				return err
			}
			return w.train(0, 4)
		}))
	})
}

// The traffic of a step is that of the formula, at every process and at every server.
func TestTrafficIsTheFormula(t *testing.T) {
	shapes(t, func(name string, r *run) {
		const steps = 3
		noErrors(t, name, r.each(t, comm.NewLocal(r.layout.Ranks()), func(w *worker) error {
			return errors.Join(w.Load(0), w.train(0, steps))
		}))
		for rank, p := range r.posts {
			got, want := p.Counters().Total(), r.layout.Traffic(rank)
			loaded := r.loaded(rank)
			want.Sent, want.Received = steps*want.Sent+loaded.Sent, steps*want.Received+loaded.Received
			if got.Sent != want.Sent || got.Received != want.Received {
				t.Errorf("%s: rank %d sent %d bytes and received %d, want %+v", name, rank, got.Sent,
					got.Received, want)
			}
		}
		for s, server := range r.servers {
			want := r.layout.ServerTraffic(s)
			want.Sent, want.Received = steps*want.Sent, steps*want.Received
			others := int64(r.layout.Workers) // whose leave of one byte is answered
			if r.layout.Homes[s] < r.layout.Workers {
				others--
			}
			want.Sent, want.Received = want.Sent+others, want.Received+others
			if r.layout.Homes[s] != 0 {
				want.Received += 4*int64(r.layout.Parts[s].Len) + 16
			}
			if got := server.Traffic(); got != want {
				t.Errorf("%s: server %d: %+v, want %+v", name, s, got, want)
			}
		}
	})
}

// loaded returns what a rank exchanges besides steps: worker 0 loads the servers with their weights, and
// every worker leaves every server.
func (r *run) loaded(rank int) ps.Traffic {
	var t ps.Traffic
	for s, home := range r.layout.Homes {
		bytes := 4*int64(r.layout.Parts[s].Len) + 16
		switch {
		case home == 0:
		case rank == 0:
			t.Sent += bytes
		case rank == home:
			t.Received += bytes
		}
		for w := range r.layout.Workers {
			if w != home && (w == rank || home == rank) {
				t.Sent, t.Received = t.Sent+1, t.Received+1
			}
		}
	}
	return t
}

// Parts are balanced, cover every parameter once, and follow a pure rule.
func TestPartsAreBalanced(t *testing.T) {
	shapes(t, func(name string, r *run) {
		most, least := 0, math.MaxInt
		for _, p := range r.layout.Parts {
			most, least = max(most, p.Len), min(least, p.Len)
		}
		isWhole := strings.Contains(name, "whole true")
		if !isWhole && most-least > 32 && len(r.layout.Parts) > 1 {
			t.Errorf("%s: parts of %d to %d elements", name, least, most)
		}
		if isWhole && len(r.layout.Parts) > 1 && most != slices.Max(sizes) {
			t.Errorf("%s: the largest part has %d elements, want %d", name, most, slices.Max(sizes))
		}
		flat, copied := make([]float32, len(r.data[0])), make([]float32, len(r.data[0]))
		copy(flat, r.data.Tree(0, shards))
		for s, p := range r.layout.Parts {
			own := make([]float32, p.Len)
			r.layout.Pick(own, flat, s)
			r.layout.Place(copied, own, s)
		}
		if i := commtest.Differ(flat, copied); i >= 0 {
			t.Errorf("%s: element %d belongs to no server", name, i)
		}
	})
}
