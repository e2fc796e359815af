package comm

import (
	"errors"
	"hash/crc32"
	"time"
)

// move moves what it can between this rank and peer without blocking, and sets p.want.
func (p *Post) move(peer int) (moved bool, err error) {
	c := &p.peers[peer]
	p.want[peer] = 0
	if c.isEnded { // only this thread sets it
		return false, nil
	}
	moved, err = p.push(peer)
	if err == nil {
		var isMoved bool
		isMoved, err = p.pull(peer)
		moved = moved || isMoved
	}
	if err != nil && p.isQuiet(peer, err) {
		return moved, nil
	}
	c.hasMoved = c.hasMoved || moved
	if c.sending != nil {
		p.want[peer] |= Sending
	}
	if !c.isPaused {
		p.want[peer] |= Receiving
	}
	return moved, err
}

// isQuiet notes the end of a link between two frames and reports whether nothing was expected.
func (p *Post) isQuiet(peer int, err error) bool {
	var frame *FrameError
	var body *BodyError
	var report *abort
	c := &p.peers[peer]
	if errors.Is(err, ErrClosed) || errors.As(err, &frame) || errors.As(err, &body) ||
		errors.As(err, &report) || p.in[peer].moved > 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.pending > 0 {
		return false
	}
	c.isEnded, c.ended = true, err
	return true
}

// push sends to peer until nothing is left or the link is full.
func (p *Post) push(peer int) (moved bool, err error) {
	c, l := &p.peers[peer], &p.out[peer]
	for {
		if c.sending == nil {
			if len(c.queue) == 0 {
				return moved, nil
			}
			c.sending = c.queue[0]
			c.queue = c.queue[:copy(c.queue, c.queue[1:])]
			c.sending.report.Began = time.Now()
		}
		m := c.sending
		if l.moved == 0 {
			l.body = p.outgoing(m)
			h := header{kind: uint8(Message), generation: p.generation, sequence: m.letter.Tag,
				frame: l.frame, length: uint64(len(l.body))}
			if p.isChecked[peer] {
				h.sum = crc32.Checksum(l.body, p.table)
			}
			h.put(l.head[:], p.table)
		}
		head, body := l.rest()
		n, err := p.mesh.Send(peer, head, body)
		if n == 0 || err != nil {
			return moved, err
		}
		moved = true
		if l.advance(n) {
			part := len(p.part(m))
			p.counts[peer].Sent += int64(len(l.body))
			p.counts[peer].Vector += int64(part)
			p.counts[peer].Frames++
			m.report.Sent += int64(len(l.body))
			m.report.Vector += int64(part)
			if m.at.Add(int64(part)) == int64(len(m.data)) {
				c.sending = nil
				p.complete(m)
			}
		}
	}
}

// part returns the next part of a message, which travels in one frame. A codec encodes the same
// parts on every link, so that its bits do not depend on the link.
func (p *Post) part(m *Mail) []byte {
	most := MaxFrame
	switch {
	case m.letter.Codec != nil:
		most = 4 * SegmentElems
	case p.isChecked[m.letter.Peer]:
		most = maxChecked
	}
	at := int(m.at.Load())
	return m.data[at:min(at+most, len(m.data))]
}

// outgoing returns the body of the next frame of a message.
func (p *Post) outgoing(m *Mail) []byte {
	part := p.part(m)
	if m.letter.Codec == nil {
		return part
	}
	began := time.Now()
	body := grow(&p.out[m.letter.Peer].encoded, m.letter.Codec.MaxBytes(len(part)/4))
	body = body[:m.letter.Codec.Encode(body, floats(part))]
	m.report.Coded += time.Since(began)
	return body
}

// grow returns n bytes of *b, which it makes longer if necessary.
func grow(b *[]byte, n int) []byte {
	if n > len(*b) {
		*b = make([]byte, n)
	}
	return (*b)[:n]
}

// pull receives from peer until nothing more has arrived.
func (p *Post) pull(peer int) (moved bool, err error) {
	l := &p.in[peer]
	for {
		if l.withheld > 0 {
			if isOpen, err := p.open(peer); !isOpen || err != nil {
				return moved, err
			}
		}
		if l.moved == 0 {
			l.body = nil // until the header says whose it is
		}
		head, body := l.rest()
		n, err := p.mesh.Recv(peer, head, body)
		if n == 0 || err != nil {
			return moved, err
		}
		moved = true
		if before := l.moved; before < headBytes {
			l.moved += n
			if l.moved == headBytes {
				if err := p.inspect(peer); err != nil {
					return moved, err
				}
			}
			continue
		}
		if p.isChecked[peer] {
			l.add(n, p.table)
		}
		if l.advance(n) {
			if err := p.accept(peer); err != nil {
				return moved, err
			}
		}
	}
}

