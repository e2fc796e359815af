package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockstep/app/bench"
	"lockstep/app/explain/variant"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/internal/regular"
	"lockstep/internal/spelling"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// benchFlags are the flags that `lockstep train` does not have, or that take a list here.
type benchFlags struct {
	matrix
	plan            string // file; "": none
	budget          time.Duration
	out             string
	precision       float64
	peer            string // other program; "": none
	resume          string // folder; "": a new benchmark
	against         against
	isQuick         bool
	isJSON, isQuiet bool
}

func benchCommand(a *app) *cobra.Command {
	flags := benchFlags{matrix: newMatrix()}
	c := &cobra.Command{
		Use:   "bench [flags]",
		Short: "Compare strategies and numbers of workers, and write a report",
		Long: `Compare strategies and numbers of workers, and write a report.

Runs every combination of models, batches, strategies and workers several times, in rounds of a random
order, each followed by its reverse. All rows of a model do equal work: as many steps of the same batch,
cut into as many shards as the largest number of workers, or steps for as long (--for). Strategy single
runs with one worker, and is there if --workers has 1 and more; the others run with two or more or, if
--workers 1 is all, with one that exchanges with itself. single, if named, also runs with the threads of
the largest row: the same cores in one process are what workers on one machine have to beat.

A strategy may have settings of its own, joined by +, as in ddp:bucket=4MiB+overlap-forward. --conditions
repeats the matrix with a slow worker, or in a lab where every process has a host of its own; rows of
different conditions are not compared. Rows whose result is not exact are compared by accuracy at equal
samples and at equal time, over --seeds. A plan is a YAML file with these flags as keys, and with parts.

A run that fails is reported and the rest goes on. A run from which others took 5 % of the cores' time or
more is repeated once at the end of its round, unless most runs of the round are disturbed: that is told at
once, so that you may stop and go on at another time.

A benchmark that was interrupted goes on with --resume from the runs that have ended; results that were
changed since are refused with status 8. The folder holds results.json (every raw sample, or of rows that
train for a time some 2,000 of each worker), plan.json, report.md, report.html (one file, opens anywhere)
and the run directories.`,
		Example: `  lockstep bench --quick
  lockstep bench --model vgg11 --data cifar10 --strategies single,gather-scatter,all-reduce,ddp \
      --workers 1,4 --batch 256 --steps 40
  lockstep bench --model vgg11 --strategies single,ddp --workers 1,2 --wire fp32,bf16,zstd
  lockstep bench --strategies single,all-reduce,ddp:overlap-forward --workers 1,2 \
      --conditions equal,rate=1gbit,rate=100mbit+delay=1ms
  lockstep bench --strategies single,ddp,ddp:wire=int8 --epochs 3 --eval-every 1 --seeds 1,2,3
  lockstep launch --hosts a:2,b:2,c:2 -- bench --hosts 1,2,3 --per-host 1,2
  lockstep bench --strategies single,ddp --workers 1,2 --precision 2% --budget 20m
  lockstep bench --batch-per-worker 64 --strategies single,ddp --workers 1,2,4
  lockstep bench --strategies single --workers 1 --checkpoints off,on,50 --steps 200
  lockstep bench --models lenet,vgg11 --strategies single,ddp --workers 1,2 --steps 30 --peer pytorch
  lockstep bench --plan mine.yaml --against baseline.json --fail-over 5%
  lockstep bench --resume runs/20261121-101500-bench`,
		Args:        noArguments,
		Annotations: map[string]string{spreads: "true"},
		RunE:        func(c *cobra.Command, _ []string) error { return a.bench(c, &flags) },
	}
	flags.add(c, a)
	addHelpAll(c)
	c.AddCommand(kernelsCommand(a))
	return c
}

