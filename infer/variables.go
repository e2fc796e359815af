package infer

import (
	"lockstep/compute"
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
