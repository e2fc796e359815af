package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lockstep/app/bench"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/recipe"
)

func recipeCommand(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "recipe",
		Short: "List, show or run recipes: complete configurations with a goal, and whole benchmarks",
		Example: "  lockstep recipe list\n" +
			"  lockstep recipe run lenet-mnist\n" +
			"  lockstep recipe show cifar10-94 > mine.yaml && lockstep train --config mine.yaml\n" +
			"  lockstep recipe run r4-strategies --budget 10m",
	}, recipeListCommand(a), recipeShowCommand(a), recipeRunCommand(a))
}

// oneRecipe is what a command takes.
const oneRecipe = "the name of one recipe; lockstep recipe list lists them"

func recipeListCommand(a *app) *cobra.Command {
	return a.answering(&cobra.Command{
		Use:   "list [flags]",
		Short: "List the recipes and their goals",
		Args:  noArguments,
	}, func(*cobra.Command, []string) (answer, error) {
		var all []any
		for _, r := range recipe.All() {
			all = append(all, r)
		}
		for _, c := range recipe.Comparisons() {
			all = append(all, c)
		}
		return answer{all, listRecipes}, nil
	})
}

// listRecipes writes a line for each recipe.
func listRecipes(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range recipe.All() {
		fmt.Fprintf(w, "%s\t%s\tgoal %.4g %%\n", r.Name, r.About, 100*r.Goal)
	}
	for _, c := range recipe.Comparisons() {
		fmt.Fprintf(w, "%s\t%s\ta report\n", c.Name, c.About)
	}
	return w.Flush()
}

func recipeShowCommand(a *app) *cobra.Command {
	return a.answering(&cobra.Command{
		Use:               "show NAME [flags]",
		Short:             "Print a recipe as a file that lockstep train --config or bench --plan accepts",
		Args:              takes(1, 1, oneRecipe),
		ValidArgsFunction: oneOf(recipe.Names()),
	}, func(_ *cobra.Command, args []string) (answer, error) {
		write := func(text string) func(io.Writer) error {
			return func(w io.Writer) error {
				_, err := io.WriteString(w, text)
				return err
			}
		}
		if comparison, ok := recipe.ComparisonNamed(args[0]); ok {
			return answer{comparison, write(comparison.Plan)}, nil
		}
		r, err := recipe.Named(args[0])
		if err != nil {
			return answer{}, err
		}
		return answer{r, write(string(r.YAML()))}, nil
	})
}

func recipeRunCommand(a *app) *cobra.Command {
	var isJSON, isQuiet bool
	var limit time.Duration
	c := &cobra.Command{
		Use:   "run NAME [flags]",
		Short: "Run a recipe, or a variant of it",
		Long: `Run a recipe, or a variant of it.

It prints the recipe, then trains as lockstep train does. Flags and environment variables override
single settings of the recipe. A recipe that is a benchmark runs as lockstep bench --plan does; with
--budget it prints first what it does in that time, and what it leaves out. r0 to r4 are the experiments
of five reports; their plans carry the originals' figures, which stand beside the measured ones, and their
questions. r0, r3 and r4 use the hosts of lockstep launch, those of a lab that they make or, where none
can be made, processes of this machine, and say which. --weights are those of every network, or of one.`,
		Example: "  lockstep recipe run lenet-mnist\n" +
			"  lockstep recipe run cifar10-94 --workers 2 --seed 2 --until accuracy=0.94\n" +
			"  lockstep recipe run r4-strategies --budget 20m --out r4\n" +
			"  lockstep recipe run r3 --budget 10m\n" +
			"  lockstep recipe run r0 --weights bert-tiny=bert.safetensors --fresh-head",
		Args:              takes(1, 1, oneRecipe),
		ValidArgsFunction: oneOf(recipe.Names()),
		Annotations:       map[string]string{joins: "true", spreads: "true"},
		RunE: func(c *cobra.Command, args []string) error {
			if isDone, err := a.meet(c); isDone || err != nil {
				return err
			}
			if comparison, ok := recipe.ComparisonNamed(args[0]); ok {
				return a.runComparison(c, comparison, limit, isJSON, isQuiet)
			}
			return a.runRecipe(c, args[0], limit, isJSON, isQuiet)
		},
	}
	addRecipeSettings(c, a)
	c.Flags().Var(budget(&limit), "budget", "of a benchmark: the `TIME` that it may take in all, such "+
		"as 10m (default: as long as it takes)")
	addWatching(c, &isJSON, &isQuiet)
	addHelpAll(c)
	return c
}

// runRecipe trains a recipe that is one run. limit is a budget, which it does not take.
func (a *app) runRecipe(c *cobra.Command, name string, limit time.Duration, isJSON, isQuiet bool) error {
	r, err := recipe.Named(name)
	if err != nil {
		return err
	}
	if limit != 0 {
		return usagef("--budget is for recipes that are benchmarks, such as %s; --for limits the "+
			"time of a run", recipe.Comparisons()[0].Name)
	}
	if !isQuiet {
		fmt.Fprintf(a.stderr, "%s", r.YAML())
	}
	base := r.Config
	if base.Data, err = a.substitute(base.Data, r.Substitute, given(c)); err != nil {
		return err
	}
	return a.train(c, setting.Source{Base: &base, BaseName: "recipe " + r.Name}, isJSON, isQuiet)
}

