package commbench

import (
	"slices"

	"lockstep/comm"
	"lockstep/comm/codec"
	"lockstep/shard"
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
	Asked     string `json:"asked"`     // the algorithm asked for; "" where there is none to choose
	Algorithm string `json:"algorithm"` // what ran: "auto" is resolved
	Link      string `json:"link"`
	Codec     string `json:"codec"`
	Hosts     int    `json:"hosts"`
	Ranks     int    `json:"ranks"`
	Bytes     int    `json:"bytes"`
	Repeats   int    `json:"repeats"`
	// Calls is how many calls make one of the Repeats samples.
	Calls int `json:"calls"`
	// Seconds of one call, of the slowest rank.
	Seconds Spread `json:"seconds"`
	// SecondsPredicted is what was predicted from the links' latency and speed, for fp32; else 0.
	SecondsPredicted float64 `json:"seconds_predicted"`
	// AlgorithmGBPerSecond is Bytes over the median; Bus is that times the share of the vector which
	// every rank must send at least, so that links of equal speed show equal numbers.
	AlgorithmGBPerSecond float64 `json:"algorithm_gb_per_second"`
	BusGBPerSecond       float64 `json:"bus_gb_per_second"`
	// BytesSent is what the busiest rank sent in one call, BytesFormula what theory says: with a codec
	// whose lengths vary the most that there can be.
	BytesSent    int64 `json:"bytes_sent"`
	BytesFormula int64 `json:"bytes_formula"`
	// Samples are the seconds behind the spread.
	Samples []float64 `json:"samples"`
}

// group is a group of ranks that has measured.
type group struct {
	link  string
	hosts comm.Topology
	ranks []findings
}

// record joins what the ranks found at point number at.
func (g group) record(p point, at int) Record {
	n := len(g.ranks)
	first := g.ranks[0].Points[at]
	r := Record{Operation: p.Op.String(), Link: g.link, Codec: p.Codec, Hosts: g.hosts.Hosts(), Ranks: n,
		Bytes: p.Bytes, Repeats: len(first.Seconds), Calls: p.calls()}
	if p.Op == comm.AllReduce {
		r.Asked, r.Algorithm = p.Algorithm, g.algorithm(p)
		p.Algorithm = r.Algorithm
		r.SecondsPredicted = g.predict(p)
	}
	r.BytesFormula = g.formula(p)
	for i := range first.Seconds {
		slowest := 0.0
		for _, found := range g.ranks {
			slowest = max(slowest, found.Points[at].Seconds[i])
		}
		r.Samples = append(r.Samples, slowest)
	}
	for _, found := range g.ranks {
		r.BytesSent = max(r.BytesSent, found.Points[at].Sent)
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

// algorithm returns what ran: of several segments' the first one's.
func (g group) algorithm(p point) string {
	form, err := codec.New(p.Codec)
	if err != nil {
		panic(err) // Validate has seen the name
	}
	return comm.Pick(p.Algorithm, g.ranks[0].Tuning, g.hosts, form, p.Bytes)
}

// schedules calls f with a rank's schedule of each segment of an all-reduce.
func (g group) schedules(p point, rank int, f func(*comm.Schedule)) {
	plan, err := shard.Cut(len(g.ranks), len(g.ranks))
	if err != nil {
		panic(err) // a group has ranks
	}
	for elems := p.Bytes / 4; elems > 0; elems -= comm.SegmentElems {
		s, err := comm.PlanAllReduce(p.Algorithm, g.hosts, plan, rank, min(elems, comm.SegmentElems))
		if err != nil {
			panic(err) // Validate has seen the name
		}
		f(s)
	}
}

// predict returns the seconds of an all-reduce.
func (g group) predict(p point) (seconds float64) {
	if p.Codec == plain {
		g.schedules(p, 0, func(s *comm.Schedule) { seconds += g.ranks[0].Tuning.Predict(s, g.hosts, 0) })
	}
	return seconds
}

// encoded returns the most bytes that the busiest rank sends in one all-reduce with a codec.
func (g group) encoded(p point, form comm.Codec) (most int64) {
	for rank := range g.ranks {
		sum := int64(0)
		g.schedules(p, rank, func(s *comm.Schedule) {
			for _, step := range s.Steps {
				for _, t := range step.Sends {
					sum += int64(form.MaxBytes(t.Len()))
				}
			}
		})
		most = max(most, sum)
	}
	return most
}

// formula returns the bytes that the busiest rank sends in one call.
func (g group) formula(p point) int64 {
	ranks := len(g.ranks)
	n, k := int64(p.Bytes), int64(ranks)
	longest := 4 * int64((p.Bytes/4+ranks-1)/ranks) // the longest part of uneven ones
	switch p.Op {
	case comm.AllReduce:
		if form, err := codec.New(p.Codec); err == nil && form != nil {
			return g.encoded(p, form)
		}
		return 4 * int64(comm.Theory(p.Algorithm, g.hosts, p.Bytes/4).Sent)
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
