package strategy

// averages describes the strategies whose workers update their own weights and average them.
func averages() []Strategy {
	const inexact = "workers update their own weights between averages"
	takes := []string{"algorithm", "average-every", "outer-wire", "outer-parts", "outer-overlap"}
	return []Strategy{
		{Name: "local-sgd", Exchange: Averages, Inexact: inexact, Colour: 5, Takes: takes,
			Ways:  []string{"local-sgd"},
			Usage: "workers update their own weights, which are averaged every --average-every steps"},
		{Name: "diloco", Exchange: Averages, Inexact: inexact, Colour: 5,
			Takes: append(takes, "outer-lr", "outer-momentum"), Ways: []string{"diloco"},
			Usage: "local-sgd whose averages are gradients of an outer optimizer, Nesterov's SGD"},
	}
}
