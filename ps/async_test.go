package ps_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/ps"
	"lockstep/shard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// descent is the rule w -= rate*scale*g of a test, with momentum.
type descent struct{ weights, momentum []float32 }

func (d *descent) Step(lo, hi int, g []float32, rate float64, scale float32) {
	for i := lo; i < hi; i++ {
		d.momentum[i] = float32(0.5*d.momentum[i]) + float32(scale*g[i-lo])
		d.weights[i] -= float32(float32(rate) * d.momentum[i])
	}
}

func (*descent) Resume(int) {}

// lengths of the parameters of a test.
var lengths = []int{5, 300, 17, 1200}

// gradient fills g with the gradient of a batch at the weights.
func gradient(g, weights []float32, batch int) {
	for i := range g {
		g[i] = float32(weights[i]*float32(1+batch%5)/50) + float32((batch*31+i*7)%13-6)/100
	}
}

func rateOf(batch int) float64 { return 0.1 / float64(1+batch%4) }

func samplesOf(batch int) int { return 1 + batch%3 }

// asyncRun is an asynchronous run on a mesh within this process.
type asyncRun struct {
	t                *testing.T
	ledger           ps.LedgerConfig
	servers, shards  int
	isApart, divides bool
	slow             time.Duration // a batch of the last worker takes as long
	dies             map[int]int   // workers that are gone after that many batches
	halts            int           // worker 0 halts the run after that many batches; 0: not

	halt    chan struct{} // closed when all workers are asked to halt
	layout  *ps.Layout
	updates []ps.Update // by server 0
	lost    []int
	orders  [][]int     // by worker: the batches of the updates it was told of
	weights [][]float32 // by worker, at the end
	state   []float32   // of the optimizer, at the end
}

func (a *asyncRun) lay() {
	a.t.Helper()
	plan, err := shard.Cut(a.shards, a.ledger.Workers)
	if err != nil {
		a.t.Fatal(err)
	}
	c := ps.LayoutConfig{Plan: plan, BucketBytes: 2000, Servers: a.servers, IsApart: a.isApart, RowLen: 3}
	for i, n := range lengths {
		c.Segments = append(c.Segments, gradsync.Segment{Offset: c.Len, Len: n})
		c.Order = append(c.Order, i)
		c.Len += n
	}
	if a.layout, err = ps.AsyncLayout(c); err != nil {
		a.t.Fatal(err)
	}
}

// run makes the run and returns the errors of its ranks.
func (a *asyncRun) run() []error {
	a.lay()
	a.halt = make(chan struct{})
	a.orders, a.weights = make([][]int, a.ledger.Workers), make([][]float32, a.ledger.Workers)
	meshes := comm.NewLocal(a.layout.Ranks())
	errs := make([]error, len(meshes))
	var all sync.WaitGroup
	for rank, mesh := range meshes {
		all.Go(func() { errs[rank] = a.process(rank, mesh) })
	}
	all.Wait()
	return errs
}

func (a *asyncRun) process(rank int, mesh comm.Mesh) error {
	post := comm.NewPost(mesh, comm.PostConfig{Timeout: 20 * time.Second, MayLose: a.layout.MayLose})
	var serving sync.WaitGroup
	errs := make([]error, a.servers+1)
	for number, home := range a.layout.Homes {
		if home == rank {
			server, err := a.server(post, number)
			if err != nil {
				return errors.Join(err, post.Close())
			}
			serving.Go(func() {
				if errs[number] = server.Serve(); errs[number] != nil {
					post.Shutdown()
				}
			})
		}
	}
	if rank < a.ledger.Workers {
		if errs[a.servers] = a.work(rank, post); errs[a.servers] != nil {
			post.Shutdown()
		}
	}
	serving.Wait()
	return errors.Join(append(errs, post.Close())...)
}

func (a *asyncRun) server(post *comm.Post, number int) (*ps.AsyncServer, error) {
	n := a.layout.Parts[number].Len
	rule := &descent{make([]float32, n), make([]float32, n)}
	c := ps.AsyncConfig{Ledger: a.ledger, DividesRate: a.divides, ServerConfig: ps.ServerConfig{Post: post,
		Layout: a.layout, Number: number, Weights: rule.weights, Rule: rule,
		State: [][]float32{rule.momentum}}}
	c.OnUpdate = func(u ps.Update) { a.updates = append(a.updates, u) }
	c.OnLoss = func(w int) { a.lost = append(a.lost, w) }
	return ps.NewAsyncServer(c)
}

