package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/app/strategy"
)

// Config is a benchmark as values.
type Config struct {
	Parts   []Part
	Repeats int           // runs of every row, at least 1
	Seeds   []uint64      // of the rounds, in turn; none: that of each part
	Budget  time.Duration // that all runs should take, to which they are cut; 0: as long as they do
	Limit   time.Duration // after which no run begins, though none is cut before; 0: there is none
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

// Plan is the list of rows to run.
type Plan struct {
	Rows    []Row         `json:"rows"`
	Skipped []record.Skip `json:"skipped,omitempty"`
	Repeats int           `json:"repeats"`
	Asked   int           `json:"asked,omitempty"` // rounds before a budget cut them; 0: none did
	Seeds   []uint64      `json:"seeds,omitempty"` // of the rounds, in turn; none: the rows' own
	Copies  int           `json:"copies"`          // of each row, beside one another
	Order   uint64        `json:"order,omitempty"` // seed of that of the rows, see [compare.Order]

	// Precision is the relative half width of intervals up to which rounds are added; 0: none are.
	Precision float64 `json:"precision,omitempty"`

	Inquiry *record.Inquiry `json:"inquiry,omitempty"` // what the plan asks; nil: nothing
}

// Trial is one run of the schedule.
type Trial struct{ Round, Row int }

// Expand lists the rows of the matrix, models first, then data, batches, conditions, threads, strategies,
// other dimensions, workers, wires.
//
// Strategy single runs with one worker; all others run with two or more, because with one
// worker they have nothing to exchange and are single under another name. Skipped lists the
// combinations left out. Expand fails with a *setting.UsageError if a list is empty or has
// duplicates, or if a row's configuration is invalid.
func Expand(c Config) (Plan, error) {
	if err := c.check(); err != nil {
		return Plan{}, err
	}
	plan := Plan{Repeats: c.Repeats, Copies: max(c.Copies, 1), Seeds: c.Seeds, Precision: c.Precision,
		Order: c.Order, Inquiry: c.Inquiry}
	for _, part := range c.Parts {
		if err := part.check(); err != nil {
			return Plan{}, err
		}
		if err := part.expand(&plan, c); err != nil {
			return Plan{}, err
		}
	}
	if len(plan.Rows) > 0 {
		if err := withPeers(&plan, c.Peer); err != nil {
			return Plan{}, err
		}
	}
	plan.Rows = copied(plan.Rows, plan.Copies)
	if len(plan.Rows) == 0 {
		return Plan{}, usage("the matrix is empty: single needs --workers 1, the other " +
			"strategies need two or more")
	}
	if n := len(plan.Rows); n > record.MaxRows {
		return Plan{}, usage("the matrix has %d rows: want at most %d", n, record.MaxRows)
	}
	for i, row := range plan.Rows {
		row.SlowWorkers = row.SlowWorkers.Below(row.Workers)
		plan.Rows[i] = row
		if err := row.Validate(); err != nil {
			return Plan{}, fmt.Errorf("row %d (%s): %w", i+1, row.Name(), err)
		}
	}
	return plan, tellApart(plan.Rows)
}

// check refuses values that no benchmark has, whatever its parts are.
func (c Config) check() error {
	switch {
	case c.Repeats < 1 || c.Repeats > record.MaxRounds:
		return usage("repeats %d: want 1 to %d", c.Repeats, record.MaxRounds)
	case !(c.Precision >= 0 && c.Precision <= 0.5):
		return usage("precision %v: want 0 to 50%%", c.Precision)
	case c.Budget > 0 && c.Copies > 1:
		return usage("a budget may leave out rows, so there are no copies to compare with; leave out one " +
			"of the two")
	case c.Copies < 0 || c.Copies > record.MaxRows:
		return usage("copies %d: want 1 to %d", c.Copies, record.MaxRows)
	}
	return once("seed", c.Seeds)
}

// copied returns the rows with n copies of each beside one another.
func copied(rows []Row, n int) []Row {
	var out []Row
	for _, row := range rows {
		out = append(out, slices.Repeat([]Row{row}, n)...)
	}
	return out
}

// check refuses a matrix that lacks a list, or lists something twice.
func (p Part) check() error {
	switch {
	case len(p.Models) == 0:
		return usage("no model")
	case len(p.Strategies) == 0:
		return usage("no strategy")
	case len(p.Workers) == 0:
		return usage("no number of workers")
	case len(p.Batches) == 0 && len(p.PerWorker) == 0:
		return usage("no batch size")
	}
	for _, text := range p.Strategies {
		if err := setting.KnownStrategy(parseWay(text).strategy); err != nil {
			return usage("strategies: %v", err)
		}
	}
	for _, w := range p.Workers {
		if w < 1 || w > setting.MaxWorkers {
			return usage("workers %d: want 1 to %d", w, setting.MaxWorkers)
		}
	}
	return cmp.Or(p.checkTwice(), p.checkDimensions(), p.checkLayouts(), p.checkSlow())
}

// checkTwice refuses lists with a value twice.
func (p Part) checkTwice() error {
	var conditions, layouts []string
	for _, c := range p.Conditions {
		conditions = append(conditions, c.Name)
	}
	for _, l := range p.Layouts {
		layouts = append(layouts, fmt.Sprintf("of %d hosts with %d workers each", l.Hosts, l.PerHost))
	}
	return cmp.Or(once("model", p.Models), once("strategy", p.Strategies), once("workers", p.Workers),
		once("condition", conditions), once("wire", p.Wires), once("batch", p.Batches),
		once("threads", p.Threads), once("data", p.Data), once("batch per worker", p.PerWorker),
		once("layout", layouts))
}

// once refuses a list with a value twice.
func once[T comparable](what string, list []T) error {
	for i, v := range list {
		if slices.Contains(list[:i], v) {
			return usage("%s %v is listed twice", what, v)
		}
	}
	return nil
}

// checkSlow refuses slow workers that no row has.
func (p Part) checkSlow() error {
	slow := slices.Clone(p.Base.SlowWorkers)
	for _, c := range p.Conditions {
		slow = append(slow, c.Slow...)
	}
	for _, s := range slow {
		if most := slices.Max(p.Workers); s.Rank >= most {
			return usage("--slow-worker: no row has a worker of rank %d; want 0 to %d", s.Rank, most-1)
		}
	}
	return nil
}

// expand appends the rows of p to plan.
func (p Part) expand(plan *Plan, c Config) error {
	p, err := p.settle()
	if err != nil {
		return err
	}
	if p.lacksBaseline() {
		p.Strategies = slices.Insert(slices.Clone(p.Strategies), 0, strategy.Single)
		c.OneProcess = false // a row that nobody has asked for
	}
	largest := slices.Max(p.Workers)
	base := Row{Config: p.Base}
	if base.Threads == 0 {
		base.Threads = max(1, c.Cores/p.crowd(c))
	}
	if base.Shards == 0 && len(p.PerWorker) == 0 {
		base.Shards = largest
		if slices.ContainsFunc(p.Strategies, isBalanced) {
			base.Shards = setting.BalancedShards(largest, slices.Min(p.Batches))
		}
	}
	for _, base.Model = range p.Models {
		for _, data := range orOne(p.Data, base.Data) {
			base.Data = data
			if err := p.expandBatches(plan, base, c); err != nil {
				return err
			}
		}
		for _, s := range p.Strategies {
			p.skip(plan, base.Model, parseWay(s).strategy)
		}
	}
	return nil
}

// expandBatches appends the rows of a model and its data.
func (p Part) expandBatches(plan *Plan, base Row, c Config) error {
	batches := p.Batches
	if len(batches) == 0 {
		batches = p.PerWorker
	}
	for _, base.Batch = range batches {
		if len(p.PerWorker) > 0 {
			base.PerWorker = base.Batch
		}
		for _, condition := range orOne(p.Conditions, Condition{}) {
			base.Condition = condition
			for _, threads := range orOne(p.Threads, base.Threads) {
				base.Threads = threads
				if err := p.expandStrategies(plan, base, c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// orOne returns a list, or one value in place of an empty one.
func orOne[T any](list []T, one T) []T {
	if len(list) == 0 {
		return []T{one}
	}
	return list
}

func (p Part) expandStrategies(plan *Plan, base Row, c Config) error {
	for _, text := range p.Strategies {
		for _, more := range p.variations() {
			if err := p.expandWorkers(plan, base, parseWay(text).with(more), c); err != nil {
				return err
			}
		}
	}
	return nil
}

// expandWorkers appends the rows of a way.
func (p Part) expandWorkers(plan *Plan, base Row, w way, c Config) error {
	isAlone := strategy.Named(w.strategy).IsAlone
	if base.Condition.Slow != nil && w.has("slow-worker") {
		return usage("strategy %s:%s has slow workers of its own, and condition %s slows others; leave out "+
			"one of the two", w.strategy, w.options, base.Condition.Name)
	}
	row := base
	row.Options = w.options
	row.Config = p.under(w.strategy, base.Config)
	for _, to := range p.spreads() {
		if isAlone != (to.workers == 1) {
			continue
		}
		one := row
		if base.Condition.Slow != nil {
			one.SlowWorkers = base.Condition.Slow
		}
		one, err := one.as(w, to)
		if err != nil {
			return err
		}
		p.expandWires(plan, one)
	}
	busy := min(base.Threads*slices.Max(p.Workers), c.Cores)
	if !isAlone || !c.OneProcess || w.has("threads") || busy <= base.Threads ||
		slices.Contains(p.Threads, busy) || p.hasSingleWith(busy) {
		return nil
	}
	to := spread{workers: 1}
	if len(p.Layouts) > 0 {
		to.Layout = Layout{Hosts: 1, PerHost: 1}
	}
	row.Threads = busy
	row, err := row.as(w, to)
	plan.Rows = append(plan.Rows, row)
	return err
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
	return one.batch(to.workers), nil
}

// hasSingleWith reports whether one process of so many threads is among the ways.
func (p Part) hasSingleWith(threads int) bool {
	return slices.ContainsFunc(p.Strategies, func(text string) bool {
		w := parseWay(text)
		return w.strategy == strategy.Single && slices.ContainsFunc(w.values, func(v setting.Value) bool {
			return v.Name == "threads" && v.Text == strconv.Itoa(threads)
		})
	})
}

// under returns base with a strategy. If the matrix has ddp, options of ddp apply only to its rows.
// Otherwise they stay, and Validate reports them.
func (p Part) under(name string, base setting.Config) setting.Config {
	base.Strategy = name
	if name != strategy.DDP && slices.ContainsFunc(p.Strategies, isDDP) {
		base.OverlapForward, base.ShardOptimizer = false, false
	}
	return base
}

func isDDP(text string) bool { return parseWay(text).strategy == strategy.DDP }

// isBalanced reports whether a strategy of the matrix has shards that move.
func isBalanced(text string) bool { return parseWay(text).has("rebalance") }

// expandWires appends a row for each wire, or one row where nothing is exchanged.
func (p Part) expandWires(plan *Plan, base Row) {
	if base.Workers == 1 || strategy.Named(base.Strategy).IsFloor || len(p.Wires) == 0 || base.hasOwnWire() ||
		base.Averages() {
		plan.Rows = append(plan.Rows, base)
		return
	}
	for _, base.Wire = range p.Wires {
		plan.Rows = append(plan.Rows, base)
	}
}

// skip notes the combinations of a model and a strategy that expandStrategies left out.
func (p Part) skip(plan *Plan, model, name string) {
	for _, w := range p.Workers {
		s := record.Skip{Model: model, Strategy: name, Workers: w}
		switch {
		case strategy.Named(name).IsAlone && w > 1:
			continue // single is one worker by definition: nothing is missing
		case !strategy.Named(name).IsAlone && w == 1:
			s.Reason = record.NobodyToExchange
			if !slices.Contains(plan.Skipped, s) {
				plan.Skipped = append(plan.Skipped, s)
			}
		}
	}
}

// seed returns the seed of a row in a round.
func (p Plan) seed(t Trial) uint64 {
	if len(p.Seeds) == 0 {
		return p.Rows[t.Row].Seed
	}
	return p.Seeds[t.Round%len(p.Seeds)]
}

// records returns the rows of results without a run.
func (p Plan) records() []record.Row {
	var rows []record.Row
	blocks := p.blocks()
	for i, row := range p.Rows {
		rows = append(rows, record.Row{Setting: row.setting(), Rounds: row.Rounds, Block: blocks[i],
			Copy: i % p.Copies})
	}
	return rows
}

// blocks returns the number of each row's group.
func (p Plan) blocks() []int {
	blocks := make([]int, len(p.Rows))
	for n, group := range p.groups() {
		for _, at := range group {
			blocks[at] = n
		}
	}
	return blocks
}

// Trials returns the order of the runs: every round visits all rows, in an order of its own and every second
// one in reverse, so that a drift of the machine's speed meets every row alike; see [compare.Order].
func (p Plan) Trials() []Trial {
	trials := make([]Trial, 0, p.Repeats*len(p.Rows))
	for round := range p.Repeats {
		trials = append(trials, p.round(round)...)
	}
	return trials
}

// round returns the runs of a round in their order.
func (p Plan) round(round int) []Trial {
	var trials []Trial
	for _, row := range compare.Order(p.Order, round, p.blocks()) {
		if rounds := p.Rows[row].Rounds; rounds == 0 || round < rounds {
			trials = append(trials, Trial{Round: round, Row: row})
		}
	}
	return trials
}

func usage(format string, args ...any) error {
	return setting.Refuse(format, args...)
}
