package commtest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"lockstep/comm"
)

// posts runs f on every rank of size posts, each on its own goroutine, and returns their errors.
// Every rank closes its post once its f has returned; ranks whose f succeeds leave together.
func posts(t testing.TB, connect Connect, size int, c comm.PostConfig,
	f func(p *comm.Post) error) []error {
	t.Helper()
	if c.Timeout == 0 {
		c.Timeout = 20 * time.Second
	}
	meshes := connect(t, size)
	errs := make([]error, size)
	var all, leaving sync.WaitGroup
	leaving.Add(size)
	for r, mesh := range meshes {
		all.Go(func() {
			p := comm.NewPost(mesh, c)
			defer p.Close()
			errs[r] = f(p)
			leaving.Done()
			if errs[r] == nil {
				leaving.Wait()
			}
		})
	}
	all.Wait()
	return errs
}

func noErrors(t *testing.T, errs []error) {
	t.Helper()
	for r, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// value is element i of a message in one round.
func value(from, to, size, round, i int) float32 {
	return float32((from*31+to*17+size*7+round*5+i)%8191) + 0.5
}

// messageSizes are the lengths of vectors of the tests: some need several frames, or more than a link
// can buffer.
var messageSizes = []int{1, 7, 1009, 300_001}

// testMessages sends messages of all sizes between all ranks, the own included, three times. The
// receivers of odd rounds start after a message has probably arrived.
func testMessages(t *testing.T, connect Connect) {
	for _, size := range []int{1, 2, 4} {
		noErrors(t, posts(t, connect, size, comm.PostConfig{}, sendAll))
	}
}

func sendAll(p *comm.Post) error {
	var out, in []*comm.Mail
	var vectors [][]float32
	for peer := range p.Size() {
		for tag, n := range messageSizes {
			sent := p.Alloc(n)
			sender, err := p.Sender(comm.Letter{Peer: peer, Tag: uint32(tag), Vector: sent})
			if err != nil {
				return err
			}
			receiver, err := p.Receiver(comm.Letter{Peer: peer, Tag: uint32(tag),
				Vector: make([]float32, n)})
			if err != nil {
				return err
			}
			out, in, vectors = append(out, sender), append(in, receiver), append(vectors, sent)
		}
	}
	for round := range 3 {
		for i := range in {
			for j := range vectors[i] {
				vectors[i][j] = value(p.Rank(), i/len(messageSizes), len(vectors[i]), round, j)
			}
			if round%2 == 0 {
				in[i].Start()
			}
			out[i].Start()
		}
		if round%2 == 1 {
			time.Sleep(2 * time.Millisecond)
			for i := range in {
				in[i].Start()
			}
		}
		for i := range in {
			if err := errors.Join(in[i].Wait(), out[i].Wait()); err != nil {
				return err
			}
			for j, got := range in[i].Vector() {
				if want := value(i/len(messageSizes), p.Rank(), len(vectors[i]), round, j); got != want {
					return fmt.Errorf("round %d, %d elements: element %d is %v, want %v", round,
						len(vectors[i]), j, got, want)
				}
			}
		}
	}
	return wantTraffic(p, 3)
}

// wantTraffic checks the bytes of that many rounds of sendAll.
func wantTraffic(p *comm.Post, rounds int64) error {
	bytes := int64(0)
	for _, n := range messageSizes {
		bytes += 4 * rounds * int64(n)
	}
	for peer, ops := range p.Counters().Peers {
		got, want := ops[comm.Message], bytes
		if peer == p.Rank() {
			want = 0
		}
		if got.Sent != want || got.Received != want || got.Vector != want {
			return fmt.Errorf("traffic with rank %d: %+v, want %d bytes each way", peer, got, want)
		}
	}
	return nil
}

// testInPlace receives a message from the own rank without a copy.
func testInPlace(t *testing.T, connect Connect) {
	noErrors(t, posts(t, connect, 2, comm.PostConfig{}, func(p *comm.Post) error {
		sent := []float32{1, 2, 3}
		out, err := p.Sender(comm.Letter{Peer: p.Rank(), Tag: 9, Vector: sent})
		if err != nil {
			return err
		}
		in, err := p.Receiver(comm.Letter{Peer: p.Rank(), Tag: 9})
		if err != nil {
			return err
		}
		out.Start()
		in.Start()
		if err := errors.Join(out.Wait(), in.Wait()); err != nil {
			return err
		}
		if got := in.Vector(); len(got) != 3 || &got[0] != &sent[0] {
			return fmt.Errorf("received %v, want the sender's memory", got)
		}
		return nil
	}))
}

// wait starts a message of one element and waits for it.
func wait(p *comm.Post, peer int, tag uint32, isSending bool) error {
	make, letter := p.Receiver, comm.Letter{Peer: peer, Tag: tag, Name: "word", Vector: []float32{1}}
	if isSending {
		make = p.Sender
	}
	m, err := make(letter)
	if err != nil {
		return err
	}
	m.Start()
	return m.Wait()
}

// testLostCorrespondent has a rank that leaves while one peer awaits a message from it, another one
// from that peer.
func testLostCorrespondent(t *testing.T, connect Connect) {
	const victim = 2
	begin := time.Now()
	errs := posts(t, connect, 3, comm.PostConfig{Timeout: time.Minute}, func(p *comm.Post) error {
		switch p.Rank() {
		case 0:
			return wait(p, 1, 5, false)
		case 1:
			return wait(p, victim, 6, false)
		}
		time.Sleep(20 * time.Millisecond)
		return errVictim
	})
	if d := time.Since(begin); d > bound {
		t.Errorf("noticed after %v, want at most %v", d, bound)
	}
	for r, err := range errs[:victim] {
		wantLoss(t, "post", r, err, comm.Message, victim)
	}
}

// testLossOfOneNotNeeded has a rank that dies and is not needed by another, which goes on with the third.
func testLossOfOneNotNeeded(t *testing.T, connect Connect) {
	const victim = 2
	c := comm.PostConfig{MayLose: func(peer int) bool { return peer == victim }}
	errs := posts(t, connect, 3, c, func(p *comm.Post) error {
		switch p.Rank() {
		case 1:
			return errors.Join(wait(p, 0, 1, false), wait(p, 0, 2, true))
		case victim:
			return errVictim
		}
		for tag, isSending := range []bool{false, true} {
			var lost *comm.PeerError
			err := wait(p, victim, uint32(tag), isSending)
			if !errors.As(err, &lost) || lost.Rank != victim {
				return fmt.Errorf("message of the lost rank: got %v", err)
			}
		}
		return errors.Join(wait(p, 1, 1, true), wait(p, 1, 2, false))
	})
	noErrors(t, errs[:victim])
}

// testLeave has a rank that leaves once its last message is sent. Nobody expects more from it.
func testLeave(t *testing.T, connect Connect) {
	left := make(chan struct{})
	meshes := connect(t, 3)
	errs := make([]error, 3)
	var all sync.WaitGroup
	for r, mesh := range meshes {
		all.Go(func() {
			p := comm.NewPost(mesh, comm.PostConfig{})
			defer p.Close()
			switch r {
			case 2:
				defer close(left)
				errs[r] = errors.Join(wait(p, 1, 1, true), p.Close())
			case 1:
				errs[r] = wait(p, 2, 1, false)
				<-left
				time.Sleep(20 * time.Millisecond)
				errs[r] = errors.Join(errs[r], wait(p, 0, 2, true))
				time.Sleep(20 * time.Millisecond)
			default:
				errs[r] = wait(p, 1, 2, false)
			}
		})
	}
	all.Wait()
	noErrors(t, errs)
}

// testStuckCorrespondent has a rank that keeps its links open and sends nothing.
func testStuckCorrespondent(t *testing.T, connect Connect) {
	const timeout = 150 * time.Millisecond
	release := make(chan struct{})
	begin := time.Now()
	errs := posts(t, connect, 2, comm.PostConfig{Timeout: timeout}, func(p *comm.Post) error {
		if p.Rank() == 1 {
			<-release
			return errVictim
		}
		defer close(release)
		return wait(p, 1, 3, false)
	})
	if d := time.Since(begin); d < timeout || d > timeout+bound {
		t.Errorf("noticed after %v, want %v to %v", d, timeout, timeout+bound)
	}
	wantLoss(t, "stuck", 0, errs[0], comm.Message, 1)
	if !errors.Is(errs[0], comm.ErrTimeout) {
		t.Errorf("got %v, want a time-out", errs[0])
	}
}

// testUnfit sends messages of another length or generation than the receiver expects.
func testUnfit(t *testing.T, connect Connect) {
	for _, field := range []string{"length", "generation"} {
		meshes := connect(t, 2)
		errs := make([]error, 2)
		var all sync.WaitGroup
		for r, mesh := range meshes {
			all.Go(func() {
				c, n := comm.PostConfig{}, 4
				if r == 1 && field == "generation" {
					c.Generation = 1
				} else if r == 1 {
					n = 5
				}
				p := comm.NewPost(mesh, c)
				defer p.Close()
				make, letter := p.Receiver, comm.Letter{Peer: 1 - r, Buf: []byte("length")[:n]}
				if r == 1 {
					make = p.Sender
				}
				var m *comm.Mail
				if m, errs[r] = make(letter); errs[r] == nil {
					m.Start()
					errs[r] = m.Wait()
				}
				if r == 1 { // it leaves when its peer has noticed
					last, err := p.Receiver(comm.Letter{Peer: 0, Tag: 7, Buf: letter.Buf})
					if err == nil {
						last.Start()
						_ = last.Wait()
					}
				}
			})
		}
		all.Wait()
		var frame *comm.FrameError
		if !errors.As(errs[0], &frame) || frame.Field != field {
			t.Errorf("%s: got %v", field, errs[0])
		}
	}
}

// testMessagesAllocateNothing repeats messages between two ranks and within one.
func testMessagesAllocateNothing(t *testing.T, connect Connect) {
	meshes := connect(t, 2)
	steps := make([]func(), 2)
	for r, mesh := range meshes {
		p := comm.NewPost(mesh, comm.PostConfig{})
		defer p.Close()
		var all []*comm.Mail
		for peer := range 2 {
			vector := p.Alloc(100_000)
			out, err := p.Sender(comm.Letter{Peer: peer, Vector: vector})
			if err != nil {
				t.Fatal(err)
			}
			in, err := p.Receiver(comm.Letter{Peer: peer, Vector: make([]float32, len(vector))})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, out, in)
		}
		steps[r] = func() {
			for _, m := range all {
				m.Start()
			}
			for _, m := range all {
				if err := m.Wait(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if n := Allocations(steps); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
