package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/data"
)

// Config is a benchmark as values.
type Config struct {
	Parts   []Part
	Repeats int           // runs of every row, at least 1
	Seeds   []uint64      // of the rounds, in turn; none: that of each part
	Budget  time.Duration // that all runs may take, to which they are cut; 0: as long as they do
	Limit   time.Duration // that all runs may take, though none is cut before; 0: as long as they do
	Order   uint64        // seed of the order of the rows in each round, see [compare.Order]
	Copies  int           // times that every row is listed, to find out how often equal rows differ; 0: 1
	Cores   int           // usable logical processors of this machine

	Inquiry *record.Inquiry // what the plan asks; nil: nothing

	// Peer adds rows of another program, [peer.Name], beside those that it can do too; "": none.
	Peer string

	// Precision adds rounds until the interval of each row has at most this relative half width, or the
	// budget or [MaxAdded] rounds are over; 0: the rounds of Repeats.
	Precision float64

	Out string // folder for results.json and the run directories; must not exist or be empty

	// OneProcess adds, to every part with several workers, strategy single with as many threads
	// as the largest row keeps busy (at most Cores): the same cores in one process are what
	// more workers on one machine have to be compared with.
	OneProcess bool

	// OwnCores says that hosts of layouts are machines, with cores of their own; else they share this one.
	OwnCores bool
}

// Part is one matrix. Base gives every setting that is not varied.
type Part struct {
	Base       setting.Config // Threads 0: Cores / largest worker count, at least 1
	Models     []string
	Strategies []string    // each alone, or with settings: "ps:servers=2+server-place=apart"
	Workers    []int       // of Layouts, if there are any
	Layouts    []Layout    // none: the launcher distributes Workers
	Batches    []int       // global; none: by PerWorker
	PerWorker  []int       // samples of each worker, so that the batch grows with the workers: weak scaling
	Data       []string    // none: that of Base
	Threads    []int       // of each worker; none: those of Base
	Dimensions []Dimension // further settings with several values
	Wires      []string    // of rows that exchange; none: that of Base
	Conditions []Condition // none: one without a name
}

// Dimension is a setting of which the rows of a matrix have several values. One of one value is in all rows,
// and in none of their names.
type Dimension struct {
	Name   string   // of the setting
	Values []string // as the setting takes them, at least one; "": the value of the base
}

// Checkpoints returns the dimension of rows with and without checkpoints: "off", "on", which is one every
// ten steps, or what --checkpoint-every takes.
func Checkpoints(values []string) Dimension {
	d := Dimension{Name: "checkpoint-every"}
	for _, v := range values {
		switch v {
		case "off":
			v = ""
		case "on":
			v = "10"
		}
		d.Values = append(d.Values, v)
	}
	return d
}

// Expand lists the rows of the matrix, models first, then data, batches, conditions, threads, strategies,
// other dimensions, workers, wires. A row that is there already is not listed again.
//
// Strategy single runs with one worker, the others with two or more; a sweep that begins with one worker has
// a row of single, named or not. Where one is the only number of workers, those that train one model have it
// too, and exchange with themselves: what their code costs. Expand fails
// with a *setting.UsageError if a list is empty, or if a row's configuration is invalid.
func Expand(c Config) (Plan, error) {
	plan := Plan{Repeats: c.Repeats, Copies: max(c.Copies, 1), Seeds: c.Seeds, Precision: c.Precision,
		Order: c.Order, Inquiry: c.Inquiry}
	err := c.check()
	for _, part := range c.Parts {
		var rows []Row
		if err == nil {
			rows, err = part.rows(c)
		}
		plan.Rows = append(plan.Rows, rows...)
	}
	if err == nil && len(plan.Rows) == 0 {
		err = setting.Refuse("the matrix is empty: single needs --workers 1, none and auto two or more")
	}
	if err == nil {
		plan.Rows, err = distinct(plan.Rows)
	}
	if err == nil && c.Peer != "" {
		err = withPeers(&plan, c.Peer)
	}
	if err != nil {
		return Plan{}, err
	}
	plan.Rows = vary(plan.Rows, make([]int, plan.Copies), func(*Row, int) {})
	if n := len(plan.Rows); n > record.MaxRows {
		return Plan{}, setting.Refuse("the matrix has %d rows: want at most %d", n, record.MaxRows)
	}
	for i, row := range plan.Rows {
		if err := row.Validate(); err != nil {
			return Plan{}, fmt.Errorf("row %d (%s): %w", i+1, row.Name(), err)
		}
	}
	return plan, nil
}

