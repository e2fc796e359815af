package job

import (
	"fmt"
	"math"
	"time"

	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/train"
)

// WireTrial is what the governor found out about one form of the gradients. Rates are in bytes of
// gradients per second, of the slowest rank.
type WireTrial struct {
	Wire   string  `json:"wire"`
	Ratio  float64 `json:"ratio"`  // of the bytes of gradients to those sent
	Encode float64 `json:"encode"` // rate
	Decode float64 `json:"decode"` // rate
	// BreakEven is the link's rate below which the codec pays: where what it saves on the link,
	// 1 - 1/ratio of the time, is worth times what encoding and decoding take.
	BreakEven float64 `json:"break_even"`
	IsPaying  bool    `json:"is_paying"`
	IsChosen  bool    `json:"is_chosen"`
}

// WireChoice is the governor's verdict.
type WireChoice struct {
	Link   float64     `json:"link"` // bytes per second that the slowest rank sends in an all-reduce
	Trials []WireTrial `json:"trials"`
}

// A trial takes at most trialElems of the gradients and is repeated for trialTime, or on the link, where
// all ranks must do the same, linkTrials times with linkElems; the best time counts.
const (
	trialElems = 1 << 20
	trialTime  = 20 * time.Millisecond
	linkElems  = 1 << 18
	linkTrials = 4
)

// worth is how much longer than encoding and decoding sending has to take. A link works while the
// processors compute, a codec takes them away from it: four workers on two cores that train vgg11 over
// links of 10 Gbit/s are slower with bf16 although their all-reduce by itself is faster, see
// results/lab.
const worth = 2

// governor is the exchange of a run with --wire auto: it lets the first step's gradients wait until it
// has tried the codecs on them and the link, and chooses. From then on it is the strategy with that
// codec. The ranks pool their figures, so all choose the same. It never chooses what rounds
// more than bf16.
type governor struct {
	group  *comm.Group
	pieces [][]float32
	build  func(wire string) (gradsync.Strategy, error)
	tell   func(*WireChoice)

	gradsync.Strategy // nil until the first Wait
	step              int
	rows              train.Rows
	ready             []int
}

func (g *governor) Begin(step int) {
	if g.Strategy != nil {
		g.Strategy.Begin(step)
		return
	}
	g.step = step
}

func (g *governor) Share(rows train.Rows) {
	if g.Strategy != nil {
		g.Strategy.Share(rows)
		return
	}
	g.rows = rows
}

func (g *governor) Ready(param int) {
	if g.Strategy != nil {
		g.Strategy.Ready(param)
		return
	}
	g.ready = append(g.ready, param)
}

func (g *governor) Wait() error {
	if g.Strategy == nil {
		if err := g.decide(); err != nil {
			return err
		}
	}
	return g.Strategy.Wait()
}

// Close frees the strategy, if there is one yet.
func (g *governor) Close() error {
	if g.Strategy == nil {
		return nil
	}
	return g.Strategy.Close()
}

// Buckets returns what was exchanged: nothing before the choice.
func (g *governor) Buckets() []gradsync.Bucket {
	if g.Strategy == nil {
		return nil
	}
	return g.Strategy.Buckets()
}

// decide chooses and brings the strategy to where the step is.
func (g *governor) decide() error {
	choice, err := g.try()
	if err != nil {
		return err
	}
	wire := choice.choose()
	strategy, err := g.build(wire)
	if err != nil {
		return err
	}
	g.tell(choice)
	g.Strategy = strategy
	strategy.Begin(g.step)
	strategy.Share(g.rows)
	for _, param := range g.ready {
		strategy.Ready(param)
	}
	g.rows, g.ready = nil, nil
	return nil
}

// try measures the link and the codecs here and at the peers.
func (g *governor) try() (*WireChoice, error) {
	link, err := g.tryLink()
	if err != nil {
		return nil, err
	}
	choice := &WireChoice{}
	figures := []float64{link}
	for _, name := range []string{"bf16", "int8", "deflate", "zstd"} {
		c, err := newCodec(name)
		if err != nil {
			return nil, err
		}
		t := tryCodec(c, g.pieces[0])
		choice.Trials = append(choice.Trials, t)
		figures = append(figures, t.Ratio, t.Encode, t.Decode)
	}
	if err := g.pool(figures); err != nil {
		return nil, err
	}
	choice.Link = figures[0]
	for i := range choice.Trials {
		t, f := &choice.Trials[i], figures[1+3*i:]
		t.Ratio, t.Encode, t.Decode = f[0], f[1], f[2]
	}
	choice.weigh()
	return choice, nil
}

