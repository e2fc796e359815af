package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the column at which help text wraps.
const helpWidth = 100

// headed is a heading of help with the names below it.
type headed struct {
	heading string
	names   []string
}

// commandGroups are the headings of `lockstep --help`. Commands in none are under More.
func commandGroups() []headed {
	return []headed{
		{"Train", []string{"train", "recipe"}},
		{"Compare", []string{"bench", "commbench", "check", "explain", "predict", "replay"}},
		{"Look", []string{"report", "bundle"}},
		{"Use", []string{"infer", "serve", "export", "data", "checkpoint"}},
		{"On several hosts", []string{"launch", "run", "generate", "doctor", "lab", "token", "server"}},
	}
}

// firstFlags lists the flags that the help of a command with many shows, in the order in which people need
// them; nil: it shows all.
func firstFlags(c *cobra.Command) []string {
	switch strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ") {
	case "train":
		return []string{"model", "data", "label-column", "task", "validation", "patience", "workers",
			"batch", "epochs", "steps", "lr", "optimizer", "seed", "strategy", "weights",
			"eval-only", "out", "checkpoint-every", "resume", "json", "quiet"}
	case "bench":
		return []string{"quick", "models", "data", "strategies", "workers", "batch", "epochs", "steps", "lr",
			"conditions", "repeats", "copies", "budget", "precision", "peer", "plan", "out", "resume", "json",
			"quiet"}
	case "predict":
		return []string{"model", "data", "strategies", "workers", "batch", "scale", "network", "in-lab",
			"per-host", "oversubscription", "cores", "samples", "price", "budget", "from", "out", "json",
			"quiet"}
	case "recipe run":
		return []string{"workers", "shards", "batch", "epochs", "lr", "seed", "data-dir", "until", "for",
			"budget", "out", "checkpoint-every", "json", "quiet"}
	}
	return nil
}

// helpOf returns the command that lists all flags of c.
func helpOf(c *cobra.Command) string {
	if firstFlags(c) != nil {
		return c.CommandPath() + " --" + helpAllFlag
	}
	return c.CommandPath() + " --help"
}

// helpAllFlag asks for the long help of a command that has a short one.
const helpAllFlag = "help-all"

// helpAll is the value of that flag.
type helpAll struct{ isAsked bool }

func (h *helpAll) String() string   { return "false" }
func (h *helpAll) Type() string     { return "bool" }
func (h *helpAll) Set(string) error { h.isAsked = true; return pflag.ErrHelp }

// addHelpAll gives c that flag.
func addHelpAll(c *cobra.Command) {
	f := c.Flags().VarPF(&helpAll{}, helpAllFlag, "", "explain the command, and all flags by group")
	f.NoOptDefVal = "true"
}

// printHelp prints the help of c: of a command with many flags the first of them or, if that is asked for,
// all of them with its long text, or those of a topic, which is the word behind --help.
func printHelp(c *cobra.Command, words []string) {
	w := c.OutOrStdout()
	all := c.Flags().Lookup(helpAllFlag)
	isShort := firstFlags(c) != nil && (all == nil || !all.Value.(*helpAll).isAsked)
	i := slices.Index(words, "--help") + 1
	if isShort && 0 < i && i < len(words) && printTopic(c, w, strings.ToLower(words[i])) {
		return
	}
	text := c.Long
	if text == "" || isShort {
		text = c.Short
	}
	fmt.Fprintf(w, "%s\n\n", text)
	if isShort {
		printShort(c, w)
	} else {
		printUsage(c, w)
	}
}

