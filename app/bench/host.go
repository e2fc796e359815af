package bench

import (
	"cmp"
	"context"
	"slices"

	"lockstep/app/job/chooser"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/strategy"
	"lockstep/cluster"
)

// Layout is how the workers of a row are distributed: as many on each of some hosts. The zero value leaves
// that to the launcher.
type Layout struct {
	Hosts   int `json:"hosts,omitempty"`    // from the first
	PerHost int `json:"per_host,omitempty"` // workers of each
}

// workers returns the number of workers.
func (l Layout) workers() int { return l.Hosts * l.PerHost }

// spread is the workers of a row, with their layout if that is given.
type spread struct {
	Layout
	workers int
}

// spreads lists the numbers of workers of a part's rows.
func (p Part) spreads() []spread {
	var all []spread
	for _, l := range p.Layouts {
		all = append(all, spread{l, l.workers()})
	}
	if all == nil {
		for _, n := range p.Workers {
			all = append(all, spread{workers: n})
		}
	}
	return all
}

// lacksBaseline reports whether a sweep over hosts has one worker on one host, which exchanges with nobody,
// and no strategy for it. The others are compared with that row.
func (p Part) lacksBaseline() bool {
	return slices.Contains(p.Layouts, Layout{1, 1}) && !slices.Contains(p.Strategies, strategy.Single)
}

// crowd returns the most workers that share this machine's cores.
func (p Part) crowd(c Config) int {
	most := 0
	for _, s := range p.spreads() {
		n := s.workers
		if c.OwnCores && s.PerHost > 0 {
			n = s.PerHost
		}
		most = max(most, n)
	}
	return most
}

// checkLayouts refuses layouts that say nothing, or the same twice.
func (p Part) checkLayouts() error {
	for _, l := range p.Layouts {
		if l.Hosts < 1 || l.PerHost < 1 {
			return usage("%d hosts with %d workers each: want at least 1", l.Hosts, l.PerHost)
		}
	}
	for _, c := range p.Conditions {
		if len(p.Layouts) > 0 && c.IsApart() {
			return usage("condition %s: each of its processes has a host of its own; leave out --hosts and "+
				"--per-host, or run bench in a lab with these links", c.Name)
		}
	}
	return nil
}

// place returns the rows with the hosts that each has in e.
func place(rows []Row, e cluster.Environment, cores int) error {
	for i := range rows {
		r := &rows[i]
		on, err := r.environment(e)
		if err != nil {
			return err
		}
		loads := on.Loads(r.Workers, r.NumApart())
		if loads == nil {
			continue
		}
		r.Cores = 0
		isEven := true
		for _, l := range loads {
			r.Cores += cmp.Or(l.Cores, cores)
			isEven = isEven && l.Workers == loads[0].Workers
		}
		r.Layout = Layout{Hosts: len(loads)}
		if isEven {
			r.PerHost = loads[0].Workers
		}
	}
	return nil
}

// environment returns e for a row: with the hosts of its layout only.
func (r Row) environment(e cluster.Environment) (cluster.Environment, error) {
	if r.Hosts == 0 || r.PerHost == 0 {
		return e, nil
	}
	on, err := e.OnHosts(r.Hosts, r.PerHost)
	if err != nil {
		return nil, usage("row %s: %v", r.Name(), err)
	}
	return on, nil
}

// environment returns the environment of the runs.
func environment(o launcher.Options) cluster.Environment {
	if o.Environment == nil {
		return cluster.ProcessEnvironment()
	}
	return o.Environment
}

// layout words the distribution of a row's workers; "" if it has no hosts of its own.
func (r Row) layout() string {
	if r.Hosts == 0 {
		return ""
	}
	return record.Setting{Hosts: r.Hosts, PerHost: r.PerHost}.Layout()
}

// execute runs one row.
func execute(ctx context.Context, row Row, o launcher.Options) (*record.Summary, error) {
	if row.isApart() {
		return runApart(ctx, row, o)
	}
	var err error
	if o.Environment, err = row.environment(environment(o)); err != nil {
		return nil, err
	}
	return chooser.Run(ctx, row.Config, o)
}
