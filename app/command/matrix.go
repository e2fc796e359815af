package command

import (
	"cmp"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockstep/app/bench"
	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/question"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/cluster"
)

// matrix is what a benchmark varies: the flags of bench that are no settings of a run, which are also keys of
// a plan.
type matrix struct {
	models, data, strategies, wires, conditions []string
	math, checkpoints                           []string
	workers, batches, perWorker, threads        []int
	hosts, perHost                              []int
	seeds                                       []uint64
	repeats, copies                             int
	noOneProcess                                bool

	given      []string        // names of the values that were given as flags
	settings   []setting.Value // of a plan, that all rows share
	inquiry    *record.Inquiry // of a plan: what it asks; nil: nothing
	substitute string          // of a plan: data set where the one that is asked for is not found; "": none
}

// newMatrix returns the matrix of bench without flags.
func newMatrix() matrix {
	return matrix{models: []string{"lenet"}, workers: []int{1, 2}, copies: 1, strategies: strategy.Compared()}
}

// matrixFlag is a flag of the matrix, and a key of a plan.
type matrixFlag struct {
	name, usage string
	value       pflag.Value
}

// flags lists the flags in the order of the help.
func (m *matrix) flags() []matrixFlag {
	whole := func(at *int) pflag.Value {
		v := bounded(at, 1, math.MaxInt32)
		v.(*value[int]).kind = "N"
		return v
	}
	return []matrixFlag{
		{"models", "a `LIST` of architectures", items(&m.models)},
		{"data", "a `LIST` of data sets, see lockstep train --help-all (default: glyphs)", items(&m.data)},
		{"strategies", "a `LIST` of strategies, each with settings of its own after a colon if need be; " +
			"none exchanges nothing and is the lower bound of the step time", items(&m.strategies)},
		{"conditions", "a `LIST` of equal, slow-worker=RANK:FACTOR or RANK:TIME, " +
			"slow-loader=FACTOR or TIME, and links of a lab such as rate=100mbit, delay=1ms or " +
			"loss=0.1%, joined by + (default: workers of one machine)",
			items(&m.conditions)},
		{"workers", "a `LIST` of numbers of workers", counts(&m.workers)},
		{"hosts", "a `LIST` of numbers of hosts, under lockstep launch or in a lab, in place of --workers " +
			"(default with --per-host: all)", counts(&m.hosts)},
		{"per-host", "a `LIST` of numbers of workers on each host (default with --hosts: 1)",
			counts(&m.perHost)},
		{"threads", "a `LIST` of compute threads of each worker (default: cores / largest number of workers)",
			counts(&m.threads)},
		{"batch", "a `LIST` of global batch sizes: strong scaling (default: 64)", counts(&m.batches)},
		{"batch-per-worker", "a `LIST` of samples of each worker, in place of --batch: the batch grows " +
			"with the workers, which is weak scaling and is compared by samples per second",
			counts(&m.perWorker)},
		{"wire", "a `LIST` of compressions of gradients, see lockstep train --help-all; rows with a " +
			"lossy one are marked, because their result differs (default: fp32)", items(&m.wires)},
		{"math", "a `LIST` of ways to compute products, see lockstep train --help-all (default: fast)",
			items(&m.math)},
		{"checkpoints", "a `LIST` of off, on (every 10 steps), and what lockstep train --checkpoint-every " +
			"takes (default: off)", items(&m.checkpoints)},
		{"repeats", "`N` runs of every row; six or more tell rows apart, fewer than four never do " +
			"(default: one for each seed, else 6)", whole(&m.repeats)},
		{"seeds", "a `LIST` of seeds, one for each round in turn (default: that of --seed)", seeds(&m.seeds)},
		{"copies", "run every row `N` times per round, under different names; the report says how many of " +
			"these equal rows it would call different, its rate of false findings", whole(&m.copies)},
		{"no-one-process", "leave out strategy single with as many threads as the largest row",
			whether(&m.noOneProcess)},
	}
}

