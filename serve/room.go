package serve

import (
	"context"
	"slices"
	"sync"
)

// Note: the memory of bodies
//
// A body takes its length, JSON a multiple while it is read, and pixels four times theirs until they are
// computed. So bodies share a room of so many bytes. Each enters with the length that its header says, or
// with the greatest where it says none, before a byte of it is read, and leaves when it has its answer. Who
// finds the room full waits, in order, with nothing of the body in memory.

// largestBodies is how many bodies of the greatest length there may be at a time.
const largestBodies = 8

// room is memory that bodies share. It is safe for concurrent use.
type room struct {
	mu    sync.Mutex
	left  int64
	queue []*entrant
}

// entrant waits for so many bytes.
type entrant struct {
	bytes int64
	isIn  chan struct{} // closed when they are its own
}

// enter waits until n bytes, at most those of the empty room, are the caller's, until leave; or it returns
// why ctx has ended.
func (r *room) enter(ctx context.Context, n int64) error {
	r.mu.Lock()
	if len(r.queue) == 0 && n <= r.left {
		r.left -= n
		r.mu.Unlock()
		return nil
	}
	e := &entrant{n, make(chan struct{})}
	r.queue = append(r.queue, e)
	r.mu.Unlock()
	select {
	case <-e.isIn:
		return nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := slices.Index(r.queue, e); at >= 0 {
		r.queue = slices.Delete(r.queue, at, at+1)
	} else {
		r.left += n // it was let in meanwhile
	}
	r.admit()
	return context.Cause(ctx)
}

// leave gives bytes back.
func (r *room) leave(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left += n
	r.admit()
}

// admit lets in whom there is room for, the first first.
func (r *room) admit() {
	for len(r.queue) > 0 && r.queue[0].bytes <= r.left {
		r.left -= r.queue[0].bytes
		close(r.queue[0].isIn)
		r.queue = slices.Delete(r.queue, 0, 1)
	}
}
