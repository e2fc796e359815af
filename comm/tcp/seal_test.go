//go:build unix

package tcp

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"
)

// pair returns both ends of a link with known keys.
func pair(t testing.TB) (dialer, acceptor *seal) {
	t.Helper()
	one, two := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	var errs [2]error
	dialer, errs[0] = sealWith(one, two)
	acceptor, errs[1] = sealWith(two, one)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return dialer, acceptor
}

// pipe is a wire that takes and gives as many bytes at a time as it likes.
type pipe struct {
	random  *rand.Rand
	bytes   []byte
	isEnded bool
}

func (p *pipe) amount(most int) int {
	switch p.random.IntN(4) {
	case 0:
		return 0
	case 1:
		return min(most, 1+p.random.IntN(30))
	}
	return min(most, 1+p.random.IntN(100_000))
}

func (p *pipe) send(head, body []byte) (int, error) {
	n := p.amount(len(head))
	if n == 0 {
		return 0, unix.EAGAIN
	}
	p.bytes = append(p.bytes, head[:n]...)
	return n, nil
}

func (p *pipe) receive(head, body []byte) (int, error) {
	if len(p.bytes) == 0 && p.isEnded {
		return 0, nil
	}
	n := p.amount(min(len(head), len(p.bytes)))
	if n == 0 {
		return 0, unix.EAGAIN
	}
	p.bytes = p.bytes[copy(head, p.bytes[:n]):]
	return n, nil
}

// Whatever amounts a system call moves, heads and bodies arrive whole and in order. A sender that has sent a
// frame has nothing left in its buffer, so it need not be called again.
func TestSealedStream(t *testing.T) {
	for seed := range uint64(200) {
		p := &pipe{random: rand.New(rand.NewPCG(seed, 1))}
		from, to := pair(t)
		from.out.renewAfter, to.in.renewAfter = 3, 3
		for range 5 {
			head, body := make([]byte, 32), make([]byte, p.random.IntN(3)*p.random.IntN(70_000))
			for _, b := range [][]byte{head, body} {
				for i := range b {
					b[i] = byte(p.random.Uint32())
				}
			}
			moveFrame(t, p, from, to, head, body)
		}
	}
}

// moveFrame sends a frame as a group does and checks what arrives.
func moveFrame(t *testing.T, p *pipe, from, to *seal, head, body []byte) {
	t.Helper()
	gotHead, gotBody := make([]byte, len(head)), make([]byte, len(body))
	all := len(head) + len(body)
	isLate := p.random.IntN(2) == 0 // the body has no memory before the head is there
	for sent, received := 0, 0; received < all; {
		if sent < all {
			h, b := after(sent, head, body)
			n, err := from.send(p, h, b)
			if err != nil && err != unix.EAGAIN {
				t.Fatal(err)
			}
			if sent += n; sent == all && len(from.buffer) > 0 {
				t.Fatalf("%d bytes of a frame that counts as sent are left", len(from.buffer))
			}
		}
		h, b := after(received, gotHead, gotBody)
		if isLate && received < len(head) {
			b = nil
		}
		n, err := to.receive(p, h, b)
		if err != nil && err != unix.EAGAIN {
			t.Fatal(err)
		}
		received += n
	}
	if !bytes.Equal(head, gotHead) || !bytes.Equal(body, gotBody) {
		t.Fatal("the bytes differ")
	}
}

// The same data is sealed by another key, not only with another nonce, after renewAfter records.
func TestKeysAreRenewed(t *testing.T) {
	from, _ := pair(t)
	from.out.renewAfter = 2
	var keys [][]byte
	for range 6 {
		if _, err := from.add(nil, []byte("the same")); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, bytes.Clone(from.out.secret))
	}
	for i := range keys[1:] {
		if isSame := bytes.Equal(keys[i], keys[i+1]); isSame != (i%2 == 0) {
			t.Errorf("records %d and %d: the key is the same: %v", i, i+1, isSame)
		}
	}
}

