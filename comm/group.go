package comm

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"lockstep/shard"
)

// Config configures a Group. It must be the same on all ranks, except for Add.
type Config struct {
	// Plan says which subtrees each rank contributes to sums; see SetPlan. The zero value is one shard
	// per rank.
	Plan shard.Plan
	// Topology says which ranks share a host. The zero value is one host.
	Topology Topology
	// Algorithm of AllReduce: "" or "auto", or one of Algorithms.
	Algorithm string
	// Timeout is how long a collective waits while no byte moves. Zero means one minute.
	Timeout time.Duration
	// Generation identifies the group's frames; frames of another generation are refused.
	Generation uint32
	// Add computes dst[i] += src[i]. The default is the package's Add.
	Add func(dst, src []float32)
}

func (c Config) withDefaults(size int) (Config, error) {
	if c.Plan.Workers() <= 0 {
		plan, err := shard.Cut(size, size)
		if err != nil {
			return c, err
		}
		c.Plan = plan
	}
	if got := c.Plan.Workers(); got != size {
		return c, fmt.Errorf("comm: new group: plan for %d workers, mesh of %d ranks", got, size)
	}
	if c.Topology.Size() == 0 {
		c.Topology = OneHost(size)
	}
	if got := c.Topology.Size(); got != size {
		return c, fmt.Errorf("comm: new group: hosts of %d ranks, mesh of %d", got, size)
	}
	if c.Algorithm == "" {
		c.Algorithm = "auto"
	}
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	if c.Add == nil {
		c.Add = Add
	}
	return c, CheckAlgorithm(c.Algorithm)
}

// Group runs collectives among the ranks of a mesh.
//
// All ranks must issue the same collectives with the same sizes in the same order; the frames'
// headers reveal a difference, which ends in a *PeerError. After any error the group is unusable
// and every further call returns that error. Methods are safe for concurrent use, but the order of
// collectives is then up to the callers.
type Group struct {
	config Config
	exec   *executor

	mu        sync.Mutex
	wake      sync.Cond // the queue, isRunning or isClosed changed
	queue     []*Handle
	free      []*Handle
	isRunning bool
	current   *Handle // the one being executed, or nil
	isClosed  bool
	err       error // the first failure
	counters  Counters
	worker    sync.WaitGroup
}

// NewGroup returns the group of all ranks of mesh and takes ownership of mesh. It starts one
// goroutine, locked to its thread; Close waits for it.
func NewGroup(mesh Mesh, c Config) (*Group, error) {
	c, err := c.withDefaults(mesh.Size())
	if err != nil {
		return nil, err
	}
	g := &Group{config: c, exec: newExecutor(mesh, c)}
	g.wake.L = &g.mu
	g.counters.Peers = make([][numOps]Count, mesh.Size())
	g.worker.Go(g.work)
	return g, nil
}

// Rank returns this process's rank in the group.
func (g *Group) Rank() int { return g.exec.mesh.Rank() }

// Size returns the number of ranks.
func (g *Group) Size() int { return g.exec.mesh.Size() }

// Topology returns which ranks share a host.
func (g *Group) Topology() Topology { return g.config.Topology }

// Plan returns the plan of the contributions.
func (g *Group) Plan() shard.Plan {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.config.Plan
}

// SetPlan changes the plan of the contributions, also to another number of shards. Like a collective it
// must be called on all ranks, with the same plan between the same two collectives, and none may be in
// progress on this rank. Prepared sums must be prepared anew, with the pieces of the new plan. Schedules
// are made anew on first use; measurements of links and scratch stay. It returns an error if the plan is
// for another number of workers or a collective is in progress; the old plan then stays.
func (g *Group) SetPlan(p shard.Plan) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case p.Workers() != g.exec.mesh.Size():
		return fmt.Errorf("comm: set plan: %d workers, mesh of %d ranks", p.Workers(), g.exec.mesh.Size())
	case g.isRunning || len(g.queue) > 0:
		return fmt.Errorf("comm: set plan: a collective is in progress")
	}
	g.config.Plan = p
	g.exec.setPlan(p)
	return nil
}

