package setting

import "lockstep/internal/spelling"

// Values of ServerPlace.
const (
	withWorkers = "workers" // server s lives in the process of worker s mod W
	apart       = "apart"   // each server is a process of its own
)

func serverPlaces() []string { return []string{withWorkers, apart} }

// serverProblems adds what no strategy with servers can do.
func serverProblems(c Config, add adder) {
	if n, ok := c.numParameters(); ok && c.Servers > n {
		add("servers", "%d are more than the %s of %s; want at most %d", c.Servers,
			spelling.Count(n, "parameter"), c.Model, n)
	}
	wire := c.GradientWire()
	switch {
	case !wire.IsServable():
		add("wire", "%s is not for --strategy %s; want a codec such as --wire bf16, or top-k", wire,
			c.Strategy)
	case wire.HasResiduals() && c.KeepsCheckpoints():
		add("checkpoint-every", "no checkpoint of --strategy %s has the gradients that --wire %s holds "+
			"back; want a codec such as --wire bf16, or --strategy ddp", c.Strategy, wire)
	case c.Clip > 0 && c.Servers > 1 && !c.IsAsync():
		add("clip", "no server has the whole gradient that it takes the norm of; want --servers 1")
	case c.Lookahead.Every > 0:
		add("lookahead", "it moves the weights of workers, and the servers of --strategy %s have their "+
			"own; want --strategy ddp", c.Strategy)
	}
}

// numParameters returns the number of the network's parameters, if it does not depend on the data.
func (c Config) numParameters() (n int, ok bool) {
	network, err := c.network()
	if err != nil {
		return 0, false
	}
	return len(network.Parameters()), true
}

// NumServers returns the number of servers of the run.
func (c Config) NumServers() int {
	if c.EvalOnly || !c.takes("servers") {
		return 0
	}
	return c.Servers
}

// NumApart returns how many servers have a process and a rank of their own.
func (c Config) NumApart() int {
	if c.ServerPlace != apart {
		return 0
	}
	return c.NumServers()
}

// World returns the number of ranks: the workers, and after them the servers that are apart.
func (c Config) World() int { return c.Workers + c.NumApart() }

// ServerRank returns the rank at which server s lives: its own, or that of a worker.
func (c Config) ServerRank(s int) int {
	if c.ServerPlace == apart {
		return c.Workers + s
	}
	return s % c.Workers
}

// NumThreads returns the number of compute threads of all processes. A server apart has one; a server with a
// worker works while that waits for it.
func (c Config) NumThreads() int { return c.Workers*c.Threads + c.NumApart() }

// ofStrategies: only some strategies have the setting.
func ofStrategies(setting string) reason {
	return func(c Config) string {
		why := c.notTaken(setting)
		if why != "" {
			why = "it " + why
		}
		return why
	}
}
