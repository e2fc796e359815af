package infer

import (
	"slices"

	"lockstep/compute"
	"lockstep/data/table"
	"lockstep/graph"
)

// Variables returns the weights and running statistics of the network, as Load sets them, for programs that
// write them in another format. Threads, batches and the rest do not matter.
func (c Config) Variables() (*graph.Variables, error) {
	cpu, err := compute.Open(compute.Config{ISA: compute.Best(), Threads: 1})
	if err != nil {
		return nil, err
	}
	defer cpu.Close()
	g := graph.New()
	o := graph.Options{Logits: c.Network.Build(c.Network.Samples(g, 1))}
	p, err := graph.Compile(g, graph.NewHost(cpu), o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	v := graph.NewVariables(p)
	return v, c.Load(v)
}

// Unscale makes the Values of c those of a network whose outputs are the numbers themselves, and returns what
// outputs are multiplied with for that, and what is then added; nil if they are.
func (c *Config) Unscale() (scale, offset []float32) {
	isScaled := func(v table.Value) bool { return v.Mean != 0 || v.Std != 1 }
	if !slices.ContainsFunc(c.Values, isScaled) {
		return nil, nil
	}
	c.Values = slices.Clone(c.Values)
	for i, v := range c.Values {
		scale, offset = append(scale, v.Std), append(offset, v.Mean)
		c.Values[i] = table.Value{Name: v.Name, Std: 1}
	}
	return scale, offset
}
