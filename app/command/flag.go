package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockstep/app/setting"
	"lockstep/internal/spelling"
)

// settingFlag is the flag of a setting.Setting; it stores the text, which setting.Resolve parses.
type settingFlag struct {
	setting.Setting
	text string
}

func (s *settingFlag) String() string        { return s.text }
func (s *settingFlag) Set(text string) error { s.text = text; return nil }
func (s *settingFlag) Type() string {
	if s.IsSwitch() {
		return "bool"
	}
	return s.Setting.Type
}

// groupKey annotates a flag with its heading in the help text.
const groupKey = "group"

// addSettings gives c a flag for each setting.
func addSettings(c *cobra.Command, settings []setting.Setting) {
	for _, s := range settings {
		usage := s.Usage
		if s.Default != "" {
			usage += " (default: " + s.Default + ")"
		}
		f := c.Flags().VarPF(&settingFlag{Setting: s}, s.Name, "", usage)
		f.Annotations = map[string][]string{groupKey: {s.Group}}
		if s.IsSwitch() {
			f.NoOptDefVal = "true"
			continue
		}
		completeSetting(c, s)
	}
}

// given returns the settings that were given on c's command line.
func given(c *cobra.Command) map[string]string {
	texts := map[string]string{}
	c.Flags().Visit(func(f *pflag.Flag) {
		if s, ok := f.Value.(*settingFlag); ok {
			texts[f.Name] = s.text
		}
	})
	return texts
}

// flagError turns an error of pflag into a usage error.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	words := c.Flags().Args()
	isGroup := c.HasAvailableSubCommands() && !strings.HasSuffix(c.Use, "[flags]")
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return pflag.ErrHelp
	case errors.As(err, &unknown) && isGroup && len(words) > 0: // before the flags of a mistyped command
		return unknownCommand(c, words[0])
	case errors.As(err, &unknown):
		flag := "--" + unknown.GetSpecifiedName()
		meant := flag
		if letters := unknown.GetSpecifiedShortnames(); letters != "" {
			flag = "-" + unknown.GetSpecifiedName()
			meant = "--" + letters
			if c.Flags().Lookup(letters) != nil { // as in -lr 0.1
				return usagef("unknown flag -%s; did you mean %q? (%s lists all)", letters, meant, helpOf(c))
			}
		}
		return usagef("unknown flag %s%s (%s lists all)", flag, hintFlag(c, meant), helpOf(c))
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		return usagef("--%s: %v", f.Name, refusal(f, invalid.GetValue(), invalid.Unwrap()))
	}
	return usagef("%v (see %s --help)", err, c.CommandPath())
}

// refusal says why text is no value of f, whose Set has returned the error why.
func refusal(f *pflag.Flag, text string, why error) error {
	switch kind := f.Value.Type(); {
	case kind == "bool":
		return fmt.Errorf("%.80q is neither true nor false", text)
	case kind == "int" && errors.As(why, new(*strconv.NumError)):
		return fmt.Errorf("%.80q, want a whole number that fits 64 bits", text)
	}
	return why
}

// hintFlag suggests a flag of c, or a command with the name of the flag, or says where the flags of a command
// that c starts are.
func hintFlag(c *cobra.Command, flag string) string {
	var names []string
	var hasSettings bool
	c.Flags().VisitAll(func(f *pflag.Flag) {
		_, isSetting := f.Value.(*settingFlag)
		hasSettings = hasSettings || isSetting
		names = append(names, "--"+f.Name)
	})
	for _, sub := range c.Commands() {
		if "--"+sub.Name() == flag {
			return fmt.Sprintf("; did you mean %q?", sub.CommandPath())
		}
	}
	if len(flag) <= len("--for") { // whose neighbours are other words, as --foo and --for
		names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, flag) })
	}
	near := spelling.Hint(flag, names)
	called := setting.Elsewhere(flag)
	switch {
	case hasSettings && setting.FromElsewhere(flag) != "" && c.Flags().Lookup(called) == nil:
		return "" // c lacks it
	case hasSettings:
		return setting.Hint(flag, names)
	case called != "" && c.Flags().Lookup(called) != nil:
		return fmt.Sprintf("; did you mean %q?", "--"+called)
	case called == strings.TrimLeft(flag, "-") && !strings.Contains(c.Use, "COMMAND"):
		return "; it is a flag of lockstep train"
	case near == "" && called != "" && strings.Contains(c.Use, "COMMAND"):
		return fmt.Sprintf("; --%s of train stands behind that command", called)
	}
	return near
}

// available returns the names of the commands below c that are shown.
func available(c *cobra.Command) (names []string) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// unknownCommand returns the error for a name that is not a command of c.
func unknownCommand(c *cobra.Command, name string) error {
	names := available(c)
	hint := spelling.Hint(name, names)
	if hint == "" && !c.HasParent() && setting.FromElsewhere(name) != "" {
		hint = fmt.Sprintf("; did you mean \"train --%s\"?", setting.FromElsewhere(name))
	}
	return usagef("unknown command %.80q%s (known: %s)", name, hint, strings.Join(names, ", "))
}

// group returns a command that only has commands below it.
func group(c *cobra.Command, below ...*cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		return unknownCommand(c, args[0])
	}
	c.AddCommand(below...)
	return c
}