// addRecipeSettings gives c the settings of a run, whose defaults are the recipe's.
func addRecipeSettings(c *cobra.Command, a *app) {
	settings := slices.DeleteFunc(setting.Settings(&a.catalog), func(s setting.Setting) bool {
		return s.Name == "resume"
	})
	for i := range settings {
		settings[i].Default = "the recipe's"
	}
	addSettings(c, settings)
}

// runComparison runs a recipe that is a benchmark.
func (a *app) runComparison(c *cobra.Command, r recipe.Comparison, limit time.Duration,
	isJSON, isQuiet bool) error {
	all, err := readPlan(r.Name, []byte(r.Plan))
	if err != nil {
		return err
	}
	flags := given(c)
	for _, name := range []string{"model", "strategy", "batch", "wire", "seed", "eval-only", "save", "until",
		"for", "checkpoint-every"} {
		if _, ok := flags[name]; ok {
			return usagef("%s chooses --%s itself; to change it: lockstep recipe show %s > mine.yaml, then "+
				"lockstep bench --plan mine.yaml", r.Name, name, r.Name)
		}
	}
	if text, ok := flags["workers"]; ok {
		for i := range all {
			if err := counts(&all[i].workers).Set(text); err != nil {
				return usagef("--workers: %v", err)
			}
		}
		delete(flags, "workers")
	}
	out := cmp.Or(flags["out"], newFolder(r.Name))
	delete(flags, "out")
	all, isInLab := a.onHosts(c.Context(), r, all)
	if isInLab {
		return a.runInLab(c, r, out, isJSON, isQuiet)
	}
	config, err := a.benchConfig(all, flags)
	if err != nil {
		return err
	}
	config.Out, config.Budget = out, limit
	command := slices.Concat([]string{"lockstep"}, a.labCommandLine(), []string{"recipe", "run", r.Name},
		commandLine(c))
	return a.compare(c, config, command, r.Name, isJSON, isQuiet)
}

// onHosts returns what is run of a recipe on the hosts that there are, and says what is not. If there are
// none, it is to run in a lab or, where none can be made, as processes.
func (a *app) onHosts(ctx context.Context, r recipe.Comparison, all []matrix) (some []matrix, isInLab bool) {
	if hosts := a.environment.NumHosts(); min(hosts, r.Hosts) > 0 {
		if hosts < r.Hosts {
			fmt.Fprintf(a.stderr, "note: %s has %d hosts and wants %d; what it asks of rows on more is not "+
				"answered\n", r.Name, hosts, r.Hosts)
		}
		for _, m := range all {
			if m.reduce(min(hosts, r.Hosts), r.Hosts) {
				some = append(some, m)
			}
		}
		return some, false
	}
	if r.Hosts == 0 || a.environment[cluster.EnvLab] != "" || a.environment[cluster.EnvHosts] != "" {
		return all, false
	}
	none := bench.CheckLab(ctx, a.environment)
	if none == nil {
		return all, true
	}
	fmt.Fprintf(a.stderr, "note: %s wants %d hosts, and no lab can be made here (%v); its workers are "+
		"processes of this machine, which tells nothing of a network\n", r.Name, r.Hosts, none)
	for i := range all {
		all[i].onOneMachine(r.Hosts)
	}
	all[0].inquiry = all[0].inquiry.OnOneMachine()
	return all, false
}

// runInLab runs a recipe in a lab with the hosts that it needs.
func (a *app) runInLab(c *cobra.Command, r recipe.Comparison, out string, isJSON, isQuiet bool) error {
	if !isQuiet {
		fmt.Fprintf(a.stderr, "note: %s needs %d hosts; this is one machine, so they are made in a lab "+
			"(lockstep launch takes real ones)\n", r.Name, r.Hosts)
	}
	args := slices.Concat([]string{"lab", "--quiet", "--hosts", strconv.Itoa(r.Hosts), "--", "recipe", "run",
		r.Name}, commandLine(c), []string{"--out=" + out, fmt.Sprintf("--json=%v", isJSON),
		fmt.Sprintf("--quiet=%v", isQuiet)})
	return statusOrNil(a.execute(args))
}

// substitute returns a data set or, if it is not found and no flag or variable names another, its substitute,
// which it says.
func (a *app) substitute(name, substitute string, flags map[string]string) (string, error) {
	named := cmp.Or(flags["data"], a.environment[cluster.EnvTrain+"DATA"])
	folder := cmp.Or(flags["data-dir"], a.environment[cluster.EnvTrain+"DATA_DIR"])
	if substitute == "" || named != "" {
		return name, nil
	}
	path, err := a.catalog.Data.Locate(name, setting.DataOptions(folder, a.environment))
	if err != nil || path != "" {
		return name, err
	}
	if !slices.Contains(a.substituted, name) { // a plan asks for it in each of its parts
		a.substituted = append(a.substituted, name)
		fmt.Fprintf(a.stderr, "note: %s is not found (lockstep data download %s fetches it); this run is "+
			"on %s instead, and is no result for %s\n", name, name, substitute, name)
	}
	return substitute, nil
}
