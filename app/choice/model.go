package choice

import (
	"fmt"
	"math"
	"slices"

	"lockstep/app/record"
	"lockstep/shard"
)

// model predicts the terms of one way.
type model struct {
	Way
	predict    func(p probe) record.StrategyTerms
	isBalanced bool // shards go from slow workers to fast ones
}

// terms predicts the terms of a step and their sum.
func (m model) terms(p record.Probe) record.StrategyTerms {
	t := m.predict(probe{p})
	t.Step = t.Compute + t.Waiting + t.Exposed + t.Update
	return t
}

// models lists every way with its prediction.
func models() []model {
	plain := func(strategy, options string, predict func(p probe) record.StrategyTerms) model {
		return model{Way: Way{Strategy: strategy, Options: options}, predict: predict}
	}
	moving := func(strategy string, even func(p probe) record.StrategyTerms) model {
		return model{Way: Way{Strategy: strategy, Options: "rebalance"}, predict: balanced(even),
			isBalanced: true}
	}
	all := []model{
		plain("gather-scatter", "", gatherScatter),
		plain("all-reduce", "", allReduce),
		moving("all-reduce", allReduce),
		plain("ddp", "", ddp(0)),
		plain("ddp", "overlap-forward", ddp(1)),
		moving("ddp", ddp(0)),
		plain("ps", "", servedBy(1, false)),
		plain("ps", "server-place=apart", servedBy(1, true)),
		plain("ps-async", "", asynchronous),
		plain("local-sgd", "", averaging),
		plain("diloco", "", averaging),
	}
	for _, servers := range []int{2, 4} {
		options := fmt.Sprintf("servers=%d", servers)
		all = append(all, plain("ps", options, servedBy(servers, false)),
			plain("ps", options+"+server-place=apart", servedBy(servers, true)))
	}
	return all
}

// probe computes with what was measured.
type probe struct{ record.Probe }

func (p probe) workers() float64 { return float64(len(p.Compute)) }

// terms returns the computation of even parts, with the wait for the slowest worker.
func (p probe) terms() record.StrategyTerms {
	mean := 0.0
	for _, c := range p.Compute {
		mean += c / p.workers()
	}
	return record.StrategyTerms{Compute: mean, Waiting: slices.Max(p.Compute) - mean, Update: p.Update}
}

// isEven reports whether no worker is much slower than the others.
func (p probe) isEven() bool {
	t := p.terms()
	return t.Waiting < 0.1*t.Compute
}

// moving is the processor time of moving a byte through memory or the kernel, in seconds: the order of what
// loopback TCP takes on current processors.
const moving = 1e-9

// move returns the seconds of an exchange of so many bytes, in and out at once, in some steps.
func (p probe) move(bytes, steps float64) float64 { return steps*p.Link.Latency + bytes*p.Link.Byte }

// beside returns what is exposed of an exchange of so many bytes that takes some seconds beside a
// computation, with a last part that begins when the computation ends. Where no core is to spare, moving
// the hidden bytes takes processor time from computing.
func (p probe) beside(bytes, exchange, last, computation float64) float64 {
	exposed := max(last, exchange-computation)
	if p.IsCrowded {
		exposed += min(exchange-exposed, bytes*min(moving, p.Link.Byte))
	}
	return exposed
}

// reduced returns the bytes that each worker sends, and receives, in an all-reduce.
func (p probe) reduced() float64 { return 2 * p.Bytes * (p.workers() - 1) / p.workers() }

// buckets returns the number of buckets of the gradient.
func (p probe) buckets() float64 { return max(1, math.Ceil(p.Bytes/max(1, p.Bucket))) }

func gatherScatter(p probe) record.StrategyTerms {
	t := p.terms()
	bytes := 2 * (p.workers() - 1) * p.Bytes // in, then out of rank 0
	t.BusiestBytes = bytes
	t.Exposed = p.move(bytes, 2) + (p.workers()-1)*p.Bytes*p.Add
	return t
}