// add gives c the flags of the matrix and the settings that the matrix does not vary.
func (b *benchFlags) add(c *cobra.Command, a *app) {
	f := c.Flags()
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(matrixName(name))
	})
	f.BoolVar(&b.isQuick, "quick", false,
		"a small matrix on generated images that needs no download and takes one to two minutes; on a slow "+
			"or busy machine it ends then with what it has, unless --repeats or another list is given")
	f.StringVar(&b.plan, "plan", "", "read the matrix from a YAML `FILE`; flags replace its values")
	f.Var(budget(&b.budget), "budget", "cut steps, then rounds, then rows to this `TIME` in all, such as "+
		"10m, and say what is left out; time that is left goes to more rounds, up to 20, of rows that leave "+
		"a question open, and a round that was begun may end a twentieth late (default: as long as it takes)")
	f.Var(percent(&b.precision), "precision", "add rounds to the groups of compared rows in which an "+
		"interval of a ratio is wider than this `PERCENT` to both sides, until none is or the budget is "+
		"over; the others get no more (default: no further rounds)")
	f.StringVar(&b.peer, "peer", "", "also time this `PROGRAM` on every row that it can do: pytorch, by a "+
		"Python with torch (python3, or LOCKSTEP_PYTHON)")
	f.StringVar(&b.resume, "resume", "", "go on with the interrupted benchmark in this `FOLDER`; --budget "+
		"gives it more time")
	b.against.add(f)
	for _, m := range b.flags() {
		f.Var(m.value, m.name, m.usage)
	}
	f.Lookup("no-one-process").NoOptDefVal = "true"
	f.VisitAll(func(own *pflag.Flag) { own.Annotations = map[string][]string{groupKey: {"Matrix"}} })
	for name, of := range map[string]string{"models": "model", "strategies": "strategy", "data": "data",
		"math": "math", "wire": "wire"} {
		complete(c, name, listOf(a.settingValues(of)))
	}
	addSettings(c, benchSettings(&a.catalog, "model", "data", "threads", "batch", "wire", "math"))
	f.StringVar(&b.out, "out", "",
		"new or empty `FOLDER` for the results (default: runs/<time>-bench)")
	f.BoolVar(&b.isJSON, "json", false, "print results.json instead of a table")
	f.BoolVarP(&b.isQuiet, "quiet", "q", false, "show no progress")
}

// benchSettings are the settings of a run that are the same in every row, but for some that are varied too.
func benchSettings(k *setting.Catalog, varied ...string) []setting.Setting {
	varied = append(varied, "strategy", "workers", "eval-only", "save", "out", "checkpoint-every", "resume",
		"until", "rebalance")
	settings := slices.DeleteFunc(setting.Settings(k), func(s setting.Setting) bool {
		return slices.Contains(varied, s.Name)
	})
	for i := range settings {
		switch s := &settings[i]; s.Name {
		case "shards":
			s.Usage = "virtual shards of the batch (default: largest number of workers, " +
				"four times as many if a row has rebalance)"
		case "eval-every":
			s.Default = "0"
		}
	}
	return settings
}

// bench runs the matrix, writes the report, then prints the short form.
func (a *app) bench(c *cobra.Command, flags *benchFlags) error {
	if flags.resume != "" {
		return a.resumeBench(c, flags)
	}
	config, err := flags.config(c, a)
	if err != nil {
		return err
	}
	if err := flags.against.read(config); err != nil {
		return err
	}
	command := slices.Concat([]string{"lockstep"}, a.labCommandLine(), []string{"bench"}, commandLine(c))
	if err := a.compare(c, config, command, "", flags.isJSON, flags.isQuiet); err != nil {
		return err
	}
	return a.judge(flags.against, config.Out, flags.isJSON)
}

// compare runs a benchmark, writes the report, then prints the short form. command repeats it.
func (a *app) compare(c *cobra.Command, config bench.Config, command []string, recipe string,
	isJSON, isQuiet bool) error {
	if a.surveyed(basesOf(config)...) {
		return nil
	}
	config.Order = 1 + uint64(rand.Uint32())
	predictions, err := a.foresee(c.Context(), &config, command, isQuiet)
	if err != nil {
		return err
	}
	return a.runBench(c, config.Out, command, isJSON, isQuiet,
		func(ctx context.Context, o bench.Options) (*record.Results, error) {
			o.Label.Recipe, o.Label.Predictions = recipe, predictions
			return bench.Run(ctx, config, o)
		})
}

// resumeBench goes on with an interrupted benchmark.
func (a *app) resumeBench(c *cobra.Command, flags *benchFlags) error {
	var extra string
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"resume", "budget", "json", "quiet", "against", "fail-over"}, f.Name) {
			extra = f.Name
		}
	})
	if extra != "" {
		return usagef("--resume takes everything from %s; leave out --%s", filepath.Join(flags.resume,
			bench.PlanFile), extra)
	}
	if err := flags.against.read(bench.Config{}); err != nil {
		return err
	}
	if a.surveyed() { // its hosts have had the data
		return nil
	}
	if r, err := report.Read(flags.resume); err == nil { // else bench.Resume says what is wrong, if anything
		if err := refuseChanged(flags.resume, r); err != nil {
			return err
		}
	}
	err := a.runBench(c, flags.resume, nil, flags.isJSON, flags.isQuiet,
		func(ctx context.Context, o bench.Options) (*record.Results, error) {
			return bench.Resume(ctx, flags.resume, flags.budget, &a.catalog, o)
		})
	if err != nil {
		return err
	}
	return a.judge(flags.against, flags.resume, flags.isJSON)
}

