package strategy

import "fmt"

// servers describes the strategies whose servers hold the weights and the optimizer.
func servers() []Strategy {
	takes := []string{"bucket", "servers", "server-place"}
	return []Strategy{
		{Name: "ps", Exchange: Updates, Colour: 2, Takes: takes, Ways: places(),
			Usage: "servers update the weights by gradients that are pushed during the backward pass"},
		{Name: "ps-async", Exchange: Updates, IsAsync: true,
			Inexact: "updates are made in the order in which gradients arrive",
			Takes:   append(takes, "staleness", "backup-workers", "staleness-rate", "replay"),
			Ways:    []Way{{Servers: 1}},
			Usage:   "a free worker takes the next batch, and servers update the weights by every gradient"},
	}
}

// places lists the numbers and places of synchronous servers that are predicted.
func places() []Way {
	ways := []Way{{Servers: 1}, {Options: "server-place=apart", Servers: 1, IsApart: true}}
	for _, n := range []int{2, 4} {
		options := fmt.Sprintf("servers=%d", n)
		ways = append(ways, Way{Options: options, Servers: n},
			Way{Options: options + "+server-place=apart", Servers: n, IsApart: true})
	}
	return ways
}
