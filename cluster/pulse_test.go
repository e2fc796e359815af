package cluster

import (
	"bytes"
	"crypto/cipher"
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"
)

func TestOnlyOwnDatagramsAreOpened(t *testing.T) {
	keys := []cipher.AEAD{nil, newPulseCipher(), newPulseCipher()}
	p := pulse{kind: pulseBeat, rank: 1, deaf: 1500 * time.Millisecond, number: 7,
		progress: []byte(`{"step":3}`)}
	b := p.seal(nil, keys[1])
	got, ok := openPulse(b, pulseBeat, keys)
	if !ok || got.rank != 1 || got.deaf != p.deaf || got.number != 7 || string(got.progress) != `{"step":3}` {
		t.Errorf("%+v, %v; want %+v", got, ok, p)
	}
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			if got, ok := openPulse(b, pulseBeat, keys); ok {
				t.Errorf("byte %d with bit %d changed is accepted: %+v", i, bit, got)
			}
			b[i] ^= 1 << bit
		}
	}
	for n := range b {
		if _, ok := openPulse(b[:n], pulseBeat, keys); ok {
			t.Errorf("%d of %d bytes are accepted", n, len(b))
		}
	}
	if _, ok := openPulse(b, pulseAnswer, keys); ok {
		t.Error("a pulse is accepted as an answer")
	}
	p.rank = 0 // of a worker on the launcher's host, which has no key
	if _, ok := openPulse(p.seal(nil, keys[2]), pulseBeat, keys); ok {
		t.Error("a datagram of a rank without a key is accepted")
	}
	if bytes.Contains(b, []byte("step")) {
		t.Errorf("the progress can be read in %q", b)
	}
}

func newPulseCipher() cipher.AEAD {
	c, _ := pulseCipher(newPulseKey())
	return c
}

// openPair returns both ends of rank 1's datagrams, on this machine.
func openPair(t *testing.T, silence time.Duration) (*pulses, *pulser) {
	ps, err := openPulses(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, 2)
	if err != nil {
		t.Fatal(err)
	}
	key := ps.admit(1, silence)
	ps.start()
	t.Cleanup(ps.close)
	u, err := newPulser(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, 1, key)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); u.listen() }()
	t.Cleanup(func() { u.conn.Close(); <-done })
	return ps, u
}

// eventually waits until ok, for at most some seconds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s has not come", what)
		}
	}
}

func TestPulsesAreAnsweredOnce(t *testing.T) {
	ps, u := openPair(t, time.Second)
	u.show(Progress{Step: 4, Wait: &Wait{Rank: 0, What: "bucket 1"}})
	if deaf := u.beat(); deaf != 0 {
		t.Errorf("deaf for %v before anything came through", deaf)
	}
	eventually(t, "the answer", func() bool { u.mu.Lock(); defer u.mu.Unlock(); return u.answered == 1 })
	p, ok := ps.take(1)
	var beat Progress
	if err := json.Unmarshal(p.progress, &beat); !ok || err != nil || beat.Step != 4 ||
		beat.Wait.What != "bucket 1" {
		t.Errorf("%+v, %v; progress %s, %v", p, ok, p.progress, err)
	}
	if _, ok := ps.take(1); ok {
		t.Error("a pulse is taken twice")
	}
	if ps.keep(p) {
		t.Error("a copy of a pulse counts as a sign of life")
	}
	u.deaf = 9
	u.hear(pulse{number: 1}, time.Now()) // a copy of the answer
	u.hear(pulse{number: 2}, time.Now()) // an answer to what was not sent
	if u.deaf != 9 {
		t.Error("a copy of an answer counts as a sign of life")
	}
	if deaf := u.beat(); deaf != 9*beatEvery {
		t.Errorf("deaf for %v, want %v", deaf, 9*beatEvery)
	}
	eventually(t, "the second pulse", func() bool { p, ok = ps.take(1); return ok })
	if p.deaf != 9*beatEvery {
		t.Errorf("the launcher hears of %v of silence, want %v", p.deaf, 9*beatEvery)
	}
}

// A long description does not fit a datagram, nor may it make one that is cut into fragments.
func TestALongWaitStaysOutOfADatagram(t *testing.T) {
	ps, u := openPair(t, time.Second)
	u.show(Progress{Step: 4, Wait: &Wait{What: strings.Repeat("x", maxPulse)}})
	u.beat()
	var p pulse
	eventually(t, "the pulse", func() (ok bool) { p, ok = ps.take(1); return ok })
	if !strings.Contains(string(p.progress), `"step":4`) || strings.Contains(string(p.progress), "xx") {
		t.Errorf("progress %s", p.progress)
	}
}

// A beat that was held up on its way says nothing of the time when it arrives.
func TestALateBeatIsNoSignOfLife(t *testing.T) {
	v := vitals{isWatched: true}
	first := v.hear(5, Progress{Number: 8, Moves: 3})
	late := v.hear(9, Progress{Number: 7, Moves: 2})
	if !first || late || v.heard != 5 || v.moved != 5 || v.beat.Moves != 3 {
		t.Errorf("%v, %v, %+v", first, late, v)
	}
}

func FuzzPulse(f *testing.F) {
	keys := []cipher.AEAD{newPulseCipher()}
	f.Add(pulse{kind: pulseBeat, number: 1, progress: []byte(`{}`)}.seal(nil, keys[0]))
	f.Add([]byte("LSP\x01"))
	other := []cipher.AEAD{newPulseCipher(), nil, newPulseCipher()}
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, ok := openPulse(b, pulseBeat, other); ok {
			t.Errorf("accepted %x: %+v", b, p)
		}
	})
}

// A worker that is done waits for its last message to arrive: no progress is due any more.
func TestAWorkerThatIsDoneIsNotStuck(t *testing.T) {
	_, u := openPair(t, time.Second)
	s := &Session{pulser: u}
	s.reports.Store(3)
	s.last.Store(&Progress{Step: 4, Number: 3, Limit: 9, Wait: &Wait{Rank: 0}})
	s.finish()
	var shown Progress
	if err := json.Unmarshal(u.progress, &shown); err != nil || shown.Number != 4 || shown.Step != 4 ||
		shown.Limit != 0 || shown.Wait != nil || !s.isFinal.Load() {
		t.Errorf("%v, %+v", err, shown)
	}
}
