package train

import (
	"fmt"

	"lockstep/optim"
	"lockstep/trace"
)

// ServerSync exchanges gradients for new weights with servers, which have the optimizer.
type ServerSync interface {
	Exchange
	// Load gives the servers the weights before the first step; steps are done.
	Load(steps int) error
	// Announce says, before Begin, what the servers must know of a step: its learning rate, and the
	// size of its batch over all workers.
	Announce(rate float64, samples int)
	// WaitRows blocks until all rows are filled.
	WaitRows() error
	// WaitWeights blocks until the new weights of param are in Loop.Variables, or all of them if
	// param is negative. Before that they do not change.
	WaitWeights(param int) error
}

// served is the Updater of workers whose weights are updated by servers.
type served struct {
	ServerSync
	fixed
	remote
}

// remote are the weights of a worker that servers update.
type remote struct {
	loop     *Loop
	servers  weightServers
	isLoaded bool
	isAway   bool // new weights are to come
}

// weightServers is what ServerSync and AsyncSync have in common.
type weightServers interface {
	Load(steps int) error
	WaitWeights(param int) error
}

// load gives the servers the weights once, before the first step, because they may change until then.
func (r *remote) load(step int) error {
	if r.isLoaded {
		return nil
	}
	if err := r.servers.Load(step); err != nil {
		return fmt.Errorf("weights to servers: %w", err)
	}
	r.isLoaded = true
	return nil
}

// IsSettled implements Updater.
func (r *remote) IsSettled() bool { return !r.isAway }

// Settle implements Updater.
func (r *remote) Settle(param int) error {
	if err := r.servers.WaitWeights(param); err != nil {
		return fmt.Errorf("exchange of weights: %w", err)
	}
	if param < 0 {
		r.isAway = false
		r.loop.lap(trace.SyncExposed, "weights")
	}
	return nil
}

// Optimizer returns nil: the servers have it.
func (r *remote) Optimizer() (optim.Optimizer, [][2]int) { return nil, nil }

// NewServed returns an Updater that leaves the update to servers. They support every optimizer and
// have its state. The weights have the same bits as with NewWhole. Lookahead is refused, because it
// changes weights that the servers have.
func NewServed(l *Loop, s ServerSync) (Updater, error) {
	c := l.config
	if err := c.checkExchange(); err != nil {
		return nil, err
	}
	if c.Lookahead.Every > 0 {
		return nil, fmt.Errorf("train: servers with lookahead every %d steps: want no lookahead",
			c.Lookahead.Every)
	}
	return &served{ServerSync: s, fixed: fixed{l}, remote: remote{loop: l, servers: s}}, nil
}

// Next returns the shards of the plan.
func (u *served) Next(step int) (Work, error) {
	if err := u.load(step); err != nil {
		return Work{}, err
	}
	return u.fixed.Next(step)
}

// Begin announces the update: the servers make it as soon as they can.
func (u *served) Begin(step int) {
	l := u.fixed.loop
	u.Announce(l.schedule.Rate(step), l.config.samplesOf(step))
	u.ServerSync.Begin(step)
}

func (u *served) Wait() (lo, hi int, err error) { return u.allRows(u.WaitRows()) }

// Update leaves the update to the servers, which may have made it already.
func (u *served) Update(Update) error {
	u.isAway = true
	return nil
}

// RowLen returns the number of elements of a shard's row, for networks with that many elements of
// running statistics.
func RowLen(states int) int { return rowHead + states }