var errDead = errors.New("dead")

// work is a worker. Its weights begin with ones.
func (a *asyncRun) work(rank int, post *comm.Post) error {
	n := 0
	for _, l := range lengths {
		n += l
	}
	weights, g := make([]float32, n), post.Alloc(n)
	for i := range weights {
		weights[i] = 1
	}
	client, err := ps.NewAsyncClient(ps.ClientConfig{Post: post, Layout: a.layout, Pieces: [][]float32{g},
		Weights: weights})
	if err != nil {
		return err
	}
	if err := client.Load(a.ledger.From); err != nil {
		return err
	}
	if a.halts > 0 {
		halted := make(chan struct{})
		defer func() { <-halted }()
		go func() {
			defer close(halted)
			<-a.halt
			client.Halt()
		}()
	}
	rows := make([]float32, 3*a.shards)
	for done := 0; ; {
		batch, _, isOver, err := client.Take(func(batch int, rows []float32) {
			if batch != int(rows[0]) {
				a.t.Errorf("rows of batch %v for batch %d", rows[0], batch)
			}
			a.orders[rank] = append(a.orders[rank], batch)
		})
		if err == nil {
			err = client.WaitWeights(-1)
		}
		switch {
		case errors.Is(err, ps.ErrHalted):
			return client.Close()
		case err != nil:
			return err
		case a.dies[rank] > 0 && done == a.dies[rank]:
			return errDead
		case batch < 0 && isOver:
			a.checkTotals(rank, client.Buckets(), done)
			return errors.Join(a.end(rank, client, weights), client.Close())
		case batch < 0:
			continue
		}
		if rank == 0 && a.halts > 0 && done == a.halts {
			close(a.halt)
		}
		if rank == a.ledger.Workers-1 {
			time.Sleep(a.slow)
		}
		rows[0] = float32(batch)
		client.Begin(batch)
		client.Commit(rateOf(batch), samplesOf(batch), false)
		client.GatherRows(rows)
		gradient(g, weights, batch)
		for i := range lengths {
			client.Ready(i)
		}
		done++
	}
}

// end keeps what a worker ends with.
func (a *asyncRun) end(rank int, client *ps.AsyncClient, weights []float32) error {
	a.weights[rank] = weights
	if rank > 0 {
		return nil
	}
	a.state = make([]float32, len(weights))
	return client.Collect(nil, [][]float32{a.state})
}

// checkTotals checks a worker's totals: nothing is compressed, so nothing is spared, and the weights before
// the first batch count as no step.
func (a *asyncRun) checkTotals(rank int, buckets []gradsync.Bucket, batches int) {
	for i, b := range buckets {
		if b.Spared != 0 || b.Steps != batches {
			a.t.Errorf("worker %d: bucket %d has %d bytes spared in %d steps, want none in %d", rank, i,
				b.Spared, b.Steps, batches)
		}
	}
}

// serial makes the recorded updates one after another and returns the weights.
func (a *asyncRun) serial() []float32 {
	n := len(a.weights[0])
	rule := &descent{make([]float32, n), make([]float32, n)}
	for i := range rule.weights {
		rule.weights[i] = 1
	}
	versions, g := [][]float32{slices.Clone(rule.weights)}, make([]float32, n)
	for _, u := range a.updates {
		if u.IsDropped {
			continue
		}
		gradient(g, versions[u.Version], u.Batch)
		rate := rateOf(u.Batch)
		if a.divides {
			rate /= float64(max(1, u.Staleness))
		}
		rule.Step(0, n, g, rate, 1/float32(samplesOf(u.Batch)))
		versions = append(versions, slices.Clone(rule.weights))
	}
	return rule.weights
}

// check compares the run with the serial one.
func (a *asyncRun) check() {
	a.t.Helper()
	var order []int
	for _, u := range a.updates {
		if !u.IsDropped {
			if u.Number != len(order) || u.Staleness > a.ledger.Staleness {
				a.t.Errorf("%+v, want number %d and at most %d", u, len(order), a.ledger.Staleness)
			}
			order = append(order, u.Batch)
		}
	}
	want := a.serial()
	for w := range a.weights {
		if slices.Contains(a.lost, w) {
			continue
		}
		if !slices.Equal(a.weights[w], want) {
			a.t.Errorf("worker %d: other weights than those of the same updates one after another", w)
		}
		if !slices.Equal(a.orders[w], order) {
			a.t.Errorf("worker %d: told of batches %v, want %v", w, a.orders[w], order)
		}
	}
	slices.Sort(order)
	for i, batch := range order {
		if batch != i {
			a.t.Fatalf("batches %v, want each once", order)
		}
	}
	if len(order) != a.ledger.To {
		a.t.Errorf("%d updates, want %d", len(order), a.ledger.To)
	}
}