// weigh computes where each codec breaks even, and whether it pays on this link.
func (c *WireChoice) weigh() {
	for i := range c.Trials {
		t := &c.Trials[i]
		t.BreakEven = max(0, 1-1/t.Ratio) / (worth * t.work())
		t.IsPaying = c.Link < t.BreakEven
	}
}

// work returns the seconds that encoding and decoding a byte take.
func (t *WireTrial) work() float64 { return 1/t.Encode + 1/t.Decode }

// choose marks and names the wire that takes the least time per byte, among fp32 and those that pay and
// are allowed.
func (c *WireChoice) choose() (wire string) {
	best, least := -1, 1/c.Link // fp32
	for i, t := range c.Trials {
		if cost := 1/(t.Ratio*c.Link) + t.work(); t.IsPaying && cost < least && t.Wire != "int8" {
			best, least = i, cost
		}
	}
	if best >= 0 {
		c.Trials[best].IsChosen = true
	}
	return c.chosen()
}

// chosen returns the wire that choose has marked.
func (c *WireChoice) chosen() string {
	for _, t := range c.Trials {
		if t.IsChosen {
			return t.Wire
		}
	}
	return wirePlain
}

// String words the verdict in one line.
func (c *WireChoice) String() string {
	text := fmt.Sprintf("wire: %s, since the link takes %s", c.chosen(), rate(c.Link))
	for _, t := range c.Trials {
		pays := "would pay below"
		if t.IsPaying {
			pays = "pays below"
		}
		text += fmt.Sprintf("; %s %s %s (ratio %.2f, encodes %s, decodes %s)", t.Wire, pays,
			rate(t.BreakEven), t.Ratio, rate(t.Encode), rate(t.Decode))
	}
	return text
}

// rate words bytes per second.
func rate(bytesPerSecond float64) string {
	if bytesPerSecond >= 1e9 {
		return fmt.Sprintf("%.2f GB/s", bytesPerSecond/1e9)
	}
	return fmt.Sprintf("%.3g MB/s", bytesPerSecond/1e6)
}

// tryLink returns the bytes per second that this rank sends in an all-reduce as they are.
func (g *governor) tryLink() (float64, error) {
	n := min(linkElems, len(g.pieces[0]))
	vectors := make([][]float32, len(g.pieces))
	for i := range vectors {
		vectors[i] = make([]float32, n)
	}
	fastest := 0.0
	for range linkTrials {
		if err := g.group.Barrier(); err != nil {
			return 0, err
		}
		before := g.group.Counters()
		start := time.Now()
		if err := g.group.AllReduce(vectors[0], vectors); err != nil {
			return 0, err
		}
		elapsed := time.Since(start).Seconds()
		after := g.group.Counters()
		fastest = max(fastest, float64(after.Total().Sent-before.Total().Sent)/elapsed)
	}
	return fastest, nil
}

// tryCodec measures a codec on a sample of a gradient: four runs of it, evenly spread.
func tryCodec(c comm.Codec, gradient []float32) WireTrial {
	sample := gradient
	if len(sample) > trialElems {
		const runs, each = 4, trialElems / 4
		sample = make([]float32, 0, trialElems)
		for i := range runs {
			at := (len(gradient) - each) / (runs - 1) * i
			sample = append(sample, gradient[at:at+each]...)
		}
	}
	body, decoded := make([]byte, c.MaxBytes(len(sample))), make([]float32, len(sample))
	encode, decode, n := math.Inf(1), math.Inf(1), 0
	for begin := time.Now(); n == 0 || time.Since(begin) < trialTime; {
		start := time.Now()
		n = c.Encode(body, sample)
		middle := time.Now()
		if err := c.Decode(decoded, body[:n]); err != nil {
			panic(err) // it has just been encoded
		}
		encode = min(encode, middle.Sub(start).Seconds())
		decode = min(decode, time.Since(middle).Seconds())
	}
	bytes := 4 * float64(len(sample))
	return WireTrial{Wire: c.Name(), Ratio: bytes / float64(n), Encode: bytes / encode,
		Decode: bytes / decode}
}

// pool replaces figures by the least of all ranks.
func (g *governor) pool(figures []float64) error {
	n, size := len(figures), g.group.Size()
	all := make([]float64, n*size)
	bounds := make([]int, size+1)
	for r := range bounds {
		bounds[r] = 8 * n * r
	}
	copy(all[n*g.group.Rank():], figures)
	if err := g.group.AllGather(comm.Bytes(all), bounds); err != nil {
		return err
	}
	for i, x := range all {
		figures[i%n] = min(figures[i%n], x)
	}
	return nil
}
