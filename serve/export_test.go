package serve

import "context"

// Room is memory that bodies share.
type Room struct{ room }

// NewRoom returns one of so many bytes.
func NewRoom(bytes int64) *Room { return &Room{room{left: bytes}} }

// Enter waits for n bytes.
func (r *Room) Enter(ctx context.Context, n int64) error { return r.enter(ctx, n) }

// Leave gives them back.
func (r *Room) Leave(n int64) { r.leave(n) }

// Waiting returns how many wait.
func (r *Room) Waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.queue)
}
