package cluster

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Note: pulses
//
// TCP delivers in order, so one lost packet holds back all beats behind it: with 30 % loss, ten
// gaps of more than 5 s in four minutes, the worst of 22.9 s, where datagrams had one of 1.3 s. A
// worker on another host than its launcher therefore sends its beats as datagrams as well, and the
// launcher answers each. The answers tell a worker that it is cut off, and a pulse says for how
// long there was none, which tells the launcher about a link that is cut in one direction. Until a
// datagram has come through, or where none does, the control connection alone is watched, with
// more patience.
//
// A datagram is encrypted with a key of its rank, which came with the welcome. The launcher takes
// only numbers above the last, and a worker only answers to numbers that it sent and that
// were not answered, so a copy of a datagram means nothing. Keys are those of one launch: nothing
// of an earlier run is valid.

// Layout of a datagram, little-endian:
//
//	 0  magic "LSP" and version 1
//	 4  kind
//	 8  rank
//	12  of a pulse, for how many milliseconds the worker has heard nothing from the launcher
//	16  number, from 1; of an answer that of the pulse
//	24  of a pulse, its Progress as JSON, and of an answer two times, see Note: clocks; encrypted by
//	    AES-256-GCM with the bytes before as additional data and the kind and the number as nonce,
//	    which are never used twice
const (
	pulseMagic = 'L' | 'S'<<8 | 'P'<<16 | 1<<24
	pulseHead  = 24
	pulseSeal  = 16 // bytes that encryption adds
	pulseKey   = 32
	// maxPulse is below the least MTU of IPv6, so that no datagram is cut into fragments.
	maxPulse = 1200
	// The kinds.
	pulseBeat   = 1
	pulseAnswer = 2
)

// PulseKey is what a worker needs to send pulses.
type PulseKey struct {
	Port int    `json:"port"` // of the launcher, UDP
	Key  []byte `json:"key"`
	// Silence is the time without a sign of life after which either side gives the other up.
	Silence time.Duration `json:"silence"`
}

// pulse is one datagram.
type pulse struct {
	kind     uint32
	rank     int
	deaf     time.Duration
	number   uint64
	progress []byte // JSON, empty: the worker has not reported any; of an answer the times
}

// seal appends the datagram to b.
func (p pulse) seal(b []byte, key cipher.AEAD) []byte {
	le := binary.LittleEndian
	start := len(b)
	b = le.AppendUint32(b, pulseMagic)
	b = le.AppendUint32(b, p.kind)
	b = le.AppendUint32(b, uint32(p.rank))
	b = le.AppendUint32(b, uint32(p.deaf.Milliseconds()))
	b = le.AppendUint64(b, p.number)
	nonce := pulseNonce(p.kind, p.number)
	return key.Seal(b, nonce[:], p.progress, b[start:])
}

// pulseNonce returns the nonce of a datagram, of which each end sends a kind of its own.
func pulseNonce(kind uint32, number uint64) (nonce [12]byte) {
	binary.LittleEndian.PutUint32(nonce[:], kind)
	binary.LittleEndian.PutUint64(nonce[4:], number)
	return nonce
}

// openPulse returns the datagram in b if it is of that kind and one of keys, by rank, has sealed it.
func openPulse(b []byte, kind uint32, keys []cipher.AEAD) (p pulse, ok bool) {
	le := binary.LittleEndian
	if len(b) < pulseHead+pulseSeal || le.Uint32(b) != pulseMagic {
		return p, false
	}
	rank := le.Uint32(b[8:])
	if le.Uint32(b[4:]) != kind || uint64(rank) >= uint64(len(keys)) || keys[rank] == nil {
		return p, false
	}
	p = pulse{kind: kind, rank: int(rank), deaf: time.Duration(le.Uint32(b[12:])) * time.Millisecond,
		number: le.Uint64(b[16:])}
	nonce := pulseNonce(kind, p.number)
	progress, err := keys[rank].Open(nil, nonce[:], b[pulseHead:], b[:pulseHead])
	if err != nil {
		return pulse{}, false
	}
	p.progress = progress
	return p, true
}

// newPulseKey returns a random key.
func newPulseKey() []byte {
	key := make([]byte, pulseKey)
	rand.Read(key) // never fails
	return key
}

// pulseCipher returns what seals and opens with a key.
func pulseCipher(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// pulses is the launcher's end. Its goroutine answers, so that workers hear from a launcher that is
// busy or waits for its terminal.
type pulses struct {
	conn    *net.UDPConn
	keys    []cipher.AEAD // by rank; nil for a rank that sends no pulses
	running sync.WaitGroup

	mu     sync.Mutex
	latest []pulse // by rank; kind 0: nothing new
	last   []uint64
}

// openPulses listens on the address of the rendezvous, at the same port if that is free, which a
// firewall that lets TCP pass is likely to let pass too.
func openPulses(near *net.TCPAddr, world int) (*pulses, error) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: near.IP, Port: near.Port, Zone: near.Zone})
	if err != nil {
		conn, err = net.ListenUDP("udp", &net.UDPAddr{IP: near.IP, Zone: near.Zone})
	}
	if err != nil {
		return nil, err
	}
	return &pulses{conn: conn, keys: make([]cipher.AEAD, world), latest: make([]pulse, world),
		last: make([]uint64, world)}, nil
}