// benchOptions returns how the runs of a command are made, which show tells of.
func (a *app) benchOptions(show *progress, command []string) bench.Options {
	v := describeVersion()
	return bench.Options{Label: record.Results{Version: v.Version, Revision: v.Revision, Command: command,
		Lab: a.environment[cluster.EnvLabFlags]},
		Progress: show.bench, Job: launcher.Options{Environment: a.environment}}
}

// runBench runs a benchmark into a folder, writes the report, then prints the short form. command repeats it.
func (a *app) runBench(c *cobra.Command, folder string, command []string, isJSON, isQuiet bool,
	run func(context.Context, bench.Options) (*record.Results, error)) error {
	ctx, stop := a.interruptible(c.Context())
	defer stop()
	show := newProgress(a, isQuiet)
	o := a.benchOptions(show, command) // the report carries the notes
	o.Fitted, o.Confirm = show.fitted, variant.Confirm
	results, err := run(ctx, o)
	show.end()
	if results == nil {
		return err
	}
	if errors.Is(err, context.Canceled) {
		err = &interruptedError{goesOn(results, folder), err}
	}
	page := report.Benchmark(results)
	unwritten := page.Write(folder)
	if isJSON {
		if failed := record.Encode(a.stdout, results); failed != nil {
			return failed
		}
		return errors.Join(err, unwritten)
	}
	if failed := page.Text(a.stdout); failed != nil {
		return failed
	}
	if unwritten != nil {
		return errors.Join(err, unwritten)
	}
	fmt.Fprintf(a.stdout, "\n%s\n", filepath.Join(folder, report.HTMLFile))
	return err
}

// goesOn names the command that goes on with an interrupted benchmark in a folder.
func goesOn(r *record.Results, folder string) string {
	return bench.ResumeCommand(r, folder) + " goes on with the runs that are left"
}

// interruptedError says that a command was interrupted, and what can be done.
type interruptedError struct {
	next string
	err  error
}

// Error says what can be done.
func (e *interruptedError) Error() string { return "interrupted; " + e.next }

// Unwrap returns the cause, by which the exit status is chosen.
func (e *interruptedError) Unwrap() error { return e.err }

// config turns the flags into a benchmark.
func (b *benchFlags) config(c *cobra.Command, a *app) (bench.Config, error) {
	all := []matrix{b.matrix}
	if b.plan != "" {
		text, err := regular.ReadFile(b.plan, maxPlan)
		if err != nil {
			return bench.Config{}, usagef("--plan: %v", err)
		}
		if all, err = readPlan(b.plan, text); err != nil {
			return bench.Config{}, err
		}
	}
	for i := range all {
		all[i].override(c, b.matrix)
	}
	config, err := a.benchConfig(all, given(c))
	if err != nil {
		return bench.Config{}, err
	}
	config.Out, config.Budget, config.Precision = b.out, b.budget, b.precision
	config.Peer = b.peer
	if config.Out == "" {
		config.Out = newFolder("bench")
	}
	if !b.isQuick {
		return config, nil
	}
	config.Parts = quickParts(config.Parts[0])
	isGiven := func(m matrixFlag) bool { return c.Flags().Changed(m.name) }
	isLonger := slices.ContainsFunc([]string{"budget", "precision", "peer"}, c.Flags().Changed)
	if !isLonger && !slices.ContainsFunc(b.flags(), isGiven) {
		config.Limit = bench.QuickLimit
	}
	return config, checkQuick(c)
}

// quickParts returns the parts of --quick, with what the flags vary in the part that they describe.
func quickParts(given bench.Part) []bench.Part {
	supported := describeVersion().ISA
	best := supported[len(supported)-1]
	isPlain := given.Base.ISA == "plain" || given.Base.ISA == "" && best == "plain"
	parts := bench.Quick(given.Base, isPlain)
	for i := range parts {
		parts[i].Wires, parts[i].Conditions = given.Wires, given.Conditions
		parts[i].Threads, parts[i].Dimensions = given.Threads, given.Dimensions
	}
	return parts
}

