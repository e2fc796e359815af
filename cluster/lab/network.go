package lab

import (
	"math"
	"slices"
	"time"

	"lockstep/random"
)

// overhead is the bytes that a link counts per packet besides its own: an Ethernet header, as in the kernel.
const overhead = 14

// Times of the emulated links. An idle link saves up what it carries in credit, and at least
// creditPackets, because senders that pace their packets leave gaps of that size. A host's link is handed
// packets for as long as they leave within ahead, so that the emulator may be late without the link losing
// any of its rate.
const (
	credit        = time.Millisecond
	creditPackets = 4
	ahead         = 4 * time.Millisecond
)

// largestSegment is more than the kernel hands to an interface at once.
const largestSegment = 72 << 10

// bucketCredit is the time whose bytes an idle interface of the kernel saves up: few, or short transfers
// would seem faster than the link is.
const bucketCredit = 250 * time.Microsecond

func kernelBurst(bytesPerSec float64) int {
	return max(largestSegment, int(bytesPerSec*bucketCredit.Seconds()))
}

// Burst returns the bytes that either end of a link lets pass at once after it was idle; 0 without a rate.
func (l Link) Burst() float64 {
	switch {
	case l.Rate == 0:
		return 0
	case l.Delay == 0 && l.Loss == 0:
		return float64(kernelBurst(l.Rate / 8))
	}
	b := newBucket(l.Rate/8, DefaultMTU)
	return l.Rate / 8 * b.credit.Seconds()
}

// A receiver's link has a queue of at least minQueue bytes. Packets that arrive at a full queue are lost.
const (
	backlog  = 20 * time.Millisecond
	minQueue = 256 << 10
)

// network computes when packets arrive and which are lost. It does no IO and has no clock: every call passes
// the time since the network began. A packet is serialized on the sender's link, travels for the delay, then
// is serialized on the receiver's link. A network is not safe for concurrent use.
type network struct {
	links []emulatedLink
	cuts  []Cut
}

// emulatedLink is the state of a host's link.
type emulatedLink struct {
	Link
	up, down   bucket
	loss       random.Stream
	sent       uint64 // packets so far
	travelling line   // from this host to the receivers' links
	arriving   line   // on this link to the host
	Counts
}

// Counts holds the traffic and the losses of a link; bytes include Ethernet headers.
type Counts struct {
	Sent     uint64
	Received uint64
	Lost     uint64 // by the emulator, of those that it sent or that waited for it
}

// packet is a packet in transit.
type packet struct {
	data     []byte
	from, to int
}

func newNetwork(c Config) *network {
	n := &network{links: make([]emulatedLink, c.Hosts), cuts: c.Cuts}
	for host := range n.links {
		l := &n.links[host]
		l.Link = c.Link
		l.loss = random.Derive(c.Seed, uint64(host), 0)
		l.up = newBucket(l.Rate/8, c.mtu())
		l.down = l.up
	}
	return n
}

// send takes a packet at time now and reports whether it is in transit. If not, the packet is lost and its
// data belongs to the caller again.
func (n *network) send(now time.Duration, p packet) bool {
	l := &n.links[p.from]
	number := l.sent
	l.sent++
	l.Sent += uint64(len(p.data) + overhead)
	left := l.up.pass(now, len(p.data)+overhead)
	if l.isLost(number) || n.isCut(now, p.from, Outward) || n.isCut(now, p.to, Inward) {
		l.Lost++
		return false
	}
	l.travelling.push(left+l.Delay, p)
	return true
}

// isLost reports whether the link loses the packet of this number.
func (l *emulatedLink) isLost(number uint64) bool { return l.loss.Unit(number) < l.Loss }

// isReady reports whether the link of a host accepts a packet at time now. The sender's link has no queue,
// because the host has one.
func (n *network) isReady(now time.Duration, host int) bool {
	return n.links[host].up.wait(now) < ahead
}

func (n *network) isCut(now time.Duration, host int, way Way) bool {
	return slices.ContainsFunc(n.cuts, func(c Cut) bool { return c.loses(now, host, way) })
}

// next returns a packet that is due at time now, and whether it arrives (true) or is lost (false).
// Cost: the number of hosts.
func (n *network) next(now time.Duration) (p packet, arrives, ok bool) {
	for {
		at, from := n.first()
		if from == nil || at > now {
			return packet{}, false, false
		}
		p := from.pop()
		l := &n.links[p.to]
		size := len(p.data) + overhead
		switch {
		case from == &l.arriving:
			l.Received += uint64(size)
			return p, true, true
		case l.down.isFull(at):
			l.Lost++
			return p, false, true
		}
		l.arriving.push(l.down.pass(at, size), p)
	}
}

// first returns the line with the earliest packet, nil if there is no packet. If several are equally early it
// returns the one of the first host.
func (n *network) first() (at time.Duration, line *line) {
	at = math.MaxInt64
	for host := range n.links {
		l := &n.links[host]
		if t := l.travelling.time(); t < at {
			at, line = t, &l.travelling
		}
		if t := l.arriving.time(); t < at {
			at, line = t, &l.arriving
		}
	}
	return at, line
}

// wait returns the time from now to the next event; ok is false if there is none.
func (n *network) wait(now time.Duration) (d time.Duration, ok bool) {
	at, line := n.first()
	return max(0, at-now), line != nil
}

// bucket is a direction of a link.
type bucket struct {
	rate   float64       // bytes per second; 0: no limit
	credit time.Duration // greatest credit of an idle link
	free   time.Duration // time at which all accepted bytes will have passed
}

func newBucket(bytesPerSec float64, mtu int) bucket {
	b := bucket{rate: bytesPerSec, credit: credit}
	if b.rate > 0 {
		b.credit = max(credit, b.time(creditPackets*mtu))
	}
	return b
}

// time returns how long so many bytes take.
func (b *bucket) time(size int) time.Duration { return time.Duration(float64(size) / b.rate * 1e9) }

// pass returns the time at which size bytes that arrive at now will have passed. Saved credit passes at once.
func (b *bucket) pass(now time.Duration, size int) time.Duration {
	if b.rate == 0 {
		return now
	}
	b.free = max(b.free, now-b.credit) + b.time(size)
	return max(now, b.free)
}

// wait returns how long what has come keeps the link from taking more at now.
func (b *bucket) wait(now time.Duration) time.Duration { return max(0, b.free-now) }

// isFull reports whether no more may wait at now.
func (b *bucket) isFull(now time.Duration) bool {
	return b.rate > 0 && b.wait(now) > max(backlog, b.time(minQueue))
}

// line is a queue of packets, each with the time when it reaches the end.
type line struct {
	times   []time.Duration
	packets []packet
	head    int // index of the first; what is before it has gone
}

func (l *line) push(at time.Duration, p packet) {
	if l.head > len(l.packets)/2 {
		n := copy(l.packets, l.packets[l.head:])
		copy(l.times, l.times[l.head:])
		l.packets, l.times, l.head = l.packets[:n], l.times[:n], 0
	}
	l.times, l.packets = append(l.times, at), append(l.packets, p)
}

func (l *line) pop() packet {
	p := l.packets[l.head]
	l.packets[l.head] = packet{}
	l.head++
	return p
}

// time returns when the first packet reaches the end, the largest time if there is none.
func (l *line) time() time.Duration {
	if l.head == len(l.times) {
		return math.MaxInt64
	}
	return l.times[l.head]
}
