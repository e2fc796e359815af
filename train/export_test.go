package train

// Stack exposes the plan of gradient buffers to tests.
type Stack = stack

// NewStack plans shards [lo, hi) of a tree over shards.
func NewStack(lo, hi, shards int) Stack { return newStack(lo, hi, shards) }

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

// NumPieces and NumBuffers return the number of pieces that remain and the number of buffers
// needed.
func (s stack) NumPieces() int  { return s.pieces }
func (s stack) NumBuffers() int { return s.buffers }