// inspect checks a header that is complete, and withholds the body until its receiver has started.
func (p *Post) inspect(peer int) error {
	l, c := &p.in[peer], &p.peers[peer]
	got, err := parse(l.head[:], p.table)
	if err != nil {
		return err
	}
	want := header{kind: uint8(Message), generation: p.generation, sequence: got.sequence,
		frame: l.frame, length: max(1, got.length)}
	if c.receiving != nil {
		want.sequence = c.receiving.letter.Tag
	}
	if err := got.check(want); err != nil {
		return err
	}
	if got.kind == abortFrame {
		// Lose may declare a rank lost that is alive: it learns so, and tells the others the same.
		if err := p.checkReport(got); err != nil && int64(got.lost) != int64(p.Rank()) {
			return err
		}
		return got.abort()
	}
	l.wantSum, l.withheld, c.tag = got.sum, int(got.length), got.sequence
	return nil
}

// open gives a withheld body its memory and reports whether it could: a receiver that has not
// started has none.
func (p *Post) open(peer int) (isOpen bool, err error) {
	l, c := &p.in[peer], &p.peers[peer]
	p.mu.Lock()
	m := c.receiving
	if m == nil {
		m = p.mails[mailKey{peer, c.tag, false}]
		c.isPaused = m == nil || !m.isStarted
		if c.isPaused {
			c.pausedTag = c.tag
			p.mu.Unlock()
			return false, nil
		}
		c.receiving = m
		m.report.Began = time.Now()
	}
	p.mu.Unlock()
	length := l.withheld
	l.withheld = 0
	l.body, err = p.incoming(m, length)
	return true, err
}

// incoming returns the memory for a body of a length that the header of the next frame announces.
func (p *Post) incoming(m *Mail, length int) ([]byte, error) {
	part, codec := p.part(m), m.letter.Codec
	if codec == nil {
		return part, fitFrame(length, len(part))
	}
	most := codec.MaxBytes(len(part) / 4)
	body := grow(&p.in[m.letter.Peer].encoded, most)
	if codec.IsFixed() || length > most {
		return body, fitFrame(length, most)
	}
	return body[:length], nil
}

// fitFrame returns an error unless a body has the length that is due.
func fitFrame(length, want int) error {
	if length != want {
		return &FrameError{"length", uint64(length), uint64(want)}
	}
	return nil
}

// accept takes a complete frame of a message.
func (p *Post) accept(peer int) error {
	l, c := &p.in[peer], &p.peers[peer]
	m := c.receiving
	p.counts[peer].Received += int64(len(l.body))
	m.report.Received += int64(len(l.body))
	if err := l.verify(p.isChecked[peer]); err != nil {
		return err
	}
	part := p.part(m)
	if codec := m.letter.Codec; codec != nil {
		began := time.Now()
		if err := codec.Decode(floats(part), l.body); err != nil {
			return &BodyError{Codec: codec.Name(), Bytes: len(l.body), Err: err}
		}
		m.report.Coded += time.Since(began)
	}
	if m.at.Add(int64(len(part))) == int64(len(m.data)) {
		p.complete(m)
	}
	return nil
}

// complete ends a message that was sent or received.
func (p *Post) complete(m *Mail) {
	peer := m.letter.Peer
	p.mu.Lock()
	defer p.mu.Unlock()
	if !m.isOutgoing {
		p.peers[peer].receiving = nil
		m.view = m.data
	}
	p.finish(m, nil)
	add := &p.counts[peer]
	add.Time = m.report.Ended.Sub(m.report.Began)
	p.counters.Peers[peer][Message].Add(*add)
	p.counters.Calls[Message]++
	*add = Count{}
}

// deliverOwn copies a message to the own rank, through the codec if that changes it.
func (p *Post) deliverOwn(out *Mail) {
	in, codec := out.twin, out.letter.Codec
	began := time.Now()
	var err error
	if isLossy(codec) {
		err = p.roundOwn(in, out, codec)
	} else {
		copy(in.data, out.data)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	in.report.Began, out.report.Began, in.view = began, began, in.data
	p.finish(in, err)
	p.finish(out, err)
}

// roundOwn passes a message to the own rank through a lossy codec, in the parts of every link.
func (p *Post) roundOwn(in, out *Mail, codec Codec) error {
	for out.at.Load() < int64(len(out.data)) {
		from, to := p.part(out), p.part(in)
		body := grow(&p.out[p.Rank()].encoded, codec.MaxBytes(len(from)/4))
		if err := codec.Decode(floats(to), body[:codec.Encode(body, floats(from))]); err != nil {
			return &BodyError{Codec: codec.Name(), Bytes: len(body), Err: err}
		}
		n := int64(len(from))
		out.at.Add(n)
		in.at.Add(n)
	}
	return nil
}
