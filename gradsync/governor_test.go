package gradsync_test

import (
	"math"
	"sync"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/gradsync"
)

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

// Over a slow link the governor selects bf16 in the first step, and every rank gets the reasons.
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
			var told *gradsync.Verdict
			pieces := [][]float32{append([]float32(nil), data[r]...)}
			g, err := gradsync.New("ddp", gradsync.Config{Group: group, Wire: wire(t, "auto"), Pieces: pieces,
				Order: []int{0}, Segments: []gradsync.Segment{{Len: elems}},
				OnVerdict: func(v *gradsync.Verdict) { told = v }})
			if err != nil {
				t.Error(err)
				return
			}
			counts := []int64{int64(r + 1)} // an evaluation may come before the first step
			if err := g.Sum(counts); err != nil || counts[0] != 3 {
				t.Errorf("rank %d: counts %v, %v", r, counts, err)
			}
			for step := range steps {
				before := group.Counters().Total()
				copy(pieces[0], data[r])
				g.Begin(step)
				g.GatherRows(make([]float32, 2*3))
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
			if told.Chosen() != "bf16" || told.Link > 1.2*perSecond || told.Link < perSecond/5 {
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
