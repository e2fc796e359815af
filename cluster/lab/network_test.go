package lab

import (
	"slices"
	"testing"
	"time"
)

// arrival is a packet that has come through, or is lost.
type arrival struct {
	at     time.Duration
	number byte
}

// carry sends packets of size bytes from host 0 to host 1, one every gap, and returns which arrive, when.
// It asks the network only every look, as a thread does that is late. All is in simulated time.
func carry(c Config, num, size int, gap, look time.Duration) (arrivals []arrival, counts []Counts) {
	n := newNetwork(c)
	sent := 0
	for now := time.Duration(0); ; now += look {
		for {
			p, arrives, ok := n.next(now)
			if !ok {
				break
			}
			if arrives {
				arrivals = append(arrivals, arrival{now, p.data[0]})
			}
		}
		for sent < num && time.Duration(sent)*gap <= now && n.isReady(now, 0) {
			data := make([]byte, size)
			data[0] = byte(sent)
			n.send(now, packet{data: data, to: 1})
			sent++
		}
		if _, waits := n.wait(now); sent == num && !waits {
			for host := range n.links {
				counts = append(counts, n.links[host].Counts)
			}
			return arrivals, counts
		}
	}
}

func TestLinksAreAsFastAsAsked(t *testing.T) {
	const num, size = 10000, 1486 // with the Ethernet header 1500 bytes: 0.12 s at 1 Gbit/s
	for _, c := range []struct {
		link Link
		want time.Duration
	}{
		{Link{Rate: 1e9}, 120 * time.Millisecond},
		{Link{Rate: 1e9, Delay: 30 * time.Millisecond}, 150 * time.Millisecond},
	} {
		for _, look := range []time.Duration{10 * time.Microsecond, 3 * time.Millisecond} {
			got, counts := carry(Config{Hosts: 2, Link: c.link}, num, size, 0, look)
			end := got[len(got)-1].at
			if end < c.want-2*credit || end > c.want+look+time.Millisecond {
				t.Errorf("%v, looking every %v: took %v, want %v", c.link, look, end, c.want)
			}
			if uint64(len(got))+counts[1].Lost != num {
				t.Errorf("%v: %d arrived and %d lost of %d", c.link, len(got), counts[1].Lost, num)
			}
		}
	}
}

func TestBytesAreCounted(t *testing.T) {
	c := Config{Hosts: 2, Seed: 3, Link: Link{Loss: 0.5}}
	_, counts := carry(c, 100, 86, time.Millisecond, time.Millisecond)
	if got, want := counts[0].Sent, uint64(100*100); got != want {
		t.Errorf("sent %d bytes, want %d", got, want)
	}
	if got, want := counts[1].Received, 100*(100-counts[0].Lost); got != want {
		t.Errorf("received %d bytes, want %d", got, want)
	}
}

func TestLossFollowsFromSeedAndNumber(t *testing.T) {
	run := func(seed uint64, gap time.Duration) (numbers []byte) {
		c := Config{Hosts: 2, Seed: seed, Link: Link{Loss: 0.3, Rate: 1e8}}
		arrivals, _ := carry(c, 200, 100, gap, 100*time.Microsecond)
		for _, a := range arrivals {
			numbers = append(numbers, a.number)
		}
		return numbers
	}
	first := run(7, 0)
	if !slices.Equal(first, run(7, time.Millisecond)) {
		t.Error("another timing has other losses")
	}
	if slices.Equal(first, run(8, 0)) {
		t.Error("another seed has the same losses")
	}
	if len(first) < 120 || len(first) > 160 {
		t.Errorf("%d of 200 arrive at a loss of 30 %%", len(first))
	}
}

func TestACutHostIsUnreachable(t *testing.T) {
	for host := range 2 {
		cut := Cut{Host: host, From: 10 * time.Millisecond, To: 20 * time.Millisecond}
		got, counts := carry(Config{Hosts: 2, Cuts: []Cut{cut}}, 30, 100, time.Millisecond, time.Millisecond)
		var numbers []byte
		for _, a := range got {
			numbers = append(numbers, a.number)
		}
		var want []byte
		for i := range byte(30) {
			if i < 10 || i >= 20 {
				want = append(want, i)
			}
		}
		if !slices.Equal(numbers, want) || counts[0].Lost != 10 {
			t.Errorf("cut of host %d: %v arrived and %d lost, want %v and 10", host, numbers,
				counts[0].Lost, want)
		}
	}
}

// A cut in one direction loses nothing of the other.
func TestACutMayBeOneWay(t *testing.T) {
	for _, c := range []struct {
		host int
		way  Way
		lost uint64
	}{{0, Outward, 10}, {0, Inward, 0}, {1, Outward, 0}, {1, Inward, 10}} {
		cut := Cut{Host: c.host, From: 10 * time.Millisecond, To: 20 * time.Millisecond, Way: c.way}
		_, counts := carry(Config{Hosts: 2, Cuts: []Cut{cut}}, 30, 100, time.Millisecond, time.Millisecond)
		if counts[0].Lost != c.lost {
			t.Errorf("%+v: %d packets from host 0 to 1 are lost, want %d", cut, counts[0].Lost, c.lost)
		}
	}
}

// Three hosts that send to one at once, as a gather does, fill its link's queue.
func TestAReceiversQueueIsBounded(t *testing.T) {
	n := newNetwork(Config{Hosts: 4, Link: Link{Rate: 1e8}})
	arrived := 0
	for now := time.Duration(0); now < time.Second; now += 100 * time.Microsecond {
		for {
			p, arrives, ok := n.next(now)
			if !ok {
				break
			}
			if arrives {
				arrived += len(p.data) + overhead
			}
		}
		for from := 1; from < 4; from++ {
			for n.isReady(now, from) {
				n.send(now, packet{data: make([]byte, 1486), from: from})
			}
		}
	}
	if got := float64(arrived) * 8; got < 0.97e8 || got > 1.01e8 {
		t.Errorf("%.3g bits arrived in a second, want 1e8", got)
	}
	if waiting := len(n.links[0].arriving.packets) - n.links[0].arriving.head; waiting*1500 > minQueue*11/10 {
		t.Errorf("%d packets wait", waiting)
	}
	if n.links[0].Lost == 0 {
		t.Error("nothing was lost")
	}
}
