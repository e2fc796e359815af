package command

import (
	"strings"

	"github.com/spf13/cobra"

	"lockstep/app/setting"
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

// dataNames lists the arguments of commands about one data set.
func (a *app) dataNames() []string {
	var names []string
	for _, info := range a.catalog.Data.List() {
		names = append(names, info.Name)
	}
	return names
}
