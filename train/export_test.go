package train

import "lockstep/shard"

// Stack exposes the plan of gradient buffers to tests.
type Stack = stack

// NewStack plans shards [lo, hi) of a tree over shards.
func NewStack(lo, hi, shards, abreast int) Stack { return newStack(lo, hi, shards, abreast) }

// Slot returns the buffer that shard number i of the run writes.
func (s stack) Slot(i int) int { return s.slots[i] }

// Folds returns the additions after shard number i as pairs {into, from}.
func (s stack) Folds(i int) [][2]int {
	var pairs [][2]int
	for _, f := range s.folds[i] {
		pairs = append(pairs, [2]int{f.Into, f.From})
	}
	return pairs
}

// Abreast returns how many shards are computed at a time.
func (s stack) Abreast() int { return s.abreast }

// NumPieces and NumBuffers return the number of pieces that remain and the number of buffers
// needed.
func (s stack) NumPieces() int  { return s.pieces }
func (s stack) NumBuffers() int { return s.buffers }

// MostBuffers bounds the buffers of any run of at most n of so many shards.
func MostBuffers(n, shards int) int { return mostBuffers(n, shards) }

// NumGradients returns how many buffers of gradients the loop has.
func (l *Loop) NumGradients() int { return len(l.gradients) }

// Force makes a balanced Updater use these plans.
func Force(u Updater, plan func(step int, now shard.Plan) shard.Plan) {
	u.(*balanced).decide = func(step int, now shard.Plan) (shard.Plan, *Move) {
		next := plan(step, now)
		return next, &Move{Step: step, From: now.Lengths(), To: next.Lengths()}
	}
}

// Balancer decides when shards move.
type Balancer struct{ *balancer }

// NewBalancer returns a Balancer that has observed nothing.
func NewBalancer(workers int) Balancer { return Balancer{newBalancer(workers)} }

// Observe notes a step of a worker.
func (b Balancer) Observe(rank int, s shard.Speed) { b.observe(rank, s) }

// Decide returns the plan of a step, and how shards move.
func (b Balancer) Decide(step int, p shard.Plan) (shard.Plan, *Move) { return b.decide(step, p) }

// Abreast returns how many shards the loop computes at a time.
func (l *Loop) Abreast() int { return l.stack.abreast }

// NotFinite returns the rank that is blamed if the loss of a shard of a plan is not finite.
func (l *Loop) NotFinite(p shard.Plan, shard int, loss float32) int {
	l.config.Plan = p
	rows := make(Rows, l.config.Plan.Shards()*l.rowLen)
	rows[shard*l.rowLen+rowLoss] = loss
	return l.notFinite(rows, 0, l.config.Plan.Shards())
}