// Records that are changed, repeated, left out, or come from the other direction are refused.
func TestRecordsAreAuthentic(t *testing.T) {
	const size = 100
	from, to := pair(t)
	var records [][]byte
	for i := range 3 {
		from.add(nil, bytes.Repeat([]byte{byte(i)}, size))
		records = append(records, bytes.Clone(from.buffer))
		from.buffer = from.buffer[:0]
	}
	to.add(nil, make([]byte, size))
	reflected := bytes.Clone(to.buffer)
	changed := bytes.Clone(records[0])
	changed[50] ^= 1
	shorter := bytes.Clone(records[0])
	shorter[0]--
	for name, said := range map[string][]byte{
		"changed": changed, "its length changed": shorter, "left out": records[1], "reflected": reflected,
		"repeated": append(bytes.Clone(records[0]), records[0]...), "of length 0": make([]byte, 100),
		"too long": {0xff, 0xff, 0xff, 0xff},
	} {
		_, to := pair(t)
		p := &pipe{random: rand.New(rand.NewPCG(1, 1)), bytes: bytes.Clone(said), isEnded: true}
		if err := drain(to, p); !errors.As(err, new(*SealError)) {
			t.Errorf("%s: got %v, want a *SealError", name, err)
		}
	}
	_, to = pair(t)
	p := &pipe{random: rand.New(rand.NewPCG(1, 1)), bytes: bytes.Join(records, nil), isEnded: true}
	if err := drain(to, p); err != io.EOF {
		t.Errorf("as they were: got %v, want the end", err)
	}
}

// drain receives until an error.
func drain(s *seal, p *pipe) error {
	body := make([]byte, 64)
	for {
		if _, err := s.receive(p, nil, body); err != nil && err != unix.EAGAIN {
			return err
		}
	}
}

// FuzzRecords receives arbitrary bytes: none of them is ever taken for data.
func FuzzRecords(f *testing.F) {
	from, _ := pair(f)
	from.add([]byte("head"), []byte("body"))
	f.Add(uint64(1), bytes.Clone(from.buffer[:20]))
	f.Add(uint64(2), []byte{0xff, 0xff, 0xff, 0xff, 0})
	f.Add(uint64(3), make([]byte, 100))
	f.Fuzz(func(t *testing.T, seed uint64, said []byte) {
		_, to := pair(t)
		p := &pipe{random: rand.New(rand.NewPCG(seed, 1)), bytes: bytes.Clone(said), isEnded: true}
		body := make([]byte, 64)
		for {
			n, err := to.receive(p, nil, body)
			if n > 0 && !bytes.HasPrefix(said, from.buffer) {
				t.Fatalf("%d bytes of a stranger were taken", n)
			}
			if err != nil && err != unix.EAGAIN {
				return
			}
		}
	})
}

// BenchmarkSeal seals and opens frames of 1 MiB on one core.
func BenchmarkSeal(b *testing.B) {
	from, to := pair(b)
	body, got := make([]byte, 1<<20), make([]byte, 1<<20)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	w := &memory{}
	for b.Loop() {
		for sent, received := 0, 0; received < len(body); {
			n, err := from.send(w, nil, body[sent:])
			if err != nil && err != unix.EAGAIN {
				b.Fatal(err)
			}
			sent += n
			if n, err = to.receive(w, nil, got[received:]); err != nil && err != unix.EAGAIN {
				b.Fatal(err)
			}
			received += n
		}
	}
}

// memory is a wire that holds what one call sends.
type memory struct {
	bytes [bufferBytes]byte
	n     int
}

func (m *memory) send(head, body []byte) (int, error) {
	if m.n > 0 {
		return 0, unix.EAGAIN
	}
	m.n = copy(m.bytes[:], head)
	return m.n, nil
}

func (m *memory) receive(head, body []byte) (int, error) {
	if m.n == 0 {
		return 0, unix.EAGAIN
	}
	n := copy(head, m.bytes[:m.n])
	m.n = copy(m.bytes[:], m.bytes[n:m.n])
	return n, nil
}
