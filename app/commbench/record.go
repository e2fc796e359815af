package commbench

import (
	"math/bits"
	"slices"

	"lockstep/app/record"
	"lockstep/comm"
	"lockstep/comm/codec"
	"lockstep/shard"
)

// group is a group of ranks that has measured.
type group struct {
	link       string
	encryption string
	streams    int
	hosts      comm.Topology
	ranks      []findings
}

// record joins what the ranks found at point number at.
func (g group) record(p point, at int) record.Collective {
	n := len(g.ranks)
	first := g.ranks[0].Points[at]
	r := record.Collective{Operation: p.Op.String(), Link: g.link,
		Encryption: g.encryption, Streams: g.streams, Codec: p.Codec, Hosts: g.hosts.Hosts(), Ranks: n,
		Bytes: p.Bytes, Repeats: len(first.Seconds), Calls: p.calls()}
	if p.Op == comm.AllReduce {
		r.Asked, r.Algorithm = p.Algorithm, g.algorithm(p, min(p.Bytes, 4*comm.SegmentElems))
		r.Predicted = g.predict(p)
	}
	r.Formula = g.formula(p)
	for i := range first.Seconds {
		slowest := 0.0
		for _, found := range g.ranks {
			slowest = max(slowest, found.Points[at].Seconds[i])
		}
		r.Samples = append(r.Samples, slowest)
	}
	for _, found := range g.ranks {
		r.Sent = max(r.Sent, found.Points[at].Sent)
	}
	r.Seconds = spread(r.Samples)
	if p.Bytes > 0 && r.Seconds.Median > 0 {
		r.Rate = float64(p.Bytes) / r.Seconds.Median / 1e9
		r.Bus = r.Rate * p.busShare(n)
	}
	return r
}

// busShare is the part of the vector that crosses every rank's link at the least.
func (p point) busShare(ranks int) float64 {
	part := float64(ranks-1) / float64(ranks)
	switch p.Op {
	case comm.AllReduce:
		return 2 * part
	case comm.ReduceScatter, comm.AllGather, comm.Gather, comm.Scatter:
		return part
	}
	return 1
}

// algorithm returns what ran for a vector of some bytes.
func (g group) algorithm(p point, bytes int) string {
	return comm.Pick(p.Algorithm, g.ranks[0].Tuning, g.hosts, p.codec(), bytes)
}

// codec returns the point's codec, which Validate has seen.
func (p point) codec() comm.Codec {
	form, err := codec.New(p.Codec)
	if err != nil {
		panic(err)
	}
	return form
}

// segments calls f with the algorithm and the number of elements of each segment of an all-reduce.
func (g group) segments(p point, f func(algorithm string, elems int)) {
	for left := p.Bytes / 4; left > 0; left -= comm.SegmentElems {
		elems := min(left, comm.SegmentElems)
		f(g.algorithm(p, 4*elems), elems)
	}
}

// schedule returns a rank's schedule of a segment.
func (g group) schedule(algorithm string, rank, elems int) *comm.Schedule {
	plan, err := shard.Cut(len(g.ranks), len(g.ranks))
	if err != nil {
		panic(err) // a group has ranks
	}
	s, err := comm.PlanAllReduce(algorithm, g.hosts, plan, rank, elems)
	if err != nil {
		panic(err) // Validate has seen the name
	}
	return s
}

// predict returns the seconds of an all-reduce.
func (g group) predict(p point) (seconds float64) {
	if p.Codec == plain {
		g.segments(p, func(algorithm string, elems int) {
			seconds += g.ranks[0].Tuning.Predict(g.schedule(algorithm, 0, elems), g.hosts, 0)
		})
	}
	return seconds
}

// reduced returns the bytes that a rank sends in one all-reduce, with a codec the most that there can be.
func (g group) reduced(p point, rank int) (bytes int) {
	form := p.codec()
	g.segments(p, func(algorithm string, elems int) {
		if form == nil {
			bytes += 4 * comm.Theory(algorithm, g.hosts, rank, elems).Sent
			return
		}
		for _, step := range g.schedule(algorithm, rank, elems).Steps {
			for _, t := range step.Sends {
				bytes += form.MaxBytes(t.Len())
			}
		}
	})
	return bytes
}

// formula returns the bytes that the busiest rank sends in one call.
func (g group) formula(p point) int64 {
	n, ranks := p.Bytes, len(g.ranks)
	longest, shortest := 4*((n/4+ranks-1)/ranks), 4*(n/4/ranks) // parts of an uneven vector
	bytes := 0
	switch p.Op {
	case comm.AllReduce:
		bytes = comm.Busiest(ranks, func(r int) comm.Cost { return comm.Cost{Sent: g.reduced(p, r)} }).Sent
	case comm.ReduceScatter, comm.Scatter:
		bytes = n - shortest
	case comm.AllGather:
		bytes = longest * (ranks - 1)
	case comm.Reduce:
		bytes = n
	case comm.Gather:
		bytes = longest
	case comm.Broadcast:
		bytes = n * bits.Len(uint(ranks-1)) // levels of a binomial tree
	}
	return int64(bytes)
}

// spread sorts a copy of samples and takes the values nearest to the quantiles.
func spread(samples []float64) record.Quantiles {
	s := slices.Sorted(slices.Values(samples))
	at := func(q float64) float64 { return s[int(q*float64(len(s)-1)+0.5)] }
	return record.Quantiles{Median: at(0.5), P10: at(0.1), P90: at(0.9)}
}
