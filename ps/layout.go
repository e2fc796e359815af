package ps

import (
	"cmp"
	"fmt"
	"slices"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/shard"
)

// LayoutConfig is what all processes of a run know: it determines the Layout. Plan, Segments, Order,
// Servers and RowLen are required.
type LayoutConfig struct {
	// Plan says which subtrees of the sum each worker contributes.
	Plan shard.Plan
	// Segments, Order and BucketBytes determine the buckets, as in gradsync.Config.
	Segments    []gradsync.Segment
	Order       []int
	BucketBytes int
	// Len is the length of the flat vector of weights, at least that of the segments.
	Len int
	// Servers is the number of servers, at least 1.
	Servers int
	// IsApart places server s in a process of its own, rank W+s of W workers; otherwise it is in
	// that of worker s mod W.
	IsApart bool
	// IsWhole keeps each parameter on one server. Otherwise parameters are cut, which requires an
	// elementwise optimizer.
	IsWhole bool
	// SpanBytes is the most that is pushed, updated and pulled at once, unless parameters are whole. A
	// server has nothing to send while the first span of a step arrives, and nothing passes a span that
	// it sends; a convolution of 512 channels takes 76 ms for each worker at 1 Gbit/s. 0 means 1 MiB.
	SpanBytes int
	// RowLen is the number of elements of a shard's row.
	RowLen int
}

// Layout says which server has which part of the weights, and where the servers are.
type Layout struct {
	// Workers is the number of workers, which are the first ranks.
	Workers int
	// Homes holds the rank of each server's process.
	Homes []int
	// Parts holds each server's part.
	Parts []Part

	config  LayoutConfig
	buckets []gradsync.Bucket
}

// Part is one server's part of the flat vector: ranges in order. The server has them one after
// another in vectors of Len elements.
type Part struct {
	// Shares are the ranges [lo, hi) of the flat vector.
	Shares [][2]int
	// Len is their total length.
	Len int

	// Spans are in the order in which the server updates them.
	Spans []Span
}

// Span is what is pushed, updated and pulled at once: the range [Lo, Hi) of the flat vector, which
// lies in one bucket and in one share. It begins at element At of the server's vectors.
type Span struct{ Bucket, Lo, Hi, At int }

// defaultSpan is the default of LayoutConfig.SpanBytes.
const defaultSpan = 1 << 20

// NewLayout divides the weights among the servers, balanced by bytes: cut in each bucket, so that all
// servers are busy at all times; or by whole parameters, the largest first, each to the server that
// has least. The only server has the whole flat vector, whose layout clipping needs. NewLayout returns an
// error if a server would have nothing.
func NewLayout(c LayoutConfig) (*Layout, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	l := &Layout{Workers: c.Plan.Workers(), config: c,
		buckets: gradsync.Cut(c.Segments, c.Order, c.BucketBytes)}
	for s := range c.Servers {
		if c.IsApart {
			l.Homes = append(l.Homes, l.Workers+s)
		} else {
			l.Homes = append(l.Homes, s%l.Workers)
		}
	}
	l.Parts = make([]Part, c.Servers)
	switch {
	case c.Servers == 1:
		l.Parts[0].Shares = [][2]int{{0, c.Len}}
	case c.IsWhole:
		l.shareParameters()
	default:
		l.shareBuckets()
	}
	for s := range l.Parts {
		p := &l.Parts[s]
		longest := cmp.Or(c.SpanBytes, defaultSpan) / 4
		if c.IsWhole {
			longest = c.Len
		}
		p.lay(l.buckets, longest)
		if p.Len == 0 {
			return nil, fmt.Errorf("ps: %d servers for %d parameters of %d elements: server %d would have "+
				"none; want fewer servers", c.Servers, len(c.Segments), c.Len, s)
		}
		if len(p.Spans) > maxSpans {
			return nil, fmt.Errorf("ps: server %d has %d ranges, want at most %d: use larger buckets", s,
				len(p.Spans), maxSpans)
		}
	}
	return l, nil
}

