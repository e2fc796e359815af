package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/app/setting"
	"lockstep/recipe"
)

// completeSetting lets a shell complete the values of a setting's flag.
func completeSetting(c *cobra.Command, s setting.Setting) {
	switch {
	case s.Name == "data":
		complete(c, s.Name, cobra.FixedCompletions(s.Values, cobra.ShellCompDirectiveDefault)) // or a path
	case s.Values != nil:
		complete(c, s.Name, cobra.FixedCompletions(s.Values, cobra.ShellCompDirectiveNoFileComp))
	case s.Type == "FOLDER":
		complete(c, s.Name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	case s.Type != "FILE" && s.Type != "PATH":
		complete(c, s.Name, cobra.NoFileCompletions)
	}
}

// complete lets values of c's flag called name be completed.
func complete(c *cobra.Command, name string, values cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(name, values); err != nil {
		panic(err) // no such flag, or registered twice: a bug that every test of the command finds
	}
}

// listOf completes the last of several names separated by commas, leaving out those already given.
func listOf(names []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		var all []string
		for _, name := range names {
			if !strings.Contains(","+before, ","+name+",") {
				all = append(all, before+name)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// oneOf completes the only argument of a command.
func oneOf(names []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// settingValues returns the names that a setting accepts.
func (a *app) settingValues(name string) []string {
	for _, s := range setting.Settings(&a.catalog) {
		if s.Name == name {
			return s.Values
		}
	}
	return nil
}

// recipeNames and dataNames list the arguments of commands about one recipe or data set.
func recipeNames() []string {
	return recipe.Names()
}

func (a *app) dataNames() []string {
	var names []string
	for _, info := range a.catalog.Data.List() {
		names = append(names, info.Name)
	}
	return names
}

// inner returns the command line to complete in place of words, which ask for a completion: where the word
// that is being typed belongs to the command that another one starts, that command's. Commands that cannot be
// started so are taken out of root.
func inner(a *app, root *cobra.Command, words []string) []string {
	const request, typed = 1, 1 // words before and behind those that are complete
	isRequest := len(words) > request+typed &&
		(words[0] == cobra.ShellCompRequestCmd || words[0] == cobra.ShellCompNoDescRequestCmd)
	if !isRequest {
		return words
	}
	last := words[len(words)-1]
	outer, rest, err := a.root().Find(words[request : len(words)-typed]) // its flags are parsed only here
	if err != nil || !startsCommand(outer) || outer.ParseFlags(rest) != nil {
		return words
	}
	begun := outer.Flags().Args()
	isBehind := outer.ArgsLenAtDash() == 0
	if !wantsDash(outer) {
		isBehind = isBehind || len(begun) > 0 || !strings.HasPrefix(last, "-")
	}
	if !isBehind {
		return words
	}
	keepCommands(root, func(c *cobra.Command) bool { return isStartedBy(outer, c) })
	return inner(a, root, slices.Concat(words[:request], begun, []string{last}))
}

// startsCommand reports whether c starts another command, whose words follow its own.
func startsCommand(c *cobra.Command) bool {
	return strings.Contains(c.Use, "] COMMAND") || wantsDash(c)
}

// wantsDash reports whether that command stands behind --.
func wantsDash(c *cobra.Command) bool { return strings.Contains(c.Use, "-- COMMAND") }

// isStartedBy reports whether outer can start c.
func isStartedBy(outer, c *cobra.Command) bool {
	switch outer.Name() {
	case "lab":
		return c.Name() != outer.Name()
	case "launch":
		return c.Annotations[spreads] != ""
	}
	return c.Annotations[joins] != ""
}

// keepCommands removes the commands below c that are not wanted and have none below them that is.
func keepCommands(c *cobra.Command, isWanted func(*cobra.Command) bool) (isKept bool) {
	for _, sub := range c.Commands() {
		if keepCommands(sub, isWanted) || isWanted(sub) {
			isKept = true
			continue
		}
		c.RemoveCommand(sub)
	}
	return isKept
}