func (a *asyncRun) replay() []ps.Applied {
	var all []ps.Applied
	for _, u := range a.updates {
		if !u.IsDropped {
			all = append(all, ps.Applied{Batch: u.Batch, Version: u.Version})
		}
	}
	return all
}

// Every update is that of its batch at the version it was computed from, bit for bit, on any number
// of servers; and a replay with another number of workers and servers ends with the same bits.
func TestAsynchronousUpdates(t *testing.T) {
	for workers := 1; workers <= 4; workers++ {
		for servers := 1; servers <= 3; servers++ {
			for _, c := range []struct {
				isApart, divides, isContinuous bool
				backup                         int
			}{{}, {isApart: true, divides: true, isContinuous: true},
				{isApart: true, backup: workers / 2}} {
				t.Run(fmt.Sprintf("%d workers, %d servers, %+v", workers, servers, c), func(t *testing.T) {
					a := &asyncRun{t: t, servers: servers, shards: 4, isApart: c.isApart, divides: c.divides,
						slow: time.Millisecond, ledger: ps.LedgerConfig{Workers: workers, PerEpoch: 9, To: 20,
							Staleness: 2 * workers, Backup: c.backup, Every: 7,
							Continuous: c.isContinuous}}
					if err := errors.Join(a.run()...); err != nil {
						t.Fatal(err)
					}
					a.check()
					again := &asyncRun{t: t, servers: 1 + servers%3, shards: 4, divides: c.divides,
						isApart: !c.isApart, ledger: a.ledger}
					again.ledger.Workers, again.ledger.Backup = 5-workers, 0
					again.ledger.Replay = a.replay()
					if err := errors.Join(again.run()...); err != nil {
						t.Fatal(err)
					}
					again.check()
					if !slices.Equal(again.weights[0], a.weights[0]) || !slices.Equal(again.state, a.state) {
						t.Error("the replay ends with other weights or another state")
					}
				})
			}
		}
	}
}

// The run goes on without workers that die, and their batches are not lost.
func TestAsynchronousRunLosesWorkers(t *testing.T) {
	a := &asyncRun{t: t, servers: 2, shards: 4, isApart: true, dies: map[int]int{1: 2, 3: 4},
		ledger: ps.LedgerConfig{Workers: 4, PerEpoch: 15, To: 30, Staleness: 8}}
	errs := a.run()
	for rank, err := range errs {
		if isDead := a.dies[rank] > 0; isDead != errors.Is(err, errDead) || !isDead && err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	slices.Sort(a.lost)
	if !slices.Equal(a.lost, []int{1, 3}) {
		t.Errorf("lost %v, want workers 1 and 3", a.lost)
	}
	a.check()
}

// The loss of worker 0, or of one with a server, ends the run.
func TestAsynchronousRunNeedsWorker0AndServers(t *testing.T) {
	for rank, c := range map[int]struct {
		servers int
		isApart bool
	}{0: {1, true}, 1: {2, false}} {
		a := &asyncRun{t: t, servers: c.servers, shards: 4, isApart: c.isApart, dies: map[int]int{rank: 2},
			ledger: ps.LedgerConfig{Workers: 3, PerEpoch: 15, To: 30, Staleness: 6}}
		for other, err := range a.run() {
			var lost *comm.PeerError
			if other != rank && (!errors.As(err, &lost) || lost.Rank != rank) {
				t.Errorf("rank %d, when %d is lost: got %v", other, rank, err)
			}
		}
	}
}

// A halted run stops after the batches that were lent.
func TestAsynchronousRunHalts(t *testing.T) {
	a := &asyncRun{t: t, servers: 2, shards: 4, halts: 5, slow: time.Millisecond,
		ledger: ps.LedgerConfig{Workers: 3, PerEpoch: 500, To: 500, Staleness: 6}}
	if err := errors.Join(a.run()...); err != nil {
		t.Fatal(err)
	}
	var batches []int
	for _, u := range a.updates {
		batches = append(batches, u.Batch)
	}
	slices.Sort(batches)
	if n := len(batches); n < 5 || n > 100 || batches[0] != 0 || batches[n-1] != n-1 {
		t.Errorf("batches %v, want the first ones", batches)
	}
}
