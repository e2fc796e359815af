package simulate

import (
	"fmt"
	"slices"

	"lockstep/ps"
)

// warmSteps is how many steps a run takes until it is steady: those of trialSteps, and two more.
const warmSteps = trialSteps + 2

// Steps simulates a run and returns n steps of it, after the first ones that are unlike the others. A nil
// draw is no noise. With averages the first step that is returned is the first of a round, so n should be a
// multiple of Averages.Every. It returns an error if the job is inconsistent or n is not positive.
func Steps(j Job, n int, draw Draw) ([]Step, error) {
	if err := j.complete(); err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	if n < 1 {
		return nil, fmt.Errorf("simulate: %d steps, want 1 or more", n)
	}
	w := newWorld(&j, draw)
	warm := warmSteps
	switch {
	case j.isAveraging():
		warm = 0
		if j.Averages.Overlap > 0 {
			warm = j.Averages.Every
		}
	case j.Strategy == "ps-async":
		return w.asynchronous(n)
	case !j.OverlapForward:
		warm = 2
	}
	c := w.newCourse(warm + n)
	work := (*worker).alone
	var servers *service
	switch j.Strategy {
	case "none", "single":
	case "local-sgd", "diloco":
		work = (*worker).average
	case "ps":
		layout, err := w.layout(c)
		if err != nil {
			return nil, fmt.Errorf("simulate: %w", err)
		}
		servers = w.found(c, layout)
		work = func(w *worker) { w.serve(servers) }
	default:
		work = (*worker).exchange
	}
	var workers []*worker
	for rank := range j.Workers {
		workers = append(workers, w.hire(c, rank, work))
	}
	if servers != nil {
		servers.workers = workers
	}
	w.play()
	for _, worker := range workers {
		worker.stop()
	}
	return w.results(workers, warm, n)
}

// Mean returns the mean of n steps of a run or, with averages, of as many whole rounds as hold n: all but the
// last steps of a round exchange nothing. It returns the errors of Steps.
func Mean(j Job, n int, draw Draw) (mean Step, err error) {
	if every := j.Averages.Every; j.isAveraging() && every > 1 {
		n = (n + every - 1) / every * every
	}
	steps, err := Steps(j, n, draw)
	for _, s := range steps {
		each := 1 / float64(n)
		mean.Seconds, mean.Update = mean.Seconds+each*s.Seconds, mean.Update+each*s.Update
		mean.Compute, mean.Waiting = mean.Compute+each*s.Compute, mean.Waiting+each*s.Waiting
		mean.Exposed, mean.Bytes = mean.Exposed+each*s.Exposed, s.Bytes
	}
	return mean, err
}

// isAveraging reports whether workers update weights of their own and average them.
func (j *Job) isAveraging() bool { return j.Strategy == "local-sgd" || j.Strategy == "diloco" }

// results returns the means of the workers' steps from number warm on.
func (w *world) results(workers []*worker, warm, n int) ([]Step, error) {
	steps := make([]Step, n)
	p := float64(len(workers))
	for i := range steps {
		s, longest := &steps[i], 0.0
		for _, worker := range workers {
			if len(worker.steps) <= warm+i {
				return nil, fmt.Errorf("simulate: worker %d waits forever in step %d", worker.rank,
					len(worker.steps))
			}
			spent := worker.steps[warm+i]
			s.Seconds += spent.total / p
			s.Compute += spent.computing / p
			s.Update += spent.updating / p
			s.Exposed += spent.blocked / p
			longest = max(longest, spent.computing)
		}
		s.Waiting = max(0, min(s.Exposed, longest-s.Compute))
		s.Exposed -= s.Waiting
		s.Bytes = slices.Max(w.carried) / float64(warm+n)
	}
	return steps, nil
}

// asynchronous simulates n updates of "ps-async".
func (w *world) asynchronous(n int) ([]Step, error) {
	p := len(w.Workers)
	warm := 3 * p
	total := warm + n + p
	c := w.newCourse(0)
	layout, err := w.layout(c)
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	s := w.found(c, layout)
	s.ledger, err = ps.NewLedger(ps.LedgerConfig{Workers: p, PerEpoch: total, To: total,
		Staleness: w.Servers.Staleness})
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	for rank := range p {
		s.workers = append(s.workers, w.hire(c, rank, func(w *worker) { w.borrow(s) }))
	}
	w.play()
	for _, worker := range s.workers {
		worker.stop()
	}
	if len(s.applied) < total {
		return nil, fmt.Errorf("simulate: %d of %d updates", len(s.applied), total)
	}
	var all spent
	for _, worker := range s.workers {
		for _, one := range worker.steps {
			all.total += one.total
			all.computing += one.computing
		}
	}
	steps := make([]Step, n)
	for i := range steps {
		at := &steps[i]
		at.Seconds = (s.applied[warm+i] - s.applied[warm+i-p]) / float64(p)
		at.Compute = at.Seconds * all.computing / all.total
		at.Exposed = at.Seconds - at.Compute
		at.Bytes = slices.Max(w.carried) / float64(total)
	}
	return steps, nil
}
