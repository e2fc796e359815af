package strategy

// averages describes the strategies whose workers update their own weights and average them.
func averages() []Strategy {
	const inexact = "workers update their own weights between averages"
	takes := []string{"algorithm", "average-every", "outer-wire", "outer-parts", "outer-overlap"}
	return []Strategy{
		{Name: "local-sgd", Exchange: Averages, Inexact: inexact, Colour: 5, Takes: takes,
			Also:  []string{"postlocalsgd", "parameteraveraging", "modelaveraging", "fedavg"},
			Ways:  []Way{{Predict: averaging}},
			Usage: "workers update their own weights, which are averaged every --average-every steps"},
		{Name: "diloco", Exchange: Averages, Inexact: inexact, Colour: 5,
			Takes: append(takes, "outer-lr", "outer-momentum"), Ways: []Way{{Predict: averaging}},
			Usage: "local-sgd whose averages are gradients of an outer optimizer, Nesterov's SGD"},
	}
}

// averaging predicts workers that exchange their weights every H steps.
func averaging(p Probe) Terms {
	t := p.terms()
	every := max(1, p.AverageEvery)
	t.BusiestBytes = 2 * p.reduced() / every
	t.Exposed = (p.move(p.reduced(), 2*p.buckets()) + p.Bytes*p.Add) / every
	return t
}