func (c *LayoutConfig) validate() error {
	end := 0
	for _, s := range c.Segments {
		end = max(end, s.Offset+s.Len)
	}
	switch {
	case c.Plan.Workers() < 1:
		return fmt.Errorf("ps: no plan of shards")
	case c.Servers < 1 || c.Servers > maxServers:
		return fmt.Errorf("ps: %d servers, want 1 to %d", c.Servers, maxServers)
	case c.IsWhole && c.Servers > len(c.Segments):
		return fmt.Errorf("ps: %d servers for %d whole parameters, want at most one each", c.Servers,
			len(c.Segments))
	case len(c.Order) != len(c.Segments):
		return fmt.Errorf("ps: order of %d parameters, want %d", len(c.Order), len(c.Segments))
	case c.Len < end:
		return fmt.Errorf("ps: %d weights, parameters end at %d", c.Len, end)
	case c.SpanBytes < 0 || c.SpanBytes > 0 && c.SpanBytes < 4:
		return fmt.Errorf("ps: spans of %d bytes, want at least 4", c.SpanBytes)
	case c.RowLen < 1:
		return fmt.Errorf("ps: rows of %d elements, want at least 1", c.RowLen)
	}
	for w := range c.Plan.Workers() {
		if n := len(c.Plan.Pieces(w)); n > maxPieces {
			return fmt.Errorf("ps: worker %d has %d pieces, want at most %d", w, n, maxPieces)
		}
	}
	return nil
}

// shareBuckets gives every server an equal range of every bucket.
func (l *Layout) shareBuckets() {
	for _, b := range l.buckets {
		for s := range l.Parts {
			part := comm.Part(b.Hi-b.Lo, len(l.Parts), s)
			if part.Len() > 0 {
				l.Parts[s].Shares = append(l.Parts[s].Shares, [2]int{b.Lo + part.Lo, b.Lo + part.Hi})
			}
		}
	}
}

// shareParameters gives every parameter to one server.
func (l *Layout) shareParameters() {
	segments := l.config.Segments
	largest := slices.Clone(l.config.Order)
	slices.SortStableFunc(largest, func(a, b int) int {
		return cmp.Compare(segments[b].Len, segments[a].Len)
	})
	loads, server := make([]int, len(l.Parts)), make([]int, len(segments))
	for _, param := range largest {
		least := 0
		for s := range loads {
			if loads[s] < loads[least] {
				least = s
			}
		}
		server[param] = least
		loads[least] += segments[param].Len
	}
	for _, param := range l.config.Order {
		p, seg := &l.Parts[server[param]], segments[param]
		p.Shares = append(p.Shares, [2]int{seg.Offset, seg.Offset + seg.Len})
	}
}

// lay computes length and spans, which have at most so many elements.
func (p *Part) lay(buckets []gradsync.Bucket, longest int) {
	for _, share := range p.Shares {
		for i, b := range buckets {
			lo, hi := max(share[0], b.Lo), min(share[1], b.Hi)
			for lo < hi {
				end := min(hi, lo+longest)
				p.Spans = append(p.Spans, Span{i, lo, end, p.Len + lo - share[0]})
				lo = end
			}
		}
		p.Len += share[1] - share[0]
	}
}

// Ranks returns the number of processes with a rank: the workers, and the servers that are apart.
func (l *Layout) Ranks() int {
	if l.config.IsApart {
		return l.Workers + len(l.Homes)
	}
	return l.Workers
}

// Role names what a rank is, such as "worker 1" or "worker 1 with server 1".
func (l *Layout) Role(rank int) string {
	text := ""
	if rank < l.Workers {
		text = fmt.Sprintf("worker %d", rank)
	}
	for s, home := range l.Homes {
		switch {
		case home != rank:
		case text == "":
			text = fmt.Sprintf("server %d", s)
		default:
			text += fmt.Sprintf(" with server %d", s)
		}
	}
	return text
}

// Pick copies a server's part of the flat vector to the server's vector.
func (l *Layout) Pick(own, flat []float32, server int) {
	for _, share := range l.Parts[server].Shares {
		own = own[copy(own, flat[share[0]:share[1]]):]
	}
}

// Place copies a server's vector to its part of the flat vector.
func (l *Layout) Place(flat, own []float32, server int) {
	for _, share := range l.Parts[server].Shares {
		own = own[copy(flat[share[0]:share[1]], own):]
	}
}

// rowBounds returns worker w's range of the rows of a step, in elements.
func (l *Layout) rowBounds(w int) (lo, hi int) {
	lo, hi = l.config.Plan.Run(w)
	return lo * l.config.RowLen, hi * l.config.RowLen
}

// numRows returns the number of elements of the rows of a step.
func (l *Layout) numRows() int { return l.config.Plan.Shards() * l.config.RowLen }