// value returns the field of a flag; nil: it is none of the matrix.
func (m *matrix) value(name string) pflag.Value {
	for _, f := range m.flags() {
		if f.name == matrixName(name) {
			return f.value
		}
	}
	return nil
}

// matrixName returns the name of a flag that is also known by another.
func matrixName(name string) string {
	other := map[string]string{"model": "models", "strategy": "strategies", "batches": "batch",
		"condition": "conditions"}
	return cmp.Or(other[name], name)
}

// take sets one line of a plan.
func (m *matrix) take(l setting.Line) error {
	q := cmp.Or(m.inquiry, &record.Inquiry{})
	if field := askedIn(q)[l.Name]; field != nil {
		m.inquiry = q
		return l.Decode(field)
	}
	if l.Parts != nil {
		return usagef("%s: %s: want a value, or a list of values", l.Where, l.Name)
	}
	if v := m.value(l.Name); v != nil {
		if err := v.Set(strings.Join(l.Texts, ",")); err != nil {
			return usagef("%s: %s: %v", l.Where, l.Name, err)
		}
		return nil
	}
	if len(l.Texts) != 1 {
		return usagef("%s: %s: want a single value", l.Where, l.Name)
	}
	value := setting.Value{Name: l.Name, Text: l.Texts[0], Where: l.Where}
	if l.Name == "substitute" {
		m.substitute = l.Texts[0]
		return nil
	}
	m.settings = append(slices.Clone(m.settings), value)
	return nil
}

// askedIn returns the fields of an inquiry by the names of the lines of a plan that set them.
func askedIn(q *record.Inquiry) map[string]any {
	return map[string]any{"title": &q.Title, "reference": &q.Reference, "questions": &q.Questions,
		"predictions": &q.Predictions}
}