// admit gives a rank its key. It must not be called after start.
func (ps *pulses) admit(rank int, silence time.Duration) *PulseKey {
	key := newPulseKey()
	ps.keys[rank], _ = pulseCipher(key) // the length is right
	return &PulseKey{Port: ps.conn.LocalAddr().(*net.UDPAddr).Port, Key: key, Silence: silence}
}

func (ps *pulses) start() { ps.running.Go(ps.listen) }

// listen answers pulses until close.
func (ps *pulses) listen() {
	var in, out [maxPulse]byte
	var times [stampBytes]byte
	for {
		n, from, err := ps.conn.ReadFromUDPAddrPort(in[:])
		came := time.Now()
		if errors.Is(err, net.ErrClosed) {
			return
		} else if err != nil {
			time.Sleep(beatEvery) // such as no route to the sender of an answer before
			continue
		}
		p, ok := openPulse(in[:n], pulseBeat, ps.keys)
		if !ok || !ps.keep(p) {
			continue
		}
		answer := pulse{kind: pulseAnswer, rank: p.rank, number: p.number,
			progress: stamp(times[:0], came, time.Now())}
		ps.conn.WriteToUDPAddrPort(answer.seal(out[:0], ps.keys[p.rank]), from) // lost: the next one counts
	}
}

// keep records a pulse and reports whether it is newer than those before.
func (ps *pulses) keep(p pulse) bool {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p.number <= ps.last[p.rank] {
		return false
	}
	ps.last[p.rank], ps.latest[p.rank] = p.number, p
	return true
}

// take returns the newest pulse of a rank, if one has come since the last call.
func (ps *pulses) take(rank int) (p pulse, ok bool) {
	if ps == nil {
		return p, false
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p, ps.latest[rank] = ps.latest[rank], pulse{}
	return p, p.kind != 0
}

func (ps *pulses) close() {
	if ps != nil {
		ps.conn.Close()
		ps.running.Wait()
	}
}

// pulser is a worker's end.
type pulser struct {
	conn net.Conn
	rank int
	key  cipher.AEAD

	mu       sync.Mutex
	progress []byte // of the next pulse
	sent     uint64
	sentAt   time.Time
	answered uint64
	skew     skewed
	deaf     int // beats since the launcher's last sign of life
}

// newPulser returns the pulser of a rank whose launcher is at the host of address.
func newPulser(address net.Addr, rank int, k *PulseKey) (*pulser, error) {
	to, err := netip.ParseAddrPort(address.String())
	if err != nil {
		return nil, err
	}
	key, err := pulseCipher(k.Key)
	if err != nil {
		return nil, err
	}
	to = netip.AddrPortFrom(to.Addr(), uint16(k.Port))
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return nil, err
	}
	return &pulser{conn: conn, rank: rank, key: key}, nil
}

// show sets the progress of the next pulses.
func (u *pulser) show(p Progress) {
	text, err := json.Marshal(p)
	if err == nil && len(text) > maxPulse-pulseHead-pulseSeal {
		p.Wait = nil // the control connection has it
		text, err = json.Marshal(p)
	}
	if err != nil || len(text) > maxPulse-pulseHead-pulseSeal {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.progress = text
}

// beat sends a pulse, and returns for how long the launcher has been silent. That counts only once it
// has answered: datagrams may not come through at all. Time is counted in beats, so that the time
// in which this process was stopped does not count.
func (u *pulser) beat() (deaf time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.answered > 0 {
		deaf = time.Duration(u.deaf) * beatEvery
	}
	u.sent++
	u.deaf++
	var out [maxPulse]byte
	p := pulse{kind: pulseBeat, rank: u.rank, deaf: deaf, number: u.sent, progress: u.progress}
	text := p.seal(out[:0], u.key)
	u.sentAt = time.Now()
	u.conn.Write(text) // an error means that one more is lost
	return deaf
}

// listen takes answers until the connection is closed.
func (u *pulser) listen() {
	var in [maxPulse]byte
	keys := make([]cipher.AEAD, u.rank+1)
	keys[u.rank] = u.key
	for {
		n, err := u.conn.Read(in[:])
		heard := time.Now()
		if errors.Is(err, net.ErrClosed) {
			return
		} else if err != nil {
			time.Sleep(beatEvery) // such as no listener there any more
			continue
		}
		if p, ok := openPulse(in[:n], pulseAnswer, keys); ok {
			u.hear(p, heard)
		}
	}
}

// live notes a sign of life of the launcher on another way.
func (u *pulser) live() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.deaf = 0
}

// hear notes an answer to a pulse that had none, and what the one to the last pulse tells of the clocks.
func (u *pulser) hear(p pulse, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if p.number <= u.answered || p.number > u.sent {
		return
	}
	u.answered, u.deaf = p.number, 0
	if s, ok := skewOf(u.sentAt, now, p.progress); ok && p.number == u.sent {
		u.skew.add(s, now)
	}
}
