package comm

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/shard"
)

// LinkSpeed is the time of a step over links of one kind while all ranks use theirs at once, in
// seconds. All fields are 0 if a group has no such links.
type LinkSpeed struct {
	Latency float64 `json:"latency"` // of a step with one message
	Message float64 `json:"message"` // of each further message
	Byte    float64 `json:"byte"`    // of each byte sent while another is received
	// Crossing is the part of a link that is lost while all exchange with all, see Crossed. It is not
	// measured, but the constant between hosts and 0 within one.
	Crossing float64 `json:"crossing,omitempty"`
}

// Crossing is LinkSpeed.Crossing between hosts: TCP's connections do not take such turns that each end is
// always busy when every host exchanges with several at once. All-reduces of 16 MiB among hosts of a lab at
// 200 Mbit/s reach 0.86 (three) and 0.77 (four) of their links by direct, and 0.94 by halving-doubling, which
// has one peer in each step (results/predict).
const Crossing = 0.25

// Crossed returns the part of a host's link that is left while it exchanges with so many others that exchange
// with as many.
func Crossed(crossing float64, peers int) float64 {
	return 1 - crossing*(1-1/float64(max(1, peers)))
}

// Choice is the algorithm that "auto" selects for vectors up to a size.
type Choice struct {
	Bytes     int     `json:"bytes"`
	Algorithm string  `json:"algorithm"`
	Seconds   float64 `json:"seconds"` // predicted for that size
}

// Tuning is the result of [Group.Tune], the same on all ranks.
type Tuning struct {
	Inside  LinkSpeed `json:"inside"`  // links within a host
	Outside LinkSpeed `json:"outside"` // links between hosts
	Add     float64   `json:"add"`     // seconds to add a byte to another
	Choices []Choice  `json:"choices"` // in ascending order of size
}

// Resolve returns the algorithm that "auto" stands for with a vector of that many bytes, of which 1
// MiB is processed at once.
func (t *Tuning) Resolve(bytes int) string {
	i := slices.IndexFunc(t.Choices, func(c Choice) bool { return bytes <= c.Bytes })
	if i < 0 {
		i = len(t.Choices) - 1
	}
	return t.Choices[i].Algorithm
}

// Predict returns the predicted seconds of rank's schedule: for every step the latency of its
// links, a term for each further message to a peer of that kind and the bytes of the busier direction, both
// longer if there are several peers in both, and the additions.
func (t *Tuning) Predict(s *Schedule, hosts Topology, rank int) float64 {
	total := 0.0
	for _, st := range s.Steps {
		for _, isInside := range []bool{true, false} {
			l := t.Outside
			if isInside {
				l = t.Inside
			}
			out, in := volumeOf(st.Sends, hosts, rank, isInside), volumeOf(st.Receives, hosts, rank, isInside)
			if messages := max(out.messages, in.messages); messages > 0 {
				busy := float64(messages-1)*l.Message + 4*float64(max(out.elems, in.elems))*l.Byte
				total += l.Latency + busy/Crossed(l.Crossing, min(out.peers, in.peers))
			}
		}
		for _, sum := range st.Sums {
			total += 4 * float64(sum.Len()) * t.Add
		}
	}
	return total
}

// volume counts transfers in one direction, their peers and their elements.
type volume struct{ messages, peers, elems int }

// volumeOf counts the transfers with peers on rank's host or with peers on others; those with one peer stand
// together.
func volumeOf(ts []Transfer, hosts Topology, rank int, isInside bool) (v volume) {
	last := -1
	for _, t := range ts {
		if hosts.isWithin(rank, t.Peer) == isInside {
			if t.Peer != last {
				v.peers, last = v.peers+1, t.Peer
			}
			v.messages++
			v.elems += t.Len()
		}
	}
	return v
}

// Choose replaces the choices by those that follow from the figures: for each power of two up to a segment,
// the exact algorithm with the shortest predicted time. It uses the schedule of rank 0, which is as busy as
// any.
func (t *Tuning) Choose(hosts Topology, plan shard.Plan) {
	t.Choices = t.Choices[:0]
	for elems := leastChoice / 4; elems <= SegmentElems; elems *= 2 {
		c := Choice{Bytes: 4 * elems, Seconds: math.Inf(1)}
		for _, a := range algorithms() {
			if !a.isExact {
				continue
			}
			if s := t.Predict(a.plan(hosts, plan, 0, elems), hosts, 0); s < c.Seconds {
				c.Algorithm, c.Seconds = a.name, s
			}
		}
		t.Choices = append(t.Choices, c)
	}
}

// leastChoice is the size in bytes of the first choice.
const leastChoice = 256

// String describes choices and figures in one line.
func (t *Tuning) String() string {
	var b strings.Builder
	b.WriteString("all-reduce:")
	for i, c := range t.Choices {
		isLast := i == len(t.Choices)-1
		if !isLast && t.Choices[i+1].Algorithm == c.Algorithm {
			continue
		}
		size := fmt.Sprintf("up to %d bytes", c.Bytes)
		if isLast {
			size = "per MiB"
		}
		fmt.Fprintf(&b, " %s %s (%.3g us),", c.Algorithm, size, 1e6*c.Seconds)
	}
	b.WriteString(" since")
	for _, kind := range []struct {
		where string
		LinkSpeed
	}{{"within a host", t.Inside}, {"between hosts", t.Outside}} {
		if kind.LinkSpeed != (LinkSpeed{}) {
			fmt.Fprintf(&b, " a step %s takes %.3g us, %.2g us more per message and %.3g us per MiB;",
				kind.where, 1e6*kind.Latency, 1e6*kind.Message, 1e6*(1<<20)*kind.Byte)
		}
	}
	fmt.Fprintf(&b, " adding a MiB takes %.3g us", 1e6*(1<<20)*t.Add)
	return b.String()
}