// readPlan returns the matrices of a plan: one for each of its parts, or one in all.
func readPlan(path string, text []byte) ([]matrix, error) {
	lines, err := setting.ReadSheet(path, text)
	if err != nil {
		return nil, err
	}
	common := newMatrix()
	var parts [][]setting.Line
	for _, l := range lines {
		if l.Name == "parts" {
			if parts = l.Parts; len(parts) == 0 {
				return nil, usagef("%s: parts: want a list of lines of the form key: value", l.Where)
			}
		} else if err := common.take(l); err != nil {
			return nil, err
		}
	}
	if err := question.Complete(common.inquiry); err != nil {
		return nil, usagef("%s: %v", path, err)
	}
	if parts == nil {
		return []matrix{common}, nil
	}
	var all []matrix
	for _, part := range parts {
		m := common
		for _, l := range part {
			if askedIn(&record.Inquiry{})[l.Name] != nil ||
				slices.Contains([]string{"repeats", "copies", "seeds", "no-one-process"}, l.Name) {
				return nil, usagef("%s: %s is the same for all parts; set it above them", l.Where, l.Name)
			}
			if err := m.take(l); err != nil {
				return nil, err
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// override replaces what was given as flags, which flags holds.
func (m *matrix) override(c *cobra.Command, flags matrix) {
	for _, given := range flags.flags() {
		if f := c.Flags().Lookup(given.name); f != nil && f.Changed {
			_ = m.value(given.name).Set(given.value.String()) // it has been parsed before
			m.given = append(m.given, given.name)
		}
	}
}

// part returns a part of a benchmark. given are settings of the command line.
func (a *app) part(m matrix, given map[string]string) (bench.Part, error) {
	m.yield(a.environment, given)
	base, err := a.baseOf(&m, given)
	if err != nil {
		return bench.Part{}, err
	}
	p := bench.Part{Base: base, Models: m.models, Data: m.data, Strategies: m.strategies, Workers: m.workers,
		Threads: m.threads, Batches: m.batches, PerWorker: m.perWorker, Wires: m.wires}
	if p.Layouts, err = m.layouts(a.environment); err != nil {
		return bench.Part{}, err
	}
	if p.Layouts != nil {
		p.Workers = workersOf(p.Layouts)
	}
	if p.Batches == nil && p.PerWorker == nil {
		p.Batches = []int{64}
	}
	if m.math != nil {
		p.Dimensions = append(p.Dimensions, bench.Dimension{Name: "math", Values: m.math})
	}
	if m.checkpoints != nil {
		p.Dimensions = append(p.Dimensions, bench.Checkpoints(m.checkpoints))
	}
	if p.Wires == nil {
		p.Wires = []string{base.Wire} // which the environment may have set
	}
	for _, text := range m.conditions {
		condition, err := bench.ParseCondition(text)
		if err != nil {
			return bench.Part{}, err
		}
		p.Conditions = append(p.Conditions, condition)
	}
	return p, nil
}

// baseOf returns the configuration that the rows of a matrix share, with what they derive left open, and
// finds the matrix's data.
func (a *app) baseOf(m *matrix, given map[string]string) (setting.Config, error) {
	base := setting.Default()
	base.Catalog = &a.catalog
	base, err := base.With(m.settings)
	if err == nil {
		base, m.data, err = a.dataOf(*m, base, given)
	}
	if err != nil {
		return base, err
	}
	slow := base.SlowWorkers
	if text, ok := given["slow-worker"]; ok {
		if slow, err = setting.ParseSlowWorkers(text); err != nil {
			return base, usagef("--slow-worker: %v", err)
		}
	}
	base.SlowWorkers = nil // a row has the worker, the one that Resolve completes may not
	if len(m.models) > 0 {
		base.Model = m.models[0] // texts are refused for a model of images, and the reverse
	}
	given = maps.Collect(maps.All(given)) // a clone, and a map where there was none
	given["workers"] = "1"                // rows have their own, which are not those of all slots of hosts
	delete(given, "slow-worker")
	resolved, origins, err := setting.Resolve(setting.Source{Catalog: &a.catalog, Environment: a.environment,
		Flags: given, Base: &base, BaseName: "plan"})
	if err != nil {
		return base, err
	}
	resolved.SlowWorkers = slow
	return m.reopen(resolved, origins, given), nil
}

// reopen opens what Resolve has derived for one run; the matrix derives its own for each row.
func (m *matrix) reopen(c setting.Config, origins setting.Origins, given map[string]string) setting.Config {
	isOpen := func(name string) bool { return origins[name] == "derived" }
	if isOpen("threads") || len(m.threads) > 0 {
		c.Threads = 0
	}
	if isOpen("shards") {
		c.Shards = 0
	}
	if isOpen("link") || given["link"] == "auto" || c.Link == "local" && origins["link"] == "default" {
		c.Link = "auto"
	}
	isEvalEvery := func(v setting.Value) bool { return v.Name == "eval-every" }
	if origins["eval-every"] == "default" && !slices.ContainsFunc(m.settings, isEvalEvery) {
		c.EvalEvery = 0
	}
	return c
}

// workersOf returns the numbers of workers of some layouts, each once.
func workersOf(layouts []bench.Layout) []int {
	var all []int
	for _, l := range layouts {
		if n := l.Hosts * l.PerHost; !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// layouts returns every number of hosts with every number of workers on each; none if neither is given.
func (m *matrix) layouts(e cluster.Environment) ([]bench.Layout, error) {
	all := e.NumHosts()
	switch {
	case m.hosts == nil && m.perHost == nil:
		return nil, nil
	case slices.Contains(m.given, "workers"):
		return nil, usagef("--workers: --hosts and --per-host give the numbers of workers; leave it out")
	case all == 0:
		return nil, usagef("--hosts, --per-host: this is one machine; start bench on several by " +
			"`lockstep launch --hosts a:2,b:2 -- bench ...`, or in `lockstep lab --hosts 3 -- bench ...`")
	}
	layouts := m.placed(all)
	for _, l := range layouts {
		if _, err := e.OnHosts(l.Hosts, l.PerHost); err != nil {
			return nil, usagef("--hosts, --per-host: %v", err)
		}
	}
	return layouts, nil
}

// placed returns every number of hosts, else that of all, with every number of workers on each, else 1.
func (m *matrix) placed(all int) (layouts []bench.Layout) {
	hosts, perHost := m.hosts, m.perHost
	if hosts == nil {
		hosts = []int{all}
	}
	if perHost == nil {
		perHost = []int{1}
	}
	for _, h := range hosts {
		for _, n := range perHost {
			layouts = append(layouts, bench.Layout{Hosts: h, PerHost: n})
		}
	}
	return layouts
}

// onOneMachine gives workers of this machine in place of those on hosts, of which there would be so many.
func (m *matrix) onOneMachine(all int) {
	if m.hosts != nil || m.perHost != nil {
		m.workers = workersOf(m.placed(all))
		m.hosts, m.perHost = nil, nil
	}
}

// reduce leaves out numbers of hosts above some, which it takes for all, and reports whether any is left. If
// these are fewer than wanted, it lowers the shards to a number that they divide: equal hosts do equal work.
func (m *matrix) reduce(hosts, wanted int) bool {
	m.settings = slices.Clone(m.settings)
	for i, v := range m.settings {
		if n, err := strconv.Atoi(v.Text); v.Name == "shards" && err == nil && hosts < wanted && n > hosts {
			m.settings[i].Text = strconv.Itoa(n - n%hosts)
		}
	}
	if m.hosts == nil && m.perHost != nil {
		m.hosts = []int{hosts}
	}
	m.hosts = slices.DeleteFunc(slices.Clone(m.hosts), func(n int) bool { return n > hosts })
	return m.hosts == nil || len(m.hosts) > 0
}

// yield removes the lists of a plan whose setting the environment or the command line gives: a plan gives way
// to both.
func (m *matrix) yield(e cluster.Environment, given map[string]string) {
	for name, list := range map[string]func(){"data": func() { m.data = nil },
		"threads": func() { m.threads = nil }, "math": func() { m.math = nil }} {
		_, isFlag := given[name]
		if isFlag || e[cluster.EnvTrain+strings.ToUpper(name)] != "" && !slices.Contains(m.given, name) {
			list()
		}
	}
}

// dataOf returns the data sets of a matrix, with substitutes where they are not found, and base with the
// first of them. Without data sets they are those of the settings.
func (a *app) dataOf(m matrix, base setting.Config, given map[string]string) (setting.Config, []string,
	error) {
	var found []string
	for _, name := range m.data {
		one, err := a.substitute(name, m.substitute, given)
		if err != nil {
			return base, nil, err
		}
		if !slices.Contains(found, one) {
			found = append(found, one)
		}
	}
	if len(found) > 0 {
		base.Data = found[0]
		return base, found, nil
	}
	var err error
	base.Data, err = a.substitute(base.Data, m.substitute, given)
	return base, nil, err
}

// defaultRepeats is the number of runs of a row without seeds: fewer cannot tell rows apart for sure, however
// far apart they are.
const defaultRepeats = compare.EnoughRounds

// config returns the benchmark without its parts and its folder.
func (m matrix) config() bench.Config {
	c := bench.Config{Repeats: m.repeats, Copies: m.copies, Seeds: m.seeds, Inquiry: m.inquiry,
		OneProcess: !m.noOneProcess,
		Cores:      min(runtime.NumCPU(), runtime.GOMAXPROCS(0))}
	if c.Repeats == 0 {
		c.Repeats = cmp.Or(len(m.seeds), defaultRepeats)
	}
	return c
}

// maxPlan is a size that no plan has.
const maxPlan = 64 << 10