// Alloc returns a vector of n zeros. If the mesh is an Allocator, peers read it in place, which saves
// one of two copies, and the memory is invalid after Close.
func (g *Group) Alloc(n int) []float32 { return Alloc(g.exec.mesh, n) }

// Cost returns what this rank would send, receive and add in call c over vectors of elems elements,
// with the algorithm that c would use. It must not be called while Tune runs.
func (g *Group) Cost(c Call, elems int) Cost {
	var total Cost
	for lo := 0; lo < elems; lo += segmentOf(c.Op, elems) {
		s := g.exec.schedule(&c, min(segmentOf(c.Op, elems), elems-lo)).Cost()
		total.Steps += s.Steps
		total.Sent += s.Sent
		total.Received += s.Received
	}
	return total
}

// Close shuts down the links, waits for the group's goroutine and closes the mesh. Collectives in
// progress fail with ErrClosed on this rank and with a *PeerError on the others.
func (g *Group) Close() error {
	g.mu.Lock()
	isFirst := !g.isClosed
	g.isClosed = true
	g.wake.Broadcast()
	g.mu.Unlock()
	if !isFirst {
		return nil
	}
	g.exec.mesh.Shutdown()
	g.worker.Wait()
	g.mu.Lock()
	for g.isRunning {
		g.wake.Wait()
	}
	g.mu.Unlock()
	return g.exec.mesh.Close()
}

// Counters returns a snapshot of the traffic of all completed collectives.
func (g *Group) Counters() Counters {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.counters
	c.Peers = append([][numOps]Count(nil), c.Peers...)
	return c
}

// work executes started handles in order until Close.
func (g *Group) work() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	shortenSlice()
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		for !g.isClosed && (len(g.queue) == 0 || g.isRunning) {
			g.wake.Wait()
		}
		if g.isClosed {
			for _, h := range g.queue {
				h.finish(ErrClosed)
			}
			g.queue = g.queue[:0]
			return
		}
		g.executeNext(false)
	}
}

// executeNext runs the first handle of the queue.
func (g *Group) executeNext(isWaitedFor bool) {
	h := g.queue[0]
	g.queue = g.queue[:copy(g.queue, g.queue[1:])]
	g.execute(h, isWaitedFor)
}

// execute runs h with g.mu unlocked.
func (g *Group) execute(h *Handle, isWaitedFor bool) {
	err := g.err
	g.isRunning = true
	if err == nil {
		g.current = h
		g.mu.Unlock()
		g.exec.isWaitedFor = isWaitedFor
		h.report.Began = time.Now()
		err = g.exec.run(&h.call)
		h.report.Ended = time.Now()
		h.report.Met, h.report.Last, h.report.Split = g.exec.met, g.exec.last, g.exec.split
		g.mu.Lock()
		g.current = nil
		g.exec.resume()
		g.complete(h, err)
	}
	g.isRunning = false
	h.finish(err)
	if len(g.queue) > 0 || g.isClosed {
		g.wake.Broadcast()
	}
}

// complete records the end of an execution.
func (g *Group) complete(h *Handle, err error) {
	if err != nil && isFatal(err) {
		g.err = err
	}
	op := h.call.Op
	for peer := range g.exec.counts {
		add := &g.exec.counts[peer]
		g.counters.Peers[peer][op].Add(*add)
		h.report.Sent += add.Sent
		h.report.Received += add.Received
		h.report.Vector += add.Vector
		*add = Count{}
	}
	g.counters.Calls[op]++
	g.counters.Busy[op] += h.report.Ended.Sub(h.report.Began)
}

// isFatal reports whether err leaves the links in an unknown state. An invalid call has not touched
// them.
func isFatal(err error) bool {
	var peer *PeerError
	return errors.As(err, &peer) || errors.Is(err, ErrClosed)
}
