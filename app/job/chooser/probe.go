package chooser

import (
	"context"
	"math"
	"time"

	"lockstep/app/host"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/cluster"
)

// ProbeTime is how long the workers of a probe compute.
const ProbeTime = 800 * time.Millisecond

// Probe measures the machines of a run by a short run without exchange, which leaves nothing behind.
func Probe(ctx context.Context, c setting.Config, o launcher.Options) (found record.Probe, err error) {
	if o.Environment == nil {
		o.Environment = cluster.ProcessEnvironment()
	}
	err = withProber(c.On(o.Environment).Complete(), o, func(p *prober) error {
		found, err = p.probe(ctx)
		return err
	})
	return found, err
}

// IsCrowded reports whether the workers of a run leave no core to spare beside computing.
func IsCrowded(c setting.Config) bool { return c.Workers*c.Threads >= host.Cores() }

// probe measures computing and links by a run whose workers exchange nothing.
func (p *prober) probe(ctx context.Context) (record.Probe, error) {
	c, o := p.config, p.options
	c.Strategy, c.For = strategy.None, ProbeTime.String()
	c.Algorithm, c.Wire, c.Rebalance = "auto", "fp32", false
	c.OverlapForward, c.ShardOptimizer = false, false
	c = c.On(o.Environment).Complete()
	o.Probes = true
	s, err := p.run(ctx, c, o)
	if err != nil {
		return record.Probe{}, err
	}
	return probeOf(s, c), nil
}

// probeOf reads a probe out of the summary of a run without exchange.
func probeOf(s *record.Summary, c setting.Config) record.Probe {
	p := record.Probe{Bytes: float64(s.GradientBytes), Tensors: float64(s.Tensors),
		Shards: c.StepShards(), IsCrowded: IsCrowded(c)}
	if t := s.AlgorithmChoice; t != nil {
		p.Link, p.Add = t.Outside, t.Add
		if p.Link.Byte == 0 {
			p.Link = t.Inside
		}
	}
	workers := float64(len(s.Ranks))
	for _, r := range s.Ranks {
		step := r.StepMS.Median / 1e3
		ph := r.Phases
		sum := ph.Forward + ph.Backward + ph.SyncExposed + ph.Optimizer + ph.Data + ph.Other
		part := func(seconds float64) float64 {
			return step * seconds / max(sum, math.SmallestNonzeroFloat64)
		}
		p.Compute = append(p.Compute, step-part(ph.Optimizer))
		p.Forward += part(ph.Forward) / workers
		shards := max(1, float64(c.StepShards())/workers) // of a worker; the last one's backward hides
		p.Backward += part(ph.Backward) / shards / workers
		p.Update = max(p.Update, part(ph.Optimizer))
	}
	return p
}
