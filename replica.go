package lockstep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"lockstep/app/job"
	"lockstep/app/job/input"
	"lockstep/app/job/launcher"
	"lockstep/app/job/worker"
	"lockstep/app/setting"
	"lockstep/comm"
	"lockstep/compute"
	"lockstep/data"
	"lockstep/model"
	"lockstep/train"
)

// Train trains one replica per worker in the calling process, over links in memory. With equal Shards the
// result does not depend on Workers and Threads. When ctx ends, Train stops between two steps, with a
// checkpoint if there are any, and returns the cause. If the loss is no longer finite, it returns a
// *train.DivergedError. While it runs, GOMAXPROCS is the number of compute threads and two more for each
// worker, but that a worker alone has no more than there are cores or it has threads.
func Train(ctx context.Context, c Config) (*Result, error) {
	s, network, err := c.setting()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &training{config: c, setting: s, network: network, cancel: cancel}
	r.end.changed.L = &r.end.mu
	defer context.AfterFunc(ctx, r.end.release)()
	if s.Out != "" {
		return r.inDirectory(ctx)
	}
	if err := r.bare(ctx); err != nil {
		return nil, err
	}
	return r.result, nil
}

// training is one call of Train.
type training struct {
	config  Config
	setting setting.Config
	network model.Network
	cancel  context.CancelCauseFunc
	end     end
	failed  error   // of a callback
	result  *Result // of the first worker
}

// task returns what is trained, which begins with b.
func (r *training) task(b input.Start) (input.Task, error) {
	c := r.config
	sets := data.Sets{Train: c.Train, Validation: c.Validation, Test: c.Test}
	t, err := input.Given(r.setting, r.network, sets, c.Task, b)
	t.Augment = c.Augment
	return t, err
}

// hears returns what hears of a rank, and what its loop asks for the end.
func (r *training) hears(rank int) (worker.Listener, func() bool) {
	s, c := r.setting, r.config
	if c.OnStep == nil && c.OnEvaluation == nil || !sharesSteps(s) {
		return &replica{of: r, rank: rank}, nil
	}
	asked := 0
	return &replica{of: r, rank: rank}, func() bool {
		asked++
		return r.end.isAt(asked, rank == 0)
	}
}

// sharesSteps reports whether all workers of a run make the same steps.
func sharesSteps(s setting.Config) bool { return !s.IsIsolated() && !s.IsAsync() && !s.Averages() }

// bare runs the workers without a run directory.
func (r *training) bare(ctx context.Context) error {
	s := r.setting
	if s.ISA == "" {
		s.ISA = compute.Best().String()
	}
	start, err := input.Open(s, func(string) {})
	if err != nil {
		return err
	}
	task, err := r.task(start)
	if err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(job.GoThreads(s)))
	var running sync.WaitGroup
	meshes := make([]comm.Mesh, 1)
	if s.Workers > 1 {
		meshes = comm.NewLocal(s.Workers)
	}
	for rank, mesh := range meshes {
		running.Go(func() {
			if mesh != nil {
				stop := context.AfterFunc(ctx, mesh.Shutdown) // ends waits for peers
				defer stop()
			}
			listener, isOver := r.hears(rank)
			err := worker.Bare(s, task, rank, mesh, isOver, func(l *train.Loop) error {
				done, err := l.Run(ctx, listener)
				if err != nil {
					return err
				}
				return listener.Ended(l, done)
			})
			if err != nil {
				r.cancel(err) // the first stops the others and is the cause
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// inDirectory runs the workers as the command line does.
func (r *training) inDirectory(ctx context.Context) (*Result, error) {
	_, err := launcher.Run(ctx, r.setting, launcher.Options{Stderr: r.config.Log, Task: r.task,
		Hears: r.hears})
	if missed := (*job.MissedError)(nil); errors.As(err, &missed) {
		err = nil // as the result shows
	}
	switch {
	case r.failed != nil:
		return nil, r.failed
	case err != nil:
		return nil, err
	case r.result == nil:
		return nil, fmt.Errorf("lockstep: the run in %s has ended; more Steps or Epochs make it go on",
			r.setting.Out)
	}
	return r.result, nil
}

// end is where a run ends because a callback says so. Loops ask at the same places, which each counts from 1:
// the first worker decides, and the others wait for it.
type end struct {
	mu       sync.Mutex
	changed  sync.Cond
	isWanted bool // the first worker decides so at its next place
	decided  int  // places
	at       int  // 0: none yet
	isFree   bool // nobody waits any more
}

// want makes the next place the end.
func (e *end) want() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.isWanted = true
}

// isAt reports whether the run ends at a place, which the first worker decides.
func (e *end) isAt(place int, isFirst bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if isFirst {
		e.decided = place
		if e.isWanted && e.at == 0 {
			e.at = place
		}
		e.changed.Broadcast()
	}
	for e.decided < place && !e.isFree {
		e.changed.Wait()
	}
	return e.at > 0 && place >= e.at
}

// release ends all waits, because the run fails.
func (e *end) release() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.isFree = true
	e.changed.Broadcast()
}

// replica is the program's side of one worker.
type replica struct {
	of     *training
	rank   int
	losses []float64
}

// Step implements train.Sink.
func (r *replica) Step(s train.Step) {
	if r.rank > 0 {
		return
	}
	r.losses = append(r.losses, s.Loss)
	if on := r.of.config.OnStep; on != nil {
		r.heed(on(s))
	}
}

// Evaluation implements train.Sink.
func (r *replica) Evaluation(e train.Evaluation) {
	if on := r.of.config.OnEvaluation; on != nil && r.rank == 0 {
		r.heed(on(e))
	}
}

// heed does what a callback of the first worker says.
func (r *replica) heed(err error) {
	s := r.of.setting
	if errors.Is(err, ErrStop) && !sharesSteps(s) {
		err = fmt.Errorf("lockstep: workers of strategy %s do not share their steps, so no callback can "+
			"stop them at one", s.Strategy)
	}
	switch {
	case err == nil:
	case errors.Is(err, ErrStop):
		r.of.end.want()
	case r.of.failed == nil:
		r.of.failed = err
		r.of.cancel(err)
	}
}

// Ended implements worker.Listener.
func (r *replica) Ended(l *train.Loop, done train.Result) error {
	if r.rank > 0 {
		return nil
	}
	if r.of.failed != nil {
		return r.of.failed
	}
	c := r.of.config
	result := &Result{Losses: r.losses, TestLoss: math.NaN(), TestAccuracy: math.NaN(),
		Best: done.Best, Steps: done.Steps, ParameterSHA256: done.ParameterSHA256, Variables: l.Variables(),
		seen: int64(done.Steps) * int64(r.of.setting.StepShards()), set: c.Train}
	if e := done.Test; e.Samples > 0 {
		result.TestLoss, result.TestMetrics = e.Loss, e.Metrics
		if c.Task.HasCorrect() {
			result.TestAccuracy = e.Accuracy()
		}
	}
	r.of.result = result
	if c.OnEnd == nil {
		return nil
	}
	if err := c.OnEnd(result); !errors.Is(err, ErrStop) {
		r.of.failed = err
	}
	return r.of.failed
}
