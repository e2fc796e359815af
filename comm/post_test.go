package comm_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/comm"
)

// recording is the mesh of rank 0 of two whose peer has sent all its data and reads everything.
type recording struct {
	said *bytes.Reader
}

func (m *recording) Rank() int { return 0 }
func (m *recording) Size() int { return 2 }

func (m *recording) Send(_ int, head, body []byte) (int, error) { return len(head) + len(body), nil }

func (m *recording) Recv(_ int, head, body []byte) (int, error) {
	n, _ := m.said.Read(head)
	if n == len(head) {
		k, _ := m.said.Read(body)
		n += k
	}
	if n == 0 && len(head)+len(body) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (m *recording) Wait([]comm.Direction, time.Duration) error {
	time.Sleep(time.Millisecond)
	return nil
}
func (m *recording) Wake()        {}
func (m *recording) Shutdown()    {}
func (m *recording) Close() error { return nil }

// FuzzPost receives arbitrary data as messages. A receiver gets its data or an error about the peer.
func FuzzPost(f *testing.F) {
	frame := append(comm.AppendFrame(nil, comm.Message, 0, 5, 8), "12345678"...)
	f.Add(frame)
	f.Add(append(frame, frame...))
	f.Add(frame[:35])
	f.Add(comm.AppendFrame(nil, comm.Message, 0, 5, 9))
	f.Add(comm.AppendFrame(nil, comm.Message, 0, 6, 8))
	f.Add(comm.AppendFrame(nil, comm.Message, 1, 5, 8))
	f.Add(comm.AppendFrame(nil, comm.Barrier, 0, 5, 8))
	f.Add(comm.AppendReport(nil, 0, 1))
	f.Add(comm.AppendReport(nil, 0, 7))
	f.Fuzz(func(t *testing.T, said []byte) {
		p := comm.NewPost(&recording{said: bytes.NewReader(said)}, comm.PostConfig{Timeout: time.Second / 8})
		defer p.Close()
		m, err := p.Receiver(comm.Letter{Peer: 1, Tag: 5, Buf: make([]byte, 8)})
		if err != nil {
			t.Fatal(err)
		}
		m.Start()
		err = m.Wait()
		var lost *comm.PeerError
		switch {
		case err == nil && len(said) < 40:
			t.Errorf("%q of %d bytes", m.Bytes(), len(said))
		case err != nil && (!errors.As(err, &lost) || lost.Op != comm.Message):
			t.Errorf("got %v, want a *comm.PeerError", err)
		}
	})
}

// A Letter that cannot be sent is refused before anything is.
func TestLettersThatAreRefused(t *testing.T) {
	p := comm.NewPost(comm.NewLocal(1)[0], comm.PostConfig{})
	defer p.Close()
	vector := []float32{1, 2}
	for _, c := range []struct {
		letters []comm.Letter // the last is refused; the others are receivers before it
		want    string
	}{
		{[]comm.Letter{{Peer: 1, Vector: vector}}, "peer 1 of 1 ranks"},
		{[]comm.Letter{{Tag: 1}}, "nothing to send"},
		{[]comm.Letter{{Tag: 2, Vector: vector, Buf: []byte{1}}}, "a vector and bytes"},
		{[]comm.Letter{{Tag: 3, Buf: []byte{1}}, {Tag: 3, Buf: []byte{1, 2}}},
			"receiver of 1 bytes, sender of 2"},
	} {
		last := len(c.letters) - 1
		for _, l := range c.letters[:last] {
			if _, err := p.Receiver(l); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.Sender(c.letters[last]); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if _, err := p.Sender(comm.Letter{Tag: 9, Vector: vector}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Sender(comm.Letter{Tag: 9, Vector: vector}); err == nil ||
		!strings.Contains(err.Error(), "is taken") {
		t.Errorf("a second sender of a tag: %v", err)
	}
}

// gated is a mesh that sends nothing before its gate is open.
type gated struct {
	comm.Mesh
	isOpen atomic.Bool
	tries  atomic.Int64 // to send
}

func (m *gated) Send(peer int, head, body []byte) (int, error) {
	m.tries.Add(1)
	if !m.isOpen.Load() {
		return 0, nil
	}
	return m.Mesh.Send(peer, head, body)
}

// Messages that wait for a link leave by priority, which may be another one for each start.
func TestPriorityOfAStart(t *testing.T) {
	meshes := comm.NewLocal(2)
	gate := &gated{Mesh: meshes[0]}
	from, to := comm.NewPost(gate, comm.PostConfig{}), comm.NewPost(meshes[1], comm.PostConfig{})
	defer from.Close()
	defer to.Close()
	const messages = 5
	arrived := make(chan *comm.Mail, messages)
	var out, in [messages]*comm.Mail
	for i := range out {
		var sendErr, receiveErr error
		out[i], sendErr = from.Sender(comm.Letter{Peer: 1, Tag: uint32(i), Buf: []byte{byte(i)}, Priority: i})
		in[i], receiveErr = to.Receiver(comm.Letter{Peer: 0, Tag: uint32(i), Buf: make([]byte, 1),
			Done: arrived})
		if err := errors.Join(sendErr, receiveErr); err != nil {
			t.Fatal(err)
		}
	}
	for _, priorities := range [][]int{{9, 1, 2, 3, 4}, {9, 4, 3, 2, 1}, {9, 2, 2, -1, 7}} {
		gate.isOpen.Store(false)
		for i, p := range priorities { // the first may have the link before the others wait
			in[i].Start()
			out[i].StartAs(p)
		}
		for tries := gate.tries.Load(); gate.tries.Load() < tries+2; runtime.Gosched() {
			gate.Wake() // by the second try, the post has read of all that have started
		}
		gate.isOpen.Store(true)
		gate.Wake()
		last := math.MaxInt
		for range priorities {
			m := <-arrived
			if p := priorities[m.Bytes()[0]]; m.Err() != nil || p > last {
				t.Errorf("%v: message of priority %d after %d (%v)", priorities, p, last, m.Err())
			} else {
				last = p
			}
		}
		for _, m := range out {
			if err := m.Wait(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
