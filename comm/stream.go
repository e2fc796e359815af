package comm

import (
	"hash/crc32"
	"slices"
	"time"
)

// stream is the state of one direction of one link in the current step.
type stream struct {
	transfers []Transfer
	next      int // the current transfer
	head      [headBytes]byte
	body      []byte
	encoded   []byte // memory for encoded bodies
	moved     int    // bytes of the current frame, including its header
	frame     uint16 // number of the current frame in the collective
	sum       uint32 // of the body received so far, on a checked link
	wantSum   uint32 // the checksum in the header
	withheld  int    // length of a body that has no memory yet
}

func (l *stream) reset() {
	l.transfers, l.next, l.moved, l.sum = l.transfers[:0], 0, 0, 0
}

func (l *stream) isDone() bool { return l.next == len(l.transfers) }

// rest returns what is left of the current frame.
func (l *stream) rest() (head, body []byte) {
	if l.moved < headBytes {
		return l.head[l.moved:], l.body
	}
	return nil, l.body[l.moved-headBytes:]
}

// advance counts n bytes as moved and reports whether the frame is complete.
func (l *stream) advance(n int) bool {
	l.moved += n
	if l.moved < headBytes+len(l.body) {
		return false
	}
	l.moved = 0
	l.next++
	l.frame++
	return true
}

// add updates the checksum with the part of the body among the n bytes just received. It must be
// called before advance.
func (l *stream) add(n int, table *crc32.Table) {
	if end := l.moved + n - headBytes; end > 0 {
		l.sum = crc32.Update(l.sum, table, l.body[max(0, l.moved-headBytes):end])
	}
}

// verify compares the checksum of a complete body with that in its header.
func (l *stream) verify(isChecked bool) error {
	got := l.sum
	l.sum = 0
	if isChecked && got != l.wantSum {
		return &BodyError{Bytes: len(l.body), Err: &ChecksumError{got, l.wantSum}}
	}
	return nil
}

// drive moves what it can without blocking between this rank and peer, and sets x.want. It returns
// the number of directions still pending and whether anything moved.
func (x *executor) drive(p *planned, peer int, want header, begin time.Time) (
	pending int, moved bool, err error) {
	x.want[peer] = 0
	out, in := &x.out[peer], &x.in[peer]
	if out.isDone() && in.isDone() {
		return 0, false, nil
	}
	if !out.isDone() {
		if moved, err = x.push(p, peer, want); err != nil {
			return 0, moved, err
		}
	}
	if !in.isDone() {
		isMoved, err := x.pull(p, peer, want)
		if err != nil {
			return 0, moved, err
		}
		moved = moved || isMoved
	}
	if !out.isDone() {
		x.want[peer] |= Sending
		pending++
	}
	if !in.isDone() {
		x.want[peer] |= Receiving
		pending++
	}
	if pending == 0 {
		x.counts[peer].Time += time.Since(begin)
	}
	return pending, moved, nil
}

// push sends to peer until its stream is done or the link is full.
func (x *executor) push(p *planned, peer int, want header) (moved bool, err error) {
	l := &x.out[peer]
	for !l.isDone() {
		t := l.transfers[l.next]
		if l.moved == 0 {
			l.body = x.outgoing(p, t)
			want.frame, want.length = l.frame, uint64(len(l.body))
			if x.isChecked[peer] {
				want.sum = crc32.Checksum(l.body, x.table)
			}
			want.put(l.head[:], x.table)
		}
		head, body := l.rest()
		n, err := x.mesh.Send(peer, head, body)
		if err != nil {
			return moved, err
		}
		if n == 0 {
			return moved, nil
		}
		moved = true
		if l.advance(n) {
			x.counts[peer].Sent += int64(len(l.body))
			x.counts[peer].Vector += int64(t.Len() * p.unit)
			x.counts[peer].Frames++
		}
	}
	return moved, nil
}

// pull receives from peer until its stream is done or no data is available.
func (x *executor) pull(p *planned, peer int, want header) (moved bool, err error) {
	l := &x.in[peer]
	for !l.isDone() {
		t := l.transfers[l.next]
		if l.moved == 0 {
			l.body = x.incoming(p, l, t)
		}
		head, body := l.rest()
		n, err := x.mesh.Recv(peer, head, body)
		if err != nil {
			return moved, err
		}
		if n == 0 {
			return moved, nil
		}
		moved = true
		x.come(peer)
		if before := l.moved; before < headBytes && before+n >= headBytes {
			if err := x.inspect(p, l, want); err != nil {
				return moved, keep(err, l.body[:before+n-headBytes])
			}
		}
		if x.isChecked[peer] {
			l.add(n, x.table)
		}
		if l.advance(n) {
			x.counts[peer].Received += int64(len(l.body))
			if err := l.verify(x.isChecked[peer]); err != nil {
				return moved, err
			}
			if err := x.decode(p, l, t); err != nil {
				return moved, err
			}
		}
	}
	return moved, nil
}

// inspect checks a header that is complete.
func (x *executor) inspect(p *planned, l *stream, want header) error {
	got, err := parse(l.head[:], x.table)
	if err != nil {
		return err
	}
	want.frame, want.length = l.frame, x.announce(p, l, got.length)
	if err := got.check(want); err != nil {
		if got.generation != want.generation {
			return err
		}
		return &MismatchError{Err: err, length: int(got.length)}
	}
	if got.kind == abortFrame {
		if err := x.checkReport(got); err != nil {
			return err
		}
		return got.abort()
	}
	l.wantSum = got.sum
	return nil
}

// keep keeps in the error about a frame what was received after its header, for the farewell.
func keep(err error, beyond []byte) error {
	switch e := err.(type) {
	case *abort:
		e.beyond = slices.Clone(beyond)
	case *MismatchError:
		e.beyond = slices.Clone(beyond)
	}
	return err
}

// blocking returns the peer that the step waits for: one that still owes bytes, else one that does
// not accept any.
func (x *executor) blocking() int {
	for _, way := range []Direction{Receiving, Sending} {
		for peer, want := range x.want {
			if want&way != 0 {
				return peer
			}
		}
	}
	return x.mesh.Rank()
}
