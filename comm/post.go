package comm

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// PostConfig configures a Post. It must be the same on all ranks.
type PostConfig struct {
	// Timeout is how long an awaited message may wait while no byte moves on its link. Zero means
	// one minute.
	Timeout time.Duration
	// Generation identifies the frames; those of another generation are refused.
	Generation uint32
	// MayLose reports whether this rank can go on without a peer. The loss of such a peer fails the
	// messages from and to it, and no others. Nil means that every peer is needed.
	MayLose func(peer int) bool
}

// Post sends messages between the ranks of a mesh, outside collectives.
//
// A message goes from one rank to another and is identified by its tag. Both ends are registered
// ahead, with their memory ([Post.Sender], [Post.Receiver]), and then started any number of times,
// which allocates nothing. One goroutine, locked to its thread, drives all links. Messages of one
// link travel one after another, in frames with the checks of the collectives' frames.
//
// After a *PeerError, which every message in progress returns, the post is unusable, unless
// PostConfig.MayLose says that the peer is not needed. It has then
// told the other ranks which one was lost, as a Group does. The end of a link is an error only if a
// message is expected from it or is to be sent. Methods are safe for concurrent use.
type Post struct {
	links
	config PostConfig
	moves  atomic.Uint64 // grows whenever bytes move
	isNew  atomic.Bool   // the thread has something to look at under the lock
	isShut atomic.Bool

	mu       sync.Mutex
	mails    map[mailKey]*Mail
	news     []*Mail // started, not seen by the thread
	peers    []correspondent
	counters Counters
	isClosed bool
	err      error
	verdict  *PeerError // of Lose

	taken  []*Mail // news, of the thread
	worker sync.WaitGroup
}

type mailKey struct {
	peer       int
	tag        uint32
	isOutgoing bool
}

// correspondent is the state of the messages from and to one peer.
type correspondent struct {
	// Of the thread.
	queue    []*Mail // started senders, the next first
	sending  *Mail
	moved    time.Time // when a byte was last seen to move
	hasMoved bool      // since moved
	tag      uint32    // of the header that arrived last

	// Guarded by the lock.
	receiving *Mail
	pending   int // started messages
	awaited   int // of which are awaited
	since     time.Time
	isPaused  bool // a header has arrived whose receiver has not started
	pausedTag uint32
	isEnded   bool
	ended     error
}

// NewPost returns the post of this rank and takes ownership of mesh. Close waits for its goroutine.
func NewPost(mesh Mesh, c PostConfig) *Post {
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	p := &Post{links: newLinks(mesh, c.Generation), config: c, mails: map[mailKey]*Mail{},
		peers: make([]correspondent, mesh.Size())}
	p.counters.Peers = make([][numOps]Count, mesh.Size())
	p.worker.Go(p.work)
	return p
}

// Rank returns this process's rank.
func (p *Post) Rank() int { return p.mesh.Rank() }

// Size returns the number of ranks.
func (p *Post) Size() int { return p.mesh.Size() }

// Alloc returns a vector of n zeros. If the mesh is an Allocator, peers read it in place, which
// saves one of two copies, and the memory is invalid after Close.
func (p *Post) Alloc(n int) []float32 { return Alloc(p.mesh, n) }

// Counters returns a snapshot of the traffic of all finished messages, as operation Message.
func (p *Post) Counters() Counters {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counters
	c.Peers = slices.Clone(c.Peers)
	return c
}

// Standing returns the post's progress: of the awaited messages, the one that waits for the peer
// that was awaited first.
func (p *Post) Standing() Standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Standing{Moves: p.moves.Load()}
	var first time.Time
	for _, m := range p.mails {
		if since := p.peers[m.letter.Peer].since; m.isAwaited && (s.Wait == nil || since.Before(first)) {
			s.Wait, first = m.wait(), since
		}
	}
	return s
}

// Close shuts down the links, waits for the post's goroutine and closes the mesh. Messages in
// progress fail with ErrClosed on this rank.
func (p *Post) Close() error {
	p.mu.Lock()
	isFirst := !p.isClosed
	p.isClosed = true
	p.mu.Unlock()
	if !isFirst {
		return nil
	}
	p.Shutdown()
	p.worker.Wait()
	return p.mesh.Close()
}

// Shutdown makes all messages fail with ErrClosed, as when the run is cancelled. It may be called
// concurrently and repeatedly, before Close.
func (p *Post) Shutdown() {
	p.isShut.Store(true)
	p.mesh.Shutdown()
	p.knock()
}

// Lose declares a rank lost for a cause that only the caller knows: all messages fail, and the other
// ranks are told. It returns the error.
func (p *Post) Lose(rank int, cause error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.verdict == nil {
		p.verdict = &PeerError{Rank: rank, Op: Message, Err: verdict{cause}}
	}
	p.knock()
	return p.verdict
}

// knock makes the thread look under the lock.
func (p *Post) knock() {
	p.isNew.Store(true)
	p.mesh.Wake()
}

// settle takes a message out of the state of its peer.
func (p *Post) settle(m *Mail) {
	c := &p.peers[m.letter.Peer]
	c.pending--
	if m.isAwaited {
		c.awaited--
	}
	m.isStarted, m.isAwaited = false, false
}

