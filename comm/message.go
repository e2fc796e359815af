package comm

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Letter describes a message that is sent repeatedly from one rank to another.
type Letter struct {
	// Peer is the other rank. A message to the own rank never touches the mesh.
	Peer int
	// Tag identifies the message among all that go from one rank to the other.
	Tag uint32
	// Name says what is sent, such as "push 2 of 3", for error messages; it may be empty.
	Name string
	// Vector is sent, or filled. Alternatively Buf is. Both ends must give the same length, above
	// 0. A receiver without either, from the own rank, gets the sender's memory in place.
	Vector []float32
	Buf    []byte
	// Codec encodes Vector; nil means none. Both ends must give the same one. Unlike in an
	// all-reduce, a sender with a lossy codec keeps its exact values.
	Codec Codec
	// Priority orders the messages that wait for one link: the highest first, equals in the order
	// in which they started.
	Priority int
	// IsIndirect says that the peer can send the message only when others have sent theirs. Its
	// time-out is longer by a quarter, so that the peer finds out first who is late.
	IsIndirect bool
	// Done receives the Mail when the message was sent or received, or has failed. It must have
	// room for all that can be under way. Nil means that Wait is called instead.
	Done chan *Mail
}

// Mail is one end of a message, sender or receiver, that can be started repeatedly.
type Mail struct {
	post       *Post
	letter     Letter
	isOutgoing bool
	data       []byte
	done       chan *Mail
	twin       *Mail // the other end, if it is on this rank

	at atomic.Int64 // bytes of data in complete frames; only the thread that drives the links adds

	// Guarded by the post's lock.
	isStarted, isAwaited bool
	view                 []byte // what was received
	report               Report
	err                  error
}

// Sender returns the sending end of a message. Every tag has one sender to each peer.
func (p *Post) Sender(l Letter) (*Mail, error) { return p.register(l, true) }

// Receiver returns the receiving end of a message. A message that arrives before its receiver is
// started stays in the link, and holds up those behind it.
func (p *Post) Receiver(l Letter) (*Mail, error) { return p.register(l, false) }

func (p *Post) register(l Letter, isOutgoing bool) (*Mail, error) {
	m := &Mail{post: p, letter: l, isOutgoing: isOutgoing, data: l.Buf, done: l.Done}
	if l.Vector != nil {
		m.data = Bytes(l.Vector)
	}
	if m.done == nil {
		m.done = make(chan *Mail, 1)
	}
	if err := p.validate(l, isOutgoing); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := mailKey{l.Peer, l.Tag, isOutgoing}
	if p.mails[key] != nil {
		return nil, fmt.Errorf("comm: post: tag %#x of rank %d is taken", l.Tag, l.Peer)
	}
	p.mails[key] = m
	if l.Peer == p.Rank() {
		if m.twin = p.mails[mailKey{l.Peer, l.Tag, !isOutgoing}]; m.twin != nil {
			if err := m.matchTwin(); err != nil {
				delete(p.mails, key)
				return nil, err
			}
			m.twin.twin = m
		}
	}
	return m, nil
}

// validate returns an error if the message cannot be sent.
func (p *Post) validate(l Letter, isOutgoing bool) error {
	isInPlace := !isOutgoing && l.Peer == p.Rank()
	switch {
	case l.Peer < 0 || l.Peer >= p.Size():
		return fmt.Errorf("comm: post: peer %d of %d ranks", l.Peer, p.Size())
	case l.Vector != nil && l.Buf != nil:
		return fmt.Errorf("comm: post: tag %#x: a vector and bytes", l.Tag)
	case len(l.Vector)+len(l.Buf) == 0 && !isInPlace:
		return fmt.Errorf("comm: post: tag %#x: nothing to send", l.Tag)
	case l.Codec != nil && l.Buf != nil:
		return fmt.Errorf("comm: post: tag %#x: codec %q for bytes, want a vector", l.Tag, l.Codec.Name())
	case l.Codec != nil && l.Codec.MaxBytes(SegmentElems) > MaxFrame:
		return fmt.Errorf("comm: post: codec %q may need %d bytes for a segment, want at most %d",
			l.Codec.Name(), l.Codec.MaxBytes(SegmentElems), MaxFrame)
	}
	return nil
}

