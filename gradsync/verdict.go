package gradsync

import (
	"fmt"
	"math"
	"slices"
	"time"

	"lockstep/comm"
	"lockstep/random"
)

// WireTrial is the measurement of one wire. Rates are in bytes of gradients per second, of the
// slowest rank.
type WireTrial struct {
	Wire   string  `json:"wire"`
	Ratio  float64 `json:"ratio"`  // size of the gradients over the bytes sent
	Encode float64 `json:"encode"` // rate of compressing and encoding
	Decode float64 `json:"decode"` // rate of decoding and restoring
	// BreakEven is the rate of the link below which the wire pays: the time saved on the link, 1 -
	// 1/Ratio of it, is then more than worth times the time of encoding and decoding.
	BreakEven float64 `json:"break_even"`
	// Speed is the speed relative to fp32 over this link, encoding and decoding included.
	Speed    float64 `json:"speed"`
	IsPaying bool    `json:"is_paying"`
	IsChosen bool    `json:"is_chosen"`
}

// Verdict is the cost and gain of wires over a link.
type Verdict struct {
	Asked  string      `json:"asked"` // the wire of the configuration; with "auto" the chosen one is measured
	Link   float64     `json:"link"`  // bytes per second that the slowest rank sends in an all-reduce
	Trials []WireTrial `json:"trials"`
	Spent  comm.Count  `json:"-"` // what this rank exchanged to measure, which is no gradient
}

// A trial measures at most trialElems of the gradients. It repeats for trialTime; on the link,
// where all ranks must do the same, linkTrials times with linkElems. The best time counts.
const (
	trialElems = 1 << 20
	trialTime  = 20 * time.Millisecond
	linkElems  = 1 << 18
	linkTrials = 4
)

// worth is how many times longer than encoding and decoding the saved transfer must be. A link
// works in parallel with the processors, while a codec takes time from them: four workers on two
// cores that train vgg11 over links of 10 Gbit/s are slower with bf16, although the all-reduce by
// itself is faster; see results/lab.
const worth = 2

// Judge measures the links of c's group and every wire that changes the sums, on random gradients
// of c's sizes, and returns their costs and gains. It is for the start of a run whose user chose
// the wire. Lossless codecs are omitted, because their gain depends on the gradients. All ranks
// must call it.
func Judge(c Config) (*Verdict, error) {
	lossy := slices.DeleteFunc(Wires(), func(w Wire) bool { return !w.IsLossy() })
	v, err := judge(&c, lossy, newSample(&c, nil))
	if err != nil {
		return nil, err
	}
	for i := range v.Trials {
		v.Trials[i].IsChosen = v.Trials[i].Wire == c.Wire.String()
	}
	return v, nil
}

// judge measures the link and the wires on this rank and combines the figures of all ranks.
func judge(c *Config, wires []Wire, s *sample) (*Verdict, error) {
	before := c.Group.Counters().Total()
	link, err := tryLink(c)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Asked: c.Wire.String()}
	figures := []float64{link}
	for _, w := range wires {
		if w.isAuto || w.String() == (Wire{}).String() {
			continue
		}
		t, err := s.try(w)
		if err != nil {
			return nil, err
		}
		v.Trials = append(v.Trials, t)
		figures = append(figures, t.Ratio, t.Encode, t.Decode)
	}
	if err := pool(c.Group, figures); err != nil {
		return nil, err
	}
	v.Link = figures[0]
	for i := range v.Trials {
		t, f := &v.Trials[i], figures[1+3*i:]
		t.Ratio, t.Encode, t.Decode = f[0], f[1], f[2]
	}
	v.weigh()
	v.Spent = c.Group.Counters().Total().Less(before)
	return v, nil
}

// weigh computes where each wire breaks even and whether it pays on this link.
func (v *Verdict) weigh() {
	for i := range v.Trials {
		t := &v.Trials[i]
		t.BreakEven = max(0, 1-1/t.Ratio) / (worth * t.work())
		t.IsPaying = v.Link < t.BreakEven
		t.Speed = 1 / (1/t.Ratio + v.Link*t.work())
	}
}

// work returns the seconds to encode and decode a byte.
func (t *WireTrial) work() float64 { return 1/t.Encode + 1/t.Decode }

// choose selects the wire with the least time per byte, among fp32 and the wires that pay and round
// no more than bf16.
func (v *Verdict) choose() (wire string) {
	best, fastest := -1, 1.0 // fp32
	for i, t := range v.Trials {
		if t.IsPaying && t.Speed > fastest && isChoosable(t.Wire) {
			best, fastest = i, t.Speed
		}
	}
	if best >= 0 {
		v.Trials[best].IsChosen = true
	}
	return v.Chosen()
}

// isChoosable reports whether "auto" may select the wire: not one that keeps residuals or rounds
// elements in blocks.
func isChoosable(name string) bool {
	w, err := ParseWire(name)
	return err == nil && !w.HasResiduals() && w.loss() != comm.Blockwise
}

// Chosen returns the wire of the run.
func (v *Verdict) Chosen() string {
	for _, t := range v.Trials {
		if t.IsChosen {
			return t.Wire
		}
	}
	return Wire{}.String()
}