func allReduce(p probe) record.StrategyTerms {
	t := p.terms()
	t.BusiestBytes = 2 * p.reduced()
	t.Exposed = p.move(p.reduced(), 2*p.Tensors) + p.Bytes*p.Add
	return t
}

// ddp hides the exchange behind the backward pass and a part of the next forward pass.
func ddp(forward float64) func(p probe) record.StrategyTerms {
	return func(p probe) record.StrategyTerms {
		t := p.terms()
		t.BusiestBytes = 2 * p.reduced()
		exchange := p.move(p.reduced(), 2*p.buckets()) + p.Bytes*p.Add
		last := (1 - forward) * exchange / p.buckets()
		t.Exposed = p.beside(p.reduced(), exchange, last, p.Backward+forward*p.Forward)
		return t
	}
}

// balanced replaces the even parts of a prediction by whole shards that end as early as they can.
func balanced(even func(p probe) record.StrategyTerms) func(p probe) record.StrategyTerms {
	return func(p probe) record.StrategyTerms {
		t := even(p)
		t.Compute, t.Waiting = p.makespan(), 0
		return t
	}
}

// makespan returns when the last worker has computed its shards, dealt out by how fast the workers are.
func (p probe) makespan() float64 {
	speeds := make([]shard.Speed, len(p.Compute))
	for rank, c := range p.Compute {
		speeds[rank].Each = c * p.workers() / float64(p.Shards)
	}
	plan, err := shard.Balance(p.Shards, speeds)
	if err != nil { // fewer shards than workers
		return slices.Max(p.Compute)
	}
	return plan.Time(speeds)
}

// servedBy predicts synchronous parameter servers. In each of the two directions the busiest process moves
// the gradients of all workers for its part of the weights, or all other parts of its own gradient.
func servedBy(servers int, isApart bool) func(p probe) record.StrategyTerms {
	return func(p probe) record.StrategyTerms {
		t := p.terms()
		part := p.Bytes / float64(servers)
		atServer, atWorker := p.workers()*part, p.Bytes
		if !isApart {
			hosted := math.Ceil(float64(servers) / p.workers()) // servers of the busiest process
			atServer = (p.workers() - 1) * part * hosted
			if float64(servers) >= p.workers() {
				atWorker = p.Bytes - part*math.Floor(float64(servers)/p.workers())
			}
		}
		busiest := max(atServer, atWorker)
		half := p.move(busiest, p.buckets())
		t.BusiestBytes = 2 * busiest
		if !isApart {
			t.BusiestBytes = 2 * (atServer + p.Bytes - part)
			if float64(servers) < p.workers() {
				t.BusiestBytes = 2 * max(atServer+p.Bytes-part, p.Bytes)
			}
		}
		last := half / p.buckets()
		t.Exposed = p.beside(busiest, half, last, p.Backward) + p.beside(busiest, half, last, p.Forward) +
			p.workers()*part*p.Add
		t.Update = p.Update / float64(servers)
		return t
	}
}

// asynchronous predicts one server that nobody waits at: the rates of the workers add up, as far as the
// server's link lets them. A worker computes whole batches.
func asynchronous(p probe) record.StrategyTerms {
	rate, exchange := 0.0, 2*p.move(p.Bytes, p.buckets())
	for _, c := range p.Compute {
		rate += 1 / (p.workers()*c + exchange)
	}
	t := record.StrategyTerms{Update: p.Update, BusiestBytes: 2 * (p.workers() - 1) / p.workers() * p.Bytes}
	t.Compute = 1 / rate
	if limit := p.Bytes * p.Link.Byte; limit > t.Compute {
		t.Exposed = limit - t.Compute
	}
	return t
}

// averaging predicts workers that exchange their weights every H steps.
func averaging(p probe) record.StrategyTerms {
	t := p.terms()
	every := max(1, p.AverageEvery)
	t.BusiestBytes = 2 * p.reduced() / every
	t.Exposed = (p.move(p.reduced(), 2*p.buckets()) + p.Bytes*p.Add) / every
	return t
}