// matchTwin returns an error if the two ends of a message to the own rank do not fit.
func (m *Mail) matchTwin() error {
	in, out := m, m.twin
	if m.isOutgoing {
		in, out = m.twin, m
	}
	switch {
	case len(in.data) != 0 && len(in.data) != len(out.data):
		return fmt.Errorf("comm: post: tag %#x: receiver of %d bytes, sender of %d", m.letter.Tag,
			len(in.data), len(out.data))
	case len(in.data) == 0 && isLossy(out.letter.Codec):
		return fmt.Errorf("comm: post: tag %#x: codec %q changes the vector, which cannot be received in "+
			"place", m.letter.Tag, out.letter.Codec.Name())
	}
	return nil
}

func isLossy(c Codec) bool { return c != nil && c.Loss() != Lossless }

// StartAs is Start with another Letter.Priority, which stays.
func (m *Mail) StartAs(priority int) {
	m.letter.Priority = priority
	m.Start()
}

// Start begins to send or to receive. The data must not be touched until the message is done, and
// that of a sender whose receiver takes it in place until the receiver is done with it, which the
// ranks' protocol must ensure. It must not be called again before then.
func (m *Mail) Start() {
	p := m.post
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.isStarted {
		panic(fmt.Sprintf("comm: post: %v started twice", m.wait()))
	}
	m.isStarted = true
	m.at.Store(0)
	m.report = Report{Issued: time.Now()}
	c := &p.peers[m.letter.Peer]
	c.pending++
	switch {
	case p.err != nil || p.isClosed:
		p.finish(m, p.failure())
	case m.letter.Peer == p.Rank():
		m.startOwn()
	case m.isOutgoing:
		p.news = append(p.news, m)
		p.knock()
	case c.isEnded || c.isPaused && c.pausedTag == m.letter.Tag:
		p.knock()
	}
}

// startOwn delivers a message to the own rank once both ends have started. A copy is made by the
// thread that drives the links, like all others.
func (m *Mail) startOwn() {
	if m.twin == nil || !m.twin.isStarted {
		return
	}
	in, out := m, m.twin
	if m.isOutgoing {
		in, out = m.twin, m
	}
	if len(in.data) > 0 {
		m.post.news = append(m.post.news, out)
		m.post.knock()
		return
	}
	now := time.Now()
	in.report.Began, out.report.Began = now, now
	in.view = out.data
	m.post.finish(in, nil)
	m.post.finish(out, nil)
}

// Wait blocks until the message is done and returns its error. It is for a Mail without Done.
func (m *Mail) Wait() error {
	m.Await()
	<-m.done
	return m.err
}

// IsDone reports whether the message is done, so that what it brought can be read and Wait returns
// at once. It is for a Mail without Done that was started and not waited for.
func (m *Mail) IsDone() bool {
	m.post.mu.Lock() // under which messages end; the length of a channel orders no memory
	defer m.post.mu.Unlock()
	return len(m.done) > 0
}

// Await begins the time-out: from now on the peer is expected to move bytes until the message is
// done.
func (m *Mail) Await() {
	p := m.post
	p.mu.Lock()
	defer p.mu.Unlock()
	if !m.isStarted || m.isAwaited {
		return
	}
	m.isAwaited = true
	c, since := &p.peers[m.letter.Peer], time.Now()
	if m.letter.IsIndirect {
		since = since.Add(p.config.Timeout / 4)
	}
	if c.awaited++; c.awaited == 1 || since.Before(c.since) {
		c.since = since
	}
}

// Cancel stops a started receiver for which nothing has arrived, and reports whether it could. The
// Mail is then not sent to Done.
func (m *Mail) Cancel() bool {
	p := m.post
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &p.peers[m.letter.Peer]
	if m.isOutgoing || !m.isStarted || c.receiving == m {
		return false
	}
	p.settle(m)
	return true
}

// Peer returns the other rank.
func (m *Mail) Peer() int { return m.letter.Peer }

// Err returns the error of the last execution, after it is done.
func (m *Mail) Err() error { return m.err }

// Report returns the report of the last execution, after it is done. Messages to the own rank count
// no bytes.
func (m *Mail) Report() Report { return m.report }

// Vector returns what was received: the Letter's vector, or in place the sender's.
func (m *Mail) Vector() []float32 { return floats(m.view) }

// Bytes returns what was received, as bytes.
func (m *Mail) Bytes() []byte { return m.view }

// wait describes the message for errors.
func (m *Mail) wait() *Wait {
	w := &Wait{Peer: m.letter.Peer, Op: Message, Name: m.letter.Name, Bytes: int64(len(m.data))}
	if !m.isOutgoing {
		w.Received, w.Due = m.at.Load(), int64(len(m.data))
	}
	return w
}

// failure returns the error of every message after the post has failed or was closed.
func (p *Post) failure() error {
	if p.err != nil {
		return p.err
	}
	return ErrClosed
}