// newFolder names a folder of results by the time and by what it holds.
func newFolder(what string) string { return rundir.Free(what, time.Now()) }

// benchConfig returns a benchmark of some matrices, without its folder.
func (a *app) benchConfig(all []matrix, given map[string]string) (bench.Config, error) {
	config := all[0].config()
	if roster, err := a.environment.Roster(); err == nil && roster != nil {
		config.OwnCores = true
		for _, h := range roster {
			config.Cores = min(config.Cores, cmp.Or(h.Cores, config.Cores))
		}
	}
	for _, m := range all {
		part, err := a.part(m, given)
		if err != nil {
			return bench.Config{}, err
		}
		config.Parts = append(config.Parts, part)
	}
	return config, nil
}

// checkQuick refuses flags whose values --quick chooses.
func checkQuick(c *cobra.Command) error {
	for _, name := range []string{"plan", "models", "strategies", "workers", "hosts", "per-host", "batch",
		"batch-per-worker", "data", "augment", "epochs", "steps", "limit-train", "limit-test", "lr",
		"schedule"} {
		if c.Flags().Changed(name) {
			return usagef("--quick chooses --%s itself; leave out one of the two", name)
		}
	}
	return nil
}

// commandLine returns the arguments that repeat the benchmark. It leaves out the folder, which must be
// new, and the flags that only change the output.
func commandLine(c *cobra.Command) []string {
	var args []string
	c.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "out", "json", "quiet", "against", "fail-over":
			return
		}
		value := strings.Trim(f.Value.String(), "[]")
		if f.Value.Type() == "bool" && value == "true" {
			args = append(args, "--"+f.Name)
			return
		}
		args = append(args, "--"+f.Name+"="+value)
	})
	return args
}

// bench shows where a benchmark stands: a line that is rewritten on a terminal, else a line per finished run.
func (p *progress) bench(s bench.Progress) {
	s.Name = spelling.Plain(s.Name) // a stranger's, if it is replayed
	switch {
	case s.Note != "":
		p.say("note: " + s.Note)
	case s.Done && s.Err != nil:
		p.say(fmt.Sprintf("run %d/%d %s failed: %s", s.Run, s.Runs, s.Name,
			spelling.PlainLines(s.Err.Error())))
	default:
		p.rewrite(benchLine(s), s.Done, s.Done)
	}
}

// fitted says what a budget leaves of the plan.
func (p *progress) fitted(f bench.Fitted) {
	text := fmt.Sprintf("expected: %s in %v; %s left out", spelling.Count(f.Runs, "run"),
		time.Duration(f.Seconds*1e9).Round(time.Second), spelling.Count(f.Left, "row"))
	if f.Kept > 0 {
		text += fmt.Sprintf("; %v are kept for runs that confirm causes",
			time.Duration(f.Kept*1e9).Round(time.Second))
	}
	p.say(text)
	for _, line := range f.Groups {
		p.say("  " + line)
	}
}

// benchLine formats the progress of a benchmark.
func benchLine(s bench.Progress) string {
	var b strings.Builder
	again := ""
	if s.Again {
		again = " again"
	}
	fmt.Fprintf(&b, "run %d/%d  round %d%s  %s", s.Run, s.Runs, s.Round, again, s.Name)
	if s.Job.Steps > 0 && !s.Done {
		fmt.Fprintf(&b, "  step %d/%d", s.Job.Step, s.Job.Steps)
	}
	if s.Failed > 0 {
		fmt.Fprintf(&b, "  %d failed", s.Failed)
	}
	if s.Done && s.Disturbed >= record.DisturbedLimit {
		fmt.Fprintf(&b, "  disturbed: %.0f %% of the cores' time", 100*s.Disturbed)
	}
	if s.Remaining > 0 {
		fmt.Fprintf(&b, "  %s left", s.Remaining.Round(time.Second))
	}
	return b.String()
}

// basesOf returns a configuration for each part of a benchmark and each of its data sets, of its first model.
func basesOf(c bench.Config) []setting.Config {
	var all []setting.Config
	for _, p := range c.Parts {
		names := p.Data
		if len(names) == 0 {
			names = []string{p.Base.Data}
		}
		for _, name := range names {
			base := p.Base
			base.Data = name
			if len(p.Models) > 0 {
				base = base.WithModel(p.Models[0])
			}
			all = append(all, base)
		}
	}
	return all
}
