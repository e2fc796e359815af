//go:build !cuda || !linux || !amd64

package gpu

import "lockstep/graph"

// Executor stands for the executor of a binary that was built for GPUs.
type Executor struct{ graph.Executor }

// Open returns an error of c, or ErrNotBuilt.
func Open(c Config) (*Executor, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	return nil, ErrNotBuilt
}

// Count returns 0.
func Count() int { return 0 }

// Close does nothing.
func (e *Executor) Close() {}

// Err returns nil.
func (e *Executor) Err() error { return nil }

// Peak returns 0.
func (e *Executor) Peak() float64 { return 0 }

// MemoryInUse returns 0.
func (e *Executor) MemoryInUse() int64 { return 0 }

// Info returns what is known of no GPU.
func (e *Executor) Info() Info { return Info{} }
