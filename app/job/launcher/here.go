package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/app/host"
	"lockstep/app/job"
	"lockstep/app/job/input"
	"lockstep/app/job/server"
	"lockstep/app/job/worker"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/comm"
)

// stuckGrace is how long the other workers of this process may take to end when one is stuck, and all of them
// when they are asked to stop and have nothing to save.
const stuckGrace = time.Second

// crew holds the workers, and the servers apart, of a run that are goroutines of this process.
type crew struct {
	workers   []*worker.Worker // by rank
	servers   []*server.Apart  // whose ranks follow
	seats     []*job.Seat      // of all
	isRunning []atomic.Bool
	results   []job.Result
}

// runHere runs all workers as goroutines of this process, linked in memory. They share the data. A worker
// that is stuck, or is asked to stop while it cannot look, is left behind, so the process should end soon.
func runHere(ctx context.Context, c setting.Config, dir rundir.Directory, start input.Start, told *heard,
	o Options) ([]job.Result, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(job.GoThreads(c)))
	host.ResetPeakRSS()
	report := func(p cluster.Progress) {
		if o.Progress != nil {
			o.Progress(progressOf(p))
		}
	}
	report(cluster.Progress{Phase: job.PhaseLoad})
	all := newCrew(c, dir, told, o)
	isComplete := false // before working is done
	working, done := context.WithCancel(context.Background())
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		defer done()
		task, err := o.load(running, c, start)
		if err != nil {
			cancel(err)
			return
		}
		isComplete = all.train(running, cancel, task)
	}()
	stuck := cluster.Watch(working, c.Workers, c.NumApart(), all.read, func(rank int, p cluster.Progress) {
		if rank == 0 {
			report(p)
		}
	})
	switch {
	case stuck != nil:
	case working.Err() != nil && isComplete:
		return all.results, nil // though it may have been asked to stop, too late
	default:
		return nil, context.Cause(running)
	}
	stuck.Host = o.Environment.HostName()
	stuck.Log = all.dump(stuck)
	isAsked := ctx.Err() != nil
	cancel(stuck)
	awaitEnd(working)
	if isAsked {
		return nil, &cluster.StopError{Err: ctx.Err(), Step: stuck.Step, Killed: stuck}
	}
	return nil, stuck
}

// load returns the network and the samples of a run.
func (o Options) load(ctx context.Context, c setting.Config, start input.Start) (input.Task, error) {
	if o.Task != nil {
		return o.Task(start)
	}
	return input.Load(ctx, c, c.DataOptions(o.Environment), start)
}

// awaitEnd waits for the end of ctx, at most for stuckGrace.
func awaitEnd(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(stuckGrace):
	}
}

// newCrew returns the workers of a run. The first one loads the data of all.
func newCrew(c setting.Config, dir rundir.Directory, told *heard, o Options) *crew {
	meshes := make([]comm.Mesh, 1)
	if c.World() > 1 {
		meshes = comm.NewLocal(c.World())
	}
	newSeat := func(rank int) job.Seat {
		return job.Seat{Config: c, Dir: dir, Rank: rank, Log: io.Discard, Mesh: meshes[rank],
			Host: o.Environment.HostName(), Beacon: job.NewBeacon(),
			Tell: func(n job.Notice) { told.take(rank, n) }}
	}
	all := &crew{workers: make([]*worker.Worker, c.Workers), servers: make([]*server.Apart, c.NumApart()),
		isRunning: make([]atomic.Bool, c.World()), results: make([]job.Result, c.Workers)}
	for rank := range all.workers {
		all.workers[rank] = &worker.Worker{Seat: newSeat(rank), Crowded: o.isCrowded(c), Probes: o.Probes,
			WorkersHere: c.Workers}
		if o.Hears != nil {
			all.workers[rank].Hears, all.workers[rank].IsOver = o.Hears(rank)
		}
		all.seats = append(all.seats, &all.workers[rank].Seat)
	}
	for i := range all.servers {
		all.servers[i] = &server.Apart{Seat: newSeat(c.Workers + i)}
		all.seats = append(all.seats, &all.servers[i].Seat)
	}
	all.isRunning[0].Store(true)
	return all
}

// train runs all workers and servers to their end, and reports whether that is the end of the run. The first
// error cancels ctx.
func (all *crew) train(ctx context.Context, cancel context.CancelCauseFunc, t input.Task) (isComplete bool) {
	var running sync.WaitGroup
	var hasFailed atomic.Bool
	start := func(s *job.Seat, run func(context.Context) error) {
		running.Go(func() {
			all.isRunning[s.Rank].Store(true)
			defer all.isRunning[s.Rank].Store(false)
			if err := s.Logged(ctx, run); err != nil {
				hasFailed.Store(true)
				cancel(err) // the first error stops the others and is the cause
			}
		})
	}
	for rank, w := range all.workers {
		w.Task = t
		start(&w.Seat, func(ctx context.Context) (err error) {
			all.results[rank], err = w.Run(ctx)
			return err
		})
	}
	for _, s := range all.servers {
		start(&s.Seat, s.Run)
	}
	running.Wait()
	return !hasFailed.Load()
}

// read returns the progress of a rank and whether it is running.
func (all *crew) read(rank int) (p cluster.Progress, isRunning bool) {
	isRunning = all.isRunning[rank].Load()
	return all.seats[rank].Beacon.Read(), isRunning
}

// dump writes the stacks of this process to the log of a worker that is stuck, and returns its path; "" if
// it cannot.
func (all *crew) dump(stuck *cluster.WorkerError) string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	path := job.LogOf(all.seats[0].Config, all.seats[0].Dir, stuck.Rank)
	log, err := job.OpenLog(path)
	if err != nil {
		return ""
	}
	_, err = fmt.Fprintf(log, "%v; the goroutines of its process:\n\n%s\n", stuck, stacks)
	if errors.Join(err, log.Close()) != nil {
		return ""
	}
	return path
}
