package strategy

import (
	"fmt"
	"math"
)

// servers describes the strategies whose servers hold the weights and the optimizer.
func servers() []Strategy {
	takes := []string{"bucket", "servers", "server-place"}
	return []Strategy{
		{Name: "ps", Exchange: Updates, Colour: 2, Takes: takes, Ways: places(),
			Also:  []string{"parameterserver", "paramserver", "syncps"},
			Usage: "servers update the weights by gradients that are pushed during the backward pass"},
		{Name: "ps-async", Exchange: Updates, IsAsync: true,
			Inexact: "updates are made in the order in which gradients arrive",
			Takes:   append(takes, "staleness", "backup-workers", "staleness-rate", "replay"),
			Also:    []string{"asyncps", "asynchronous", "asgd", "downpour"},
			Ways:    []Way{{Predict: asynchronous}},
			Usage:   "a free worker takes the next batch, and servers update the weights by every gradient"},
	}
}

// places lists the numbers and places of synchronous servers that are predicted.
func places() []Way {
	ways := []Way{{Predict: servedBy(1, false)}, {Options: "server-place=apart", Predict: servedBy(1, true)}}
	for _, n := range []int{2, 4} {
		options := fmt.Sprintf("servers=%d", n)
		ways = append(ways, Way{Options: options, Predict: servedBy(n, false)},
			Way{Options: options + "+server-place=apart", Predict: servedBy(n, true)})
	}
	return ways
}

// servedBy predicts synchronous parameter servers. In each of the two directions the busiest process moves
// the gradients of all workers for its part of the weights, or all other parts of its own gradient.
func servedBy(servers int, isApart bool) func(p Probe) Terms {
	return func(p Probe) Terms {
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
func asynchronous(p Probe) Terms {
	rate, exchange := 0.0, 2*p.move(p.Bytes, p.buckets())
	for _, c := range p.Compute {
		rate += 1 / (p.workers()*c + exchange)
	}
	t := Terms{Update: p.Update, BusiestBytes: 2 * (p.workers() - 1) / p.workers() * p.Bytes}
	t.Compute = 1 / rate
	if limit := p.Bytes * p.Link.Byte; limit > t.Compute {
		t.Exposed = limit - t.Compute
	}
	return t
}