// check refuses values that no benchmark has, whatever its parts are.
func (c Config) check() error {
	switch {
	case c.Repeats < 1 || c.Repeats > record.MaxRounds:
		return setting.Refuse("repeats %d: want 1 to %d", c.Repeats, record.MaxRounds)
	case !(c.Precision >= 0 && c.Precision <= 0.5):
		return setting.Refuse("precision %v: want 0 to 50%%", c.Precision)
	case c.Budget > 0 && c.Copies > 1:
		return setting.Refuse("a budget may leave out rows, so there are no copies to compare with; leave " +
			"out one of the two")
	case c.Copies < 0 || c.Copies > record.MaxRows:
		return setting.Refuse("copies %d: want 1 to %d", c.Copies, record.MaxRows)
	}
	return nil
}

// distinct returns the rows without those that are there already under the same or another name. It refuses
// different rows that a report would not tell apart, and weights that are given for no network of several.
func distinct(rows []Row) ([]Row, error) {
	var out []Row
	at, named := map[string]int{}, map[record.Setting]bool{}
	for i, r := range rows {
		if was := rows[max(i-1, 0)]; r.Weights != "" && r.Weights == was.Weights && r.Model != was.Model {
			return nil, setting.Refuse("--weights: rows train %s and %s; say whose they are, such as "+
				"--weights %s=%s", was.Model, r.Model, r.Model, r.Weights)
		}
		unnamed := r
		unnamed.Options = ""
		key, err := json.Marshal(unnamed)
		if err != nil {
			return nil, fmt.Errorf("row %s: configuration: %w", r.Name(), err)
		}
		if i, isKnown := at[string(key)]; isKnown {
			out[i].Options = r.Options // a row that somebody listed has its name from there
			continue
		}
		if named[r.Setting()] {
			return nil, setting.Refuse("two rows are called %s, and differ in settings that are not in that "+
				"name; give one of them its own, such as %s:math=exact", r.Name(), r.Strategy)
		}
		at[string(key)], named[r.Setting()] = len(out), true
		out = append(out, r)
	}
	return out, nil
}

// check refuses a matrix that lacks a list, or has one that says nothing.
func (p Part) check() error {
	switch {
	case len(p.Models) == 0:
		return setting.Refuse("no model")
	case len(p.Strategies) == 0:
		return setting.Refuse("no strategy")
	case len(p.Workers) == 0:
		return setting.Refuse("no number of workers")
	case slices.Min(p.Workers) < 1 || slices.Max(p.Workers) > setting.MaxWorkers:
		return setting.Refuse("workers %v: want 1 to %d", p.Workers, setting.MaxWorkers)
	case len(p.Threads) > 0 && slices.Min(p.Threads) < 1:
		return setting.Refuse("threads %v: want 1 or more", p.Threads)
	case len(p.Batches) == 0 && len(p.PerWorker) == 0:
		return setting.Refuse("no batch size")
	case len(p.Batches) > 0 && len(p.PerWorker) > 0:
		return setting.Refuse("a matrix has either batches or batches per worker: strong and weak scaling " +
			"are different questions; want two parts of a plan")
	}
	for _, text := range p.Strategies {
		if err := setting.KnownStrategy(parseWay(text).strategy); err != nil {
			return setting.Refuse("strategies: %v", err)
		}
	}
	slow := slices.Clone(p.Base.SlowWorkers)
	for _, c := range p.Conditions {
		if slow = append(slow, c.Slow...); len(p.Layouts) > 0 && c.IsApart() {
			return setting.Refuse("condition %s: each of its processes has a host of its own; leave out "+
				"--hosts and --per-host, or run bench in a lab with these links", c.Name)
		}
	}
	for _, s := range slow {
		if most := slices.Max(p.Workers); s.Rank >= most {
			return setting.Refuse("--slow-worker: no row has a worker of rank %d; want 0 to %d", s.Rank,
				most-1)
		}
	}
	return nil
}

