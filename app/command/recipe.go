package command

import (
	"cmp"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/recipe"
)

func recipeCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "recipe",
		Short: "List, show or run recipes: complete configurations with a goal",
		Example: "  lockstep recipe list\n" +
			"  lockstep recipe run lenet-mnist\n" +
			"  lockstep recipe show cifar10-94 > mine.yaml && lockstep train --config mine.yaml",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return unknownCommand(c, args[0])
		},
	}
	c.AddCommand(recipeListCommand(a), recipeShowCommand(a), recipeRunCommand(a))
	return c
}

func recipeListCommand(a *app) *cobra.Command {
	var isJSON bool
	c := &cobra.Command{
		Use:   "list [flags]",
		Short: "List the recipes and their goals",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			if isJSON {
				return writeJSON(a, recipe.All())
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			for _, r := range recipe.All() {
				fmt.Fprintf(w, "%s\t%s\tgoal %.4g %%\n", r.Name, r.About, 100*r.Goal)
			}
			return w.Flush()
		},
	}
	addJSON(c, &isJSON)
	return c
}

func recipeShowCommand(a *app) *cobra.Command {
	var isJSON bool
	c := &cobra.Command{
		Use:               "show NAME [flags]",
		Short:             "Print a recipe as a file that lockstep train --config accepts",
		Args:              oneRecipe,
		ValidArgsFunction: oneOf(recipeNames()),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := recipe.Named(args[0])
			if err != nil {
				return err
			}
			if isJSON {
				return writeJSON(a, r)
			}
			_, err = a.stdout.Write(r.YAML())
			return err
		},
	}
	addJSON(c, &isJSON)
	return c
}

func recipeRunCommand(a *app) *cobra.Command {
	var isJSON, isQuiet bool
	c := &cobra.Command{
		Use:   "run NAME [flags]",
		Short: "Run a recipe, or a variant of it",
		Long: `Run a recipe, or a variant of it.

It prints the recipe, then trains as lockstep train does. Flags and environment variables override
single settings of the recipe.`,
		Example: "  lockstep recipe run lenet-mnist\n" +
			"  lockstep recipe run cifar10-94 --workers 2 --seed 2 --until accuracy=0.94",
		Args:              oneRecipe,
		ValidArgsFunction: oneOf(recipeNames()),
		Annotations:       map[string]string{joins: "true"},
		RunE: func(c *cobra.Command, args []string) error {
			if isDone, err := a.meet(c); isDone || err != nil {
				return err
			}
			r, err := recipe.Named(args[0])
			if err != nil {
				return err
			}
			if !isQuiet {
				fmt.Fprintf(a.stderr, "%s", r.YAML())
			}
			base, err := substituted(a, r, given(c))
			if err != nil {
				return err
			}
			return a.train(c, setting.Source{Base: &base, BaseName: "recipe " + r.Name}, isJSON, isQuiet)
		},
	}
	settings := slices.DeleteFunc(setting.Settings(&a.catalog), func(s setting.Setting) bool {
		return s.Name == "resume"
	})
	for i := range settings {
		settings[i].Default = "the recipe's"
	}
	addSettings(c, settings)
	addWatching(c, &isJSON, &isQuiet)
	return c
}

// substituted returns the recipe's configuration. If its data set is not found and no flag or variable
// names another, the configuration has the recipe's substitute.
func substituted(a *app, r recipe.Recipe, flags map[string]string) (setting.Config, error) {
	c := r.Config
	named := cmp.Or(flags["data"], a.environment[cluster.EnvTrain+"DATA"])
	folder := cmp.Or(flags["data-dir"], a.environment[cluster.EnvTrain+"DATA_DIR"])
	if r.Substitute == "" || named != "" {
		return c, nil
	}
	path, err := a.catalog.Data.Locate(c.Data, setting.DataOptions(folder, a.environment))
	if err != nil || path != "" {
		return c, err
	}
	fmt.Fprintf(a.stderr, "note: %s is not found (lockstep data download %s fetches it); this run is on %s "+
		"instead, and is no result for %s\n", c.Data, c.Data, r.Substitute, c.Data)
	c.Data = r.Substitute
	return c, nil
}

// oneRecipe requires exactly one argument.
func oneRecipe(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s takes the name of one recipe, not %d arguments; lockstep recipe list lists them",
			c.CommandPath(), len(args))
	}
	return nil
}