// printShort prints the first examples and flags of c, and where the others are.
func printShort(c *cobra.Command, w io.Writer) {
	const examples = 3
	fmt.Fprintf(w, "Usage:\n  %s\n\nExamples:\n", c.UseLine())
	lines := strings.SplitAfter(strings.ReplaceAll(c.Example, "\\\n", "\x00"), "\n")
	for _, line := range lines[:min(examples, len(lines))] {
		fmt.Fprintln(w, strings.TrimSuffix(strings.ReplaceAll(line, "\x00", "\\\n"), "\n"))
	}
	first := pflag.NewFlagSet("", pflag.ContinueOnError)
	first.SortFlags = false
	for _, name := range firstFlags(c) {
		first.AddFlag(c.Flags().Lookup(name))
	}
	fmt.Fprintf(w, "\nFlags:\n%s\n", usages(first))
	if c.HasAvailableSubCommands() {
		printCommands(w, c)
	}
	fmt.Fprintf(w, "\n%s explains the command and lists all flags.\n%s --help TOPIC lists those of a "+
		"topic, such as wire or optimizer.\n", helpOf(c), c.CommandPath())
}

// printTopic prints the flags of c whose group or name has the topic, if there are any.
func printTopic(c *cobra.Command, w io.Writer, topic string) (isFound bool) {
	for _, g := range flagGroups(c) {
		about := pflag.NewFlagSet("", pflag.ContinueOnError)
		about.SortFlags = false
		g.VisitAll(func(f *pflag.Flag) {
			if strings.Contains(strings.ToLower(g.Name()+" "+f.Name), topic) {
				about.AddFlag(f)
			}
		})
		if about.HasFlags() {
			isFound = true
			fmt.Fprintf(w, "%s:\n%s\n\n", g.Name(), usages(about))
		}
	}
	return isFound
}

// printUsage prints usage, examples and commands or grouped flags.
func printUsage(c *cobra.Command, w io.Writer) error {
	fmt.Fprint(w, "Usage:\n")
	if !c.HasAvailableSubCommands() || strings.HasSuffix(c.Use, "[flags]") {
		fmt.Fprintf(w, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s COMMAND [flags]\n", c.CommandPath())
	}
	if c.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		printCommands(w, c)
	}
	for _, g := range flagGroups(c) {
		fmt.Fprintf(w, "\n%s:\n%s\n", g.Name(), usages(g))
	}
	return nil
}

// usages returns the lines of flags, without the last line's end.
func usages(f *pflag.FlagSet) string { return strings.TrimRight(f.FlagUsagesWrapped(helpWidth), "\n") }

// printCommands prints the commands below c, those of the program by group.
func printCommands(w io.Writer, c *cobra.Command) {
	var names []string
	byName := map[string]*cobra.Command{}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names, byName[sub.Name()] = append(names, sub.Name()), sub
		}
	}
	groups := []headed{{"Commands", names}}
	if !c.HasParent() {
		groups = commandGroups()
		var more []string
		for _, name := range names {
			if !slices.ContainsFunc(groups, func(h headed) bool { return slices.Contains(h.names, name) }) {
				more = append(more, name)
			}
		}
		groups = append(groups, headed{"More", more})
	}
	for _, g := range groups {
		fmt.Fprintf(w, "\n%s:\n", g.heading)
		for _, name := range g.names {
			if sub := byName[name]; sub != nil {
				fmt.Fprintf(w, "  %-10s %s\n", name, sub.Short)
			}
		}
	}
}

// flagGroups returns c's flags under the headings of their groups, others under Flags.
func flagGroups(c *cobra.Command) []*pflag.FlagSet {
	const others = "Flags"
	groups := map[string]*pflag.FlagSet{}
	var order []*pflag.FlagSet
	c.Flags().SortFlags = false
	c.Flags().VisitAll(func(f *pflag.Flag) {
		group := others
		if g := f.Annotations[groupKey]; len(g) > 0 {
			group = g[0]
		}
		if groups[group] == nil {
			groups[group] = pflag.NewFlagSet(group, pflag.ContinueOnError)
			groups[group].SortFlags = false
			order = append(order, groups[group])
		}
		groups[group].AddFlag(f)
	})
	return order
}