// finish ends a message.
func (p *Post) finish(m *Mail, err error) {
	p.settle(m)
	m.err = err
	m.report.Ended = time.Now()
	m.done <- m
}

// work drives the links until Close or a failure.
func (p *Post) work() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	shortenSlice()
	err := p.drive()
	if lost, ok := err.(*PeerError); ok {
		err = p.fail(lost, p.lost)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
	for _, m := range p.mails {
		if m.isStarted {
			p.finish(m, err)
		}
	}
}

// drive moves bytes until an error, which is ErrClosed or a *PeerError.
func (p *Post) drive() error {
	for {
		if p.isNew.Swap(false) {
			if err := p.read(); err != nil {
				return err
			}
		}
		moved := false
		for peer := range p.peers {
			if peer == p.Rank() {
				continue
			}
			isMoved, err := p.move(peer)
			if err != nil && !p.goOnWithout(peer, err) {
				return p.lost(peer, Message, err)
			}
			moved = moved || isMoved
		}
		if moved {
			p.moves.Add(1)
			continue
		}
		if p.isNew.Load() {
			continue
		}
		left, late := p.patience()
		if late >= 0 {
			if p.goOnWithout(late, ErrTimeout) {
				continue
			}
			return p.lost(late, Message, ErrTimeout)
		}
		if err := p.mesh.Wait(p.want, left); err != nil {
			if errors.Is(err, ErrClosed) {
				return ErrClosed
			}
			return p.lost(p.Rank(), Message, err)
		}
	}
}

// read takes the news: messages that have started, and links that have ended.
func (p *Post) read() error {
	p.mu.Lock()
	p.taken, p.news = p.news, p.taken[:0]
	var err error
	switch {
	case p.verdict != nil:
		err = p.verdict
	case p.isShut.Load():
		err = ErrClosed
	}
	for peer := range p.peers {
		c := &p.peers[peer]
		switch {
		case !c.isEnded || c.pending == 0 || err != nil:
		case p.mayLose(peer):
			p.bury(peer)
		default:
			err = p.lostLocked(peer, c.ended)
		}
	}
	p.mu.Unlock()
	if err != nil {
		return err
	}
	for _, m := range p.taken {
		if m.letter.Peer == p.Rank() {
			p.deliverOwn(m)
		} else {
			p.peers[m.letter.Peer].enqueue(m)
		}
	}
	return nil
}

// mayLose reports whether this rank can go on without a peer.
func (p *Post) mayLose(peer int) bool { return p.config.MayLose != nil && p.config.MayLose(peer) }

// goOnWithout ends the link of a lost peer, unless the peer is needed.
func (p *Post) goOnWithout(peer int, err error) bool {
	if errors.Is(err, ErrClosed) || !p.mayLose(peer) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &p.peers[peer]
	c.isEnded, c.ended = true, err
	c.queue, c.sending, c.receiving = nil, nil, nil
	p.want[peer] = 0
	p.bury(peer)
	return true
}

// bury fails all messages from and to a peer whose link has ended. It is called under the lock.
func (p *Post) bury(peer int) {
	err := p.lostLocked(peer, p.peers[peer].ended)
	for _, m := range p.mails {
		if m.letter.Peer == peer && m.isStarted {
			p.finish(m, err)
		}
	}
}

// enqueue adds a started sender behind those of at least its priority.
func (c *correspondent) enqueue(m *Mail) {
	at := len(c.queue)
	for at > 0 && c.queue[at-1].letter.Priority < m.letter.Priority {
		at--
	}
	c.queue = slices.Insert(c.queue, at, m)
}

// patience returns how long the thread may sleep, and the peer whose time is over, or -1.
func (p *Post) patience() (left time.Duration, late int) {
	now := time.Now()
	left = p.config.Timeout / 8 // an Await does not wake the thread
	p.mu.Lock()
	defer p.mu.Unlock()
	for peer := range p.peers {
		c := &p.peers[peer]
		if c.hasMoved {
			c.moved, c.hasMoved = now, false
		}
		if c.awaited == 0 || peer == p.Rank() {
			continue
		}
		from := c.since
		if c.moved.After(from) {
			from = c.moved
		}
		rest := p.config.Timeout - now.Sub(from)
		if rest <= 0 {
			return 0, peer
		}
		left = min(left, rest)
	}
	return left, -1
}

// lost returns the error of all messages after the loss of a peer.
func (p *Post) lost(peer int, op Op, err error) *PeerError {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lostLocked(peer, err)
}

func (p *Post) lostLocked(peer int, err error) *PeerError {
	e := &PeerError{Rank: peer, Op: Message, Err: err}
	var found *Mail
	for _, m := range p.mails {
		if m.letter.Peer == peer && m.isStarted && m.comesBefore(found) {
			found = m
		}
	}
	if found != nil {
		e.Wait = found.wait()
	}
	return e
}

// comesBefore orders messages in progress by how well they explain a loss: awaited ones, then
// receivers, then by tag.
func (m *Mail) comesBefore(o *Mail) bool {
	switch {
	case o == nil:
		return true
	case m.isAwaited != o.isAwaited:
		return m.isAwaited
	case m.isOutgoing != o.isOutgoing:
		return o.isOutgoing
	}
	return m.letter.Tag < o.letter.Tag
}
