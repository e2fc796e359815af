package commbench

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/comm/codec"
	"lockstep/comm/shm"
	"lockstep/internal/spelling"
)

// Config says what to measure: every combination of its lists.
type Config struct {
	Operations []string // names of comm.Op
	Algorithms []string // of all-reduce; the other operations have one each
	Codecs     []string // names of codec, of all-reduce
	Links      []string // of Links
	// Encryptions of links by TCP, of Encryptions; nil: as in a run, tls between hosts and none within one.
	Encryptions []string
	Streams     []int // connections of each link by TCP
	Ranks       []int
	Hosts       int   // of the environment that has the ranks, where shm is between those of one; else 0
	Bytes       []int // of the vector: what each rank ends with, a multiple of 4
	Repeats     int   // samples of each measurement
}

// Links returns the names of the links: local is goroutines of one process, shm and tcp processes.
func Links() []string {
	if shm.IsSupported {
		return []string{"local", "shm", "tcp"}
	}
	return []string{"local", "tcp"}
}

// Encryptions returns the names of the encryptions.
func Encryptions() []string {
	return []string{string(cluster.EncryptTLS), string(cluster.EncryptNone)}
}

// Codecs returns the names of the codecs of all-reduce.
func Codecs() []string { return codec.Names() }

// Operations returns the names of the operations.
func Operations() []string {
	var names []string
	for op := comm.AllReduce; op <= comm.Barrier; op++ {
		names = append(names, op.String())
	}
	return names
}

// Bounds of what Validate lets pass.
const (
	maxRanks   = 64
	maxBytes   = 1 << 30
	maxRepeats = 1000
)

// Validate returns an error that names what cannot be measured and what can.
func (c Config) Validate() error {
	algorithms := append([]string{"auto"}, comm.Algorithms()...)
	for _, list := range []struct {
		what       string
		got, known []string
	}{
		{"operation", c.Operations, Operations()}, {"algorithm", c.Algorithms, algorithms},
		{"codec", c.Codecs, Codecs()}, {"link", c.Links, Links()},
		{"encryption", c.Encryptions, Encryptions()},
	} {
		if len(list.got) == 0 && list.what != "encryption" {
			return fmt.Errorf("no %s, want some of %s", list.what, strings.Join(list.known, ", "))
		}
		for _, name := range list.got {
			if !slices.Contains(list.known, name) {
				return fmt.Errorf("unknown %s %.80q%s (known: %s)", list.what, name,
					spelling.Hint(name, list.known), strings.Join(list.known, ", "))
			}
		}
	}
	if len(c.Streams) == 0 || slices.Min(c.Streams) < 1 || slices.Max(c.Streams) > cluster.MaxStreams {
		return fmt.Errorf("streams %v, want numbers from 1 to %d", c.Streams, cluster.MaxStreams)
	}
	if len(c.Ranks) == 0 || slices.Min(c.Ranks) < 2 || slices.Max(c.Ranks) > maxRanks {
		return fmt.Errorf("ranks %v, want numbers from 2 to %d", c.Ranks, maxRanks)
	}
	isNone := func(n int) bool { return n < 4 || n > maxBytes || n%4 != 0 }
	if len(c.Bytes) == 0 || slices.ContainsFunc(c.Bytes, isNone) {
		return fmt.Errorf("bytes %v, want multiples of 4 from 4 to %d: vectors are float32", c.Bytes,
			maxBytes)
	}
	for _, p := range c.points() {
		form, err := codec.New(p.Codec)
		if err == nil {
			err = comm.CheckCodec(p.Algorithm, form)
		}
		if err != nil {
			return err
		}
	}
	if c.Repeats < 1 || c.Repeats > maxRepeats {
		return fmt.Errorf("%d repeats, want 1 to %d", c.Repeats, maxRepeats)
	}
	return nil
}

// plain is the name for no codec.
const plain = "fp32"

// ways is the links, each with the encryptions and streams that are asked for where its ranks, or some, are
// linked by TCP.
func (c Config) ways() (all []way) {
	for _, link := range c.Links {
		if !c.isTCP(link) {
			all = append(all, way{link: link})
			continue
		}
		encryptions := c.Encryptions
		if len(encryptions) == 0 {
			encryptions = []string{""}
		}
		for _, e := range encryptions {
			for _, n := range c.Streams {
				all = append(all, way{link, cluster.Encryption(e), n})
			}
		}
	}
	return all
}

// isTCP reports whether a link of some ranks is by TCP.
func (c Config) isTCP(link string) bool { return link == "tcp" || link == "shm" && c.Hosts > 1 }

// way is how the ranks of a group are linked.
type way struct {
	link       string
	encryption cluster.Encryption // that is asked for; "": as in a run
	streams    int                // of links by TCP; 0: there are none
}

func (w way) String() string {
	text := w.link
	if w.encryption != "" {
		text += " " + string(w.encryption)
	}
	if w.streams > 1 {
		text += fmt.Sprintf(" %d streams", w.streams)
	}
	return text
}

// point is one measurement within a group of ranks.
type point struct {
	Op        comm.Op
	Algorithm string
	Codec     string
	Bytes     int
}

// points lists the measurements of each group of ranks in order.
func (c Config) points() []point {
	var list []point
	for op := comm.AllReduce; op <= comm.Barrier; op++ {
		if !slices.Contains(c.Operations, op.String()) {
			continue
		}
		algorithms, codecs, sizes := c.Algorithms, c.Codecs, c.Bytes
		if op != comm.AllReduce {
			algorithms, codecs = []string{""}, []string{plain}
		}
		if op == comm.Barrier {
			sizes = []int{0}
		}
		for _, algorithm := range algorithms {
			for _, form := range codecs {
				for _, n := range sizes {
					list = append(list, point{op, algorithm, form, n})
				}
			}
		}
	}
	return list
}

// calls returns how many calls make a sample: enough for a clock that ticks in microseconds, fewer
// the longer they take.
func (p point) calls() int { return min(max((1<<20)/max(p.Bytes, 1), 1), 200) }