// rows lists the rows of p.
func (p Part) rows(c Config) ([]Row, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	// A sweep begins with one worker, which the others are compared with.
	isAlone := func(text string) bool { return strategy.Named(parseWay(text).strategy).IsAlone }
	if slices.Contains(p.Workers, 1) && (slices.Max(p.Workers) > 1 || p.Layouts != nil) &&
		!slices.ContainsFunc(p.Strategies, isAlone) {
		p.Strategies = slices.Insert(slices.Clone(p.Strategies), 0, strategy.Single)
		c.OneProcess = false // a row that nobody has asked for
	}
	base, err := p.base(c)
	if err != nil {
		return nil, err
	}
	rows := vary([]Row{base}, p.Models, func(r *Row, name string) { r.Config = r.WithModel(name) })
	rows = vary(rows, p.Data, func(r *Row, name string) { r.Data = name })
	rows = vary(rows, p.Batches, func(r *Row, n int) { r.Batch = n })
	rows = vary(rows, p.PerWorker, func(r *Row, n int) { r.PerWorker = n })
	rows = vary(rows, p.Conditions, func(r *Row, under Condition) { r.Condition = under })
	rows = vary(rows, p.Threads, func(r *Row, n int) { r.Threads = n })
	var all []Row
	for _, r := range rows {
		for _, w := range p.ways() {
			of, err := p.rowsOf(w, r, c)
			if err != nil {
				return nil, err
			}
			all = append(all, of...)
		}
	}
	return all, nil
}

// vary returns each of a list with each of the values; without values, as it is.
func vary[R, T any](list []R, values []T, set func(*R, T)) []R {
	if len(values) == 0 {
		return list
	}
	var out []R
	for _, one := range list {
		for _, v := range values {
			next := one
			set(&next, v)
			out = append(out, next)
		}
	}
	return out
}

// base returns what all rows begin with.
func (p Part) base(c Config) (Row, error) {
	base, largest := Row{Config: p.Base}, slices.Max(p.Workers)
	for _, d := range p.Dimensions {
		if len(d.Values) != 1 || d.Values[0] == "" {
			continue
		}
		var err error
		value := setting.Value{Name: d.Name, Text: d.Values[0], Where: d.Name}
		if base.Config, err = base.With([]setting.Value{value}); err != nil {
			return base, err
		}
	}
	if base.Threads == 0 {
		base.Threads = max(1, c.Cores/p.crowd(c))
	}
	if base.Shards == 0 && len(p.PerWorker) == 0 {
		base.Shards = largest
		isBalanced := func(text string) bool { return parseWay(text).has("rebalance") }
		if slices.ContainsFunc(p.Strategies, isBalanced) {
			base.Shards = setting.BalancedShards(largest, slices.Min(p.Batches))
		}
	}
	return base, nil
}

// ways returns the strategies, each with every combination of the dimensions that have several values.
func (p Part) ways() (all []way) {
	texts := p.Strategies
	for _, d := range p.Dimensions {
		if len(d.Values) > 1 {
			texts = vary(texts, d.Values, func(text *string, v string) {
				*text = withOption(*text, d.Name, v)
			})
		}
	}
	for _, text := range texts {
		all = append(all, parseWay(text))
	}
	return all
}

// spread is the workers of a row, with their layout if that is given.
type spread struct {
	Layout
	workers int
}

