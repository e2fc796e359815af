package strategy

// servers describes the strategies whose servers hold the weights and the optimizer.
func servers() []Strategy {
	takes := []string{"bucket", "servers", "server-place"}
	return []Strategy{
		{Name: "ps", Exchange: Updates, Colour: 2, Takes: takes, Ways: []string{"ps",
			"ps:server-place=apart", "ps:servers=2", "ps:servers=2+server-place=apart", "ps:servers=4",
			"ps:servers=4+server-place=apart"},
			Usage: "servers update the weights by gradients that are pushed during the backward pass"},
		{Name: "ps-async", Exchange: Updates, IsAsync: true,
			Inexact: "updates are made in the order in which gradients arrive",
			Takes:   append(takes, "staleness", "backup-workers", "staleness-rate", "replay"),
			Ways:    []string{"ps-async"},
			Usage:   "a free worker takes the next batch, and servers update the weights by every gradient"},
	}
}
