package job

import (
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/gradsync"
	"lockstep/train"
)

// The break-even is where the time saved on the link is twice that of encoding and decoding: beyond it
// nothing is chosen, below it what takes the least time, and never what rounds more than bf16.
func TestGovernorsChoice(t *testing.T) {
	trials := []WireTrial{
		{Wire: "bf16", Ratio: 2, Encode: 2e9, Decode: 2e9},           // 1 ns per byte: even at 250 MB/s
		{Wire: "int8", Ratio: 4, Encode: 2e9, Decode: 2e9},           // even at 375 MB/s
		{Wire: "deflate", Ratio: 1.25, Encode: 400e6, Decode: 400e6}, // 5 ns: even at 20 MB/s
	}
	for _, test := range []struct {
		link float64
		want string
	}{{1e9, "fp32"}, {255e6, "fp32"}, {245e6, "bf16"}, {12.5e6, "bf16"}} {
		c := &WireChoice{Link: test.link, Trials: append([]WireTrial(nil), trials...)}
		c.weigh()
		if got := c.choose(); got != test.want {
			t.Errorf("link of %v: %s, want %s", test.link, got, test.want)
		}
		for i, want := range []float64{250e6, 375e6, 20e6} {
			trial := c.Trials[i]
			if d := math.Abs(trial.BreakEven - want); d > 1e3 || trial.IsPaying != (test.link < want) {
				t.Errorf("link of %v: %+v, want break-even at %v", test.link, trial, want)
			}
		}
	}
	c := &WireChoice{Link: 2e6, Trials: trials[2:]}
	c.weigh()
	c.choose()
	if got, want := c.String(), "wire: deflate, since the link takes 2 MB/s; deflate pays below 20 MB/s "+
		"(ratio 1.25, encodes 400 MB/s, decodes 400 MB/s)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// throttled is a mesh that sends no faster than a number of bytes per second.
type throttled struct {
	comm.Mesh
	perSecond, budget float64
	last              time.Time
}

func (m *throttled) Send(peer int, head, body []byte) (int, error) {
	const burst = 4 << 10
	now := time.Now()
	m.budget = min(burst, m.budget+m.perSecond*now.Sub(m.last).Seconds())
	m.last = now
	if int(m.budget) < len(head) || m.budget < 1 {
		return 0, nil
	}
	n, err := m.Mesh.Send(peer, head, body[:min(len(body), int(m.budget)-len(head))])
	m.budget -= float64(n)
	return n, err
}

func (m *throttled) Wait(want []comm.Direction, timeout time.Duration) error {
	return m.Mesh.Wait(want, min(timeout, time.Millisecond))
}

// Over a slow link the governor has gradients travel as bf16, from the first step on, and every rank
// knows why.
func TestGovernorOnASlowLink(t *testing.T) {
	const workers, elems, perSecond, steps = 2, 1 << 14, 5e5, 3 // slow beside a codec under -race
	data := commtest.NewContributions(workers, elems)
	var all sync.WaitGroup
	for r, mesh := range comm.NewLocal(workers) {
		all.Go(func() {
			group, err := comm.NewGroup(&throttled{Mesh: mesh, perSecond: perSecond}, comm.Config{})
			if err != nil {
				t.Error(err)
				return
			}
			defer group.Close()
			var told *WireChoice
			pieces := [][]float32{append([]float32(nil), data[r]...)}
			g := &governor{group: group, pieces: pieces, tell: func(c *WireChoice) { told = c },
				build: func(wire string) (gradsync.Strategy, error) {
					codec, err := newCodec(wire)
					if err != nil {
						return nil, err
					}
					return gradsync.New("ddp", gradsync.Config{Group: group, Codec: codec, Pieces: pieces,
						Order: []int{0}, Segments: []gradsync.Segment{{Len: elems}}})
				}}
			for step := range steps {
				before := group.Counters().Total()
				copy(pieces[0], data[r])
				g.Begin(step)
				g.Share(make(train.Rows, 2*3))
				g.Ready(0)
				if err := g.Wait(); err != nil {
					t.Errorf("rank %d, step %d: %v", r, step, err)
					return
				}
				after := group.Counters().Total()
				if n := after.Sent - before.Sent; step > 0 && n != 2*elems+3*4 {
					t.Errorf("rank %d, step %d: %d bytes sent, want %d", r, step, n, 2*elems+3*4)
				}
			}
			if told.chosen() != "bf16" || told.Link > 1.2*perSecond || told.Link < perSecond/5 {
				t.Errorf("rank %d: %v", r, told)
			}
			want := data[0][7] + data[1][7]
			if d := math.Abs(float64(pieces[0][7] - want)); d > 0.02 {
				t.Errorf("rank %d: the sum is %v, want about %v", r, pieces[0][7], want)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestWiresThatDoNotFit(t *testing.T) {
	c := Default()
	c.Workers, c.Wire, c.Algorithm = 2, "int8", "halving-doubling"
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "would round again") {
		t.Errorf("int8 by halving-doubling: %v", err)
	}
	c.Strategy = "gather-scatter"
	if err := c.Validate(); err != nil {
		t.Errorf("gather-scatter has an algorithm of its own: %v", err)
	}
	for _, wire := range wires() {
		c.Wire = wire
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", wire, err)
		}
	}
}