// spreads lists the numbers of workers of a part's rows.
func (p Part) spreads() (all []spread) {
	for _, l := range p.Layouts {
		all = append(all, spread{l, l.Hosts * l.PerHost})
	}
	if all == nil {
		for _, n := range p.Workers {
			all = append(all, spread{workers: n})
		}
	}
	return all
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

// rowsOf returns the rows of a way: one for each number of workers and each wire, and for a single worker
// perhaps one with more threads.
func (p Part) rowsOf(w way, base Row, c Config) (rows []Row, err error) {
	isAlone, isSelf := strategy.Named(w.strategy).IsAlone, p.exchangesAlone(w)
	if base, err = p.under(w, base); err != nil {
		return nil, err
	}
	for _, to := range p.spreads() {
		if isAlone != (to.workers == 1) && !(isSelf && to.workers == 1) {
			continue
		}
		one, err := base.as(w, to)
		if err != nil {
			return nil, err
		}
		if one.For != "" && strategy.Named(one.Strategy).IsFloor {
			return nil, setting.Refuse("strategy %s: its workers never meet, so that in %s each would make "+
				"steps of its own number; want --steps or --epochs, or leave the strategy out", one.Strategy,
				one.For)
		}
		wires := p.Wires
		if one.Workers == 1 || strategy.Named(one.Strategy).IsFloor || one.hasOwnWire() || one.Averages() {
			wires = nil
		}
		rows = append(rows, vary([]Row{one}, wires, func(r *Row, wire string) { r.Wire = wire })...)
	}
	busy := min(base.Threads*slices.Max(p.Workers), c.Cores)
	if !isAlone || !c.OneProcess || w.has("threads") || busy <= base.Threads {
		return rows, nil
	}
	to := spread{workers: 1}
	if len(p.Layouts) > 0 {
		to.Layout = Layout{Hosts: 1, PerHost: 1}
	}
	base.Threads = busy
	one, err := base.as(w, to)
	return append(rows, one), err
}

// exchangesAlone reports whether a way has a row of one worker, which exchanges with itself.
func (p Part) exchangesAlone(w way) bool {
	s := strategy.Named(w.strategy)
	isSeveral := func(to spread) bool { return to.workers > 1 }
	return !s.IsFloor && s.Name != strategy.Auto && !slices.ContainsFunc(p.spreads(), isSeveral)
}

// under returns base for the rows of a way.
func (p Part) under(w way, base Row) (Row, error) {
	base.Strategy, base.Options = w.strategy, w.options
	if base.Condition.Slow != nil {
		if base.SlowWorkers = base.Condition.Slow; w.has("slow-worker") {
			return base, setting.Refuse("strategy %s:%s has slow workers of its own, and condition %s slows "+
				"others; leave out one of the two", w.strategy, w.options, base.Condition.Name)
		}
	}
	if base.Condition.Loader != (data.Pace{}) {
		if base.SlowLoader = base.Condition.Loader; w.has("slow-loader") {
			return base, setting.Refuse("strategy %s:%s has a slow loader of its own, and so has condition "+
				"%s; leave out one of the two", w.strategy, w.options, base.Condition.Name)
		}
	}
	isDDP := func(text string) bool { return parseWay(text).strategy == strategy.DDP }
	if w.strategy != strategy.DDP && slices.ContainsFunc(p.Strategies, isDDP) {
		base.OverlapForward, base.ShardOptimizer = false, false // are for its rows
	}
	return base, nil
}

// as returns the row with a way's settings and some workers. Where the settings open threads and link, it
// keeps its own: a matrix has equal ones.
func (r Row) as(w way, to spread) (Row, error) {
	one := r
	one.Workers, one.Layout = to.workers, to.Layout
	var err error
	if one.Config, err = one.With(w.values); err != nil {
		return one, err
	}
	one.Threads = cmp.Or(one.Threads, r.Threads)
	if !w.has("link") {
		one.Link = r.Link
	}
	if r.PerWorker > 0 {
		one.Batch = r.PerWorker * to.workers
		one.Shards = cmp.Or(r.Shards, to.workers)
	}
	one.SlowWorkers = one.SlowWorkers.Below(one.Workers)
	return one, nil
}
