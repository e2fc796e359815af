package commbench

import (
	"slices"

	"lockstep/comm"
)

// Spread is a distribution of seconds.
type Spread struct {
	Median float64 `json:"median"`
	P10    float64 `json:"p10"`
	P90    float64 `json:"p90"`
}

// Record is one measurement.
type Record struct {
	Operation string `json:"operation"`
	Algorithm string `json:"algorithm"` // what ran: "auto" is resolved
	Link      string `json:"link"`
	Codec     string `json:"codec"`
	Ranks     int    `json:"ranks"`
	Bytes     int    `json:"bytes"`
	Repeats   int    `json:"repeats"`
	// Calls is how many calls make one of the Repeats samples.
	Calls int `json:"calls"`
	// Seconds of one call, of the slowest rank.
	Seconds Spread `json:"seconds"`
	// AlgorithmGBPerSecond is Bytes over the median; Bus is that times the share of the vector which
	// every rank must send at least, so that links of equal speed show equal numbers.
	AlgorithmGBPerSecond float64 `json:"algorithm_gb_per_second"`
	BusGBPerSecond       float64 `json:"bus_gb_per_second"`
	// BytesSent is what the busiest rank sent in one call, BytesFormula what theory says.
	BytesSent    int64 `json:"bytes_sent"`
	BytesFormula int64 `json:"bytes_formula"`
	// Samples are the seconds behind the spread.
	Samples []float64 `json:"samples"`
}

// record joins what the ranks found at a point.
func (p point) record(link string, ranks []sampling) Record {
	n := len(ranks)
	r := Record{Operation: p.Op.String(), Link: link, Codec: "fp32", Ranks: n, Bytes: p.Bytes,
		Repeats: len(ranks[0].Seconds), Calls: p.calls(), BytesFormula: p.formula(n)}
	if p.Op == comm.AllReduce {
		r.Algorithm = comm.Resolve(p.Algorithm, n, p.Bytes)
	}
	for i := range ranks[0].Seconds {
		slowest := 0.0
		for _, s := range ranks {
			slowest = max(slowest, s.Seconds[i])
		}
		r.Samples = append(r.Samples, slowest)
	}
	for _, s := range ranks {
		r.BytesSent = max(r.BytesSent, s.Sent)
	}
	r.Seconds = spread(r.Samples)
	if p.Bytes > 0 && r.Seconds.Median > 0 {
		r.AlgorithmGBPerSecond = float64(p.Bytes) / r.Seconds.Median / 1e9
		r.BusGBPerSecond = r.AlgorithmGBPerSecond * p.busShare(n)
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

// formula returns the bytes that the busiest rank sends in one call.
func (p point) formula(ranks int) int64 {
	n, k := int64(p.Bytes), int64(ranks)
	longest := 4 * int64((p.Bytes/4+ranks-1)/ranks) // the longest part of uneven ones
	switch p.Op {
	case comm.AllReduce:
		return 4 * int64(comm.Theory(p.Algorithm, ranks, p.Bytes/4).Sent)
	case comm.ReduceScatter:
		return n - 4*int64(p.Bytes/4/ranks)
	case comm.AllGather:
		return longest * (k - 1)
	case comm.Reduce:
		return n
	case comm.Gather:
		return longest
	case comm.Scatter:
		return n - 4*int64(p.Bytes/4/ranks)
	case comm.Broadcast:
		return n * int64(levels(ranks))
	}
	return 0
}

// levels returns the depth of a binomial tree over n ranks.
func levels(n int) int {
	d := 0
	for 1<<d < n {
		d++
	}
	return d
}

// spread sorts a copy of samples and takes the values nearest to the quantiles.
func spread(samples []float64) Spread {
	s := slices.Sorted(slices.Values(samples))
	at := func(q float64) float64 { return s[int(q*float64(len(s)-1)+0.5)] }
	return Spread{Median: at(0.5), P10: at(0.1), P90: at(0.9)}
}