// String describes the verdict in one line.
func (v *Verdict) String() string {
	why := "since"
	if v.Asked != "auto" {
		why = "as asked;"
	}
	text := fmt.Sprintf("wire: %s, %s the link carries %s", v.Chosen(), why, rate(v.Link))
	for _, t := range v.Trials {
		pays := "would pay below"
		if t.IsPaying {
			pays = "pays below"
		}
		text += fmt.Sprintf("; %s %s %s (ratio %.3g, here %.2gx as fast as fp32)", t.Wire, pays,
			rate(t.BreakEven), t.Ratio, t.Speed)
	}
	return text
}

// rate formats bytes per second.
func rate(bytesPerSecond float64) string {
	if bytesPerSecond >= 1e9 {
		return fmt.Sprintf("%.2f GB/s", bytesPerSecond/1e9)
	}
	return fmt.Sprintf("%.3g MB/s", bytesPerSecond/1e6)
}

// tryLink returns the bytes per second that this rank sends in an all-reduce without a codec.
func tryLink(c *Config) (float64, error) {
	vectors := make([][]float32, len(c.Pieces))
	for i := range vectors {
		vectors[i] = make([]float32, min(linkElems, len(c.Pieces[0])))
	}
	fastest := 0.0
	for range linkTrials {
		if err := c.Group.Barrier(); err != nil {
			return 0, err
		}
		before := c.Group.Counters()
		start := time.Now()
		if err := c.Group.AllReduce(vectors[0], vectors); err != nil {
			return 0, err
		}
		elapsed := time.Since(start).Seconds()
		after := c.Group.Counters()
		fastest = max(fastest, float64(after.Total().Sent-before.Total().Sent)/elapsed)
	}
	return fastest, nil
}

// sample is a smaller copy of a network, with fewer elements in each parameter, and its gradient.
type sample struct {
	all      []Segment // of the real network
	elems    int       // of the real network
	segments []Segment
	order    []int
	gradient []float32
}

// sampleSeed separates the noise of samples from other random numbers.
const sampleSeed = 0x6a75646765 // "judge"

// newSample takes the first rows of every parameter so that about trialElems elements are left. If
// gradient is nil it makes random values.
func newSample(c *Config, gradient []float32) *sample {
	total := 0
	for _, s := range c.Segments {
		total += s.Len
	}
	part := min(1, float64(trialElems)/float64(max(total, 1)))
	s := &sample{all: c.Segments, elems: total}
	noise := random.Derive(sampleSeed)
	for _, param := range c.Order {
		from := c.Segments[param]
		to := Segment{Offset: len(s.gradient), Len: int(math.Ceil(part * float64(from.Len)))}
		if from.Rows*from.Cols > 0 {
			to.Rows, to.Cols = int(math.Ceil(part*float64(from.Rows))), from.Cols
			to.Len = to.Rows * to.Cols
		}
		for i := range to.Len {
			x := noise.Symmetric(uint64(to.Offset+i), 1)
			if gradient != nil {
				x = gradient[from.Offset+i]
			}
			s.gradient = append(s.gradient, x)
		}
		s.order = append(s.order, len(s.segments))
		s.segments = append(s.segments, to)
	}
	return s
}

// try measures a wire with a group of one rank, which sends nothing.
func (s *sample) try(w Wire) (WireTrial, error) {
	g, err := comm.NewGroup(comm.NewLocal(1)[0], comm.Config{})
	if err != nil {
		return WireTrial{}, err
	}
	defer g.Close()
	n := len(s.gradient)
	piece := make([]float32, n)
	buckets := []Bucket{{Params: s.order, Hi: n}}
	squeeze := w.newCompressor(&Config{Group: g, Segments: s.segments, Order: s.order,
		Pieces: [][]float32{piece}}, buckets)
	codec := w.Codec()
	vector := squeeze.vectors(0)[0]
	var body []byte
	if codec != nil {
		body = make([]byte, codec.MaxBytes(max(len(vector), 1)))
	}
	decoded := make([]float32, len(vector))
	t := WireTrial{Wire: w.String()}
	encode, decode, sent := math.Inf(1), math.Inf(1), 0
	for begin := time.Now(); sent == 0 || time.Since(begin) < trialTime; {
		copy(piece, s.gradient)
		start := time.Now()
		squeeze.compress(0)
		sent = 4 * len(vector)
		if codec != nil {
			sent = codec.Encode(body, vector)
		}
		middle := time.Now()
		if codec != nil {
			if err := codec.Decode(decoded, body[:sent]); err != nil {
				return t, err
			}
		}
		if err := squeeze.restore(func(int, *comm.Handle) {}); err != nil {
			return t, err
		}
		encode = min(encode, middle.Sub(start).Seconds())
		decode = min(decode, time.Since(middle).Seconds())
	}
	t.Ratio = 4 * float64(n) / float64(sent)
	if w.volume != nil {
		t.Ratio = float64(s.elems) / float64(w.volume(s.all))
	}
	t.Encode, t.Decode = 4*float64(n)/encode, 4*float64(n)/decode
	return t, nil
}

// pool replaces figures by the minima over all ranks.
func pool(g *comm.Group, figures []float64) error {
	n, size := len(figures), g.Size()
	all := make([]float64, n*size)
	bounds := make([]int, size+1)
	for r := range bounds {
		bounds[r] = 8 * n * r
	}
	copy(all[n*g.Rank():], figures)
	if err := g.AllGather(comm.Bytes(all), bounds); err != nil {
		return err
	}
	for i, x := range all {
		figures[i%n] = min(figures[i%n], x)
	}
	return nil
}
