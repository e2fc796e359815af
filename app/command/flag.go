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

// flagError turns an error of pflag into a usage error, which has one line but where several flags of a line
// are unknown.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	mistyped := wordOfCommand(c)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return pflag.ErrHelp
	case errors.As(err, &unknown) && mistyped != "":
		return unknownCommand(c, mistyped)
	case errors.As(err, &unknown):
		if unknown.GetSpecifiedShortnames() != "" {
			letter := unknown.GetSpecifiedName()
			return usagef("unknown flag -%s%s (%s lists all)", letter, hintLetter(c, letter),
				helpOf(c))
		}
		lines := unknownFlags(c, "--"+unknown.GetSpecifiedName())
		return usagef("%s (%s lists all)", strings.Join(lines, "\n"), helpOf(c))
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		return usagef("--%s: %v", f.Name, refusal(f, invalid.GetValue(), invalid.Unwrap()))
	}
	return usagef("%v (see %s --help)", err, c.CommandPath())
}

// wordOfCommand returns the word of the program's command line where c, which only has commands below it,
// expects one of them, and which is none; "": there is no such word.
func wordOfCommand(c *cobra.Command) string {
	if c.Context() == nil || !c.HasAvailableSubCommands() || strings.HasSuffix(c.Use, "[flags]") {
		return ""
	}
	line, _ := c.Context().Value(lineKey{}).([]string)
	depth := len(strings.Fields(c.CommandPath())) - 1
	if len(line) <= depth || strings.HasPrefix(line[depth], "-") {
		return ""
	}
	return line[depth]
}

// unknownFlags words first, which c does not know, and the unknown flags behind it on the program's command
// line, up to --.
func unknownFlags(c *cobra.Command, first string) []string {
	unknown := []string{first}
	var line []string
	if c.Context() != nil && !strings.Contains(c.Use, "COMMAND") { // whose flags are behind its own
		line, _ = c.Context().Value(lineKey{}).([]string)
	}
	for _, word := range line {
		name, _, _ := strings.Cut(word, "=")
		if name == "--" {
			break
		}
		bare, isFlag := strings.CutPrefix(name, "--")
		if isFlag && c.Flags().Lookup(bare) == nil && !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
		}
	}
	for i, name := range unknown {
		unknown[i] = fmt.Sprintf("unknown flag %s%s", name, hintFlag(c, name))
	}
	return unknown
}

// lineKey is the key of a context's command line.
type lineKey struct{}

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

// bounded is the value of a flag that takes the whole numbers from least to most.
type bounded struct {
	at          *int
	least, most int
}

func (b *bounded) String() string { return strconv.Itoa(*b.at) }
func (b *bounded) Type() string   { return "int" }
func (b *bounded) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < b.least || n > b.most {
		return fmt.Errorf("%.80q, want a whole number from %d to %d", text, b.least, b.most)
	}
	*b.at = n
	return nil
}

// hintFlag suggests a flag of c, or a command with the name of the flag.
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
	if called := setting.FromElsewhere(flag); hasSettings && called != "" && c.Flags().Lookup(called) == nil {
		return "" // c lacks it
	} else if hasSettings {
		return setting.Hint(flag, names)
	}
	return hintOutside(c, flag, names)
}

// hintLetter suggests a flag of c for one of a single letter.
func hintLetter(c *cobra.Command, letter string) string {
	if long := setting.LongName(letter); long != "" {
		return hintFlag(c, "--"+long)
	}
	return ""
}

// likeKey annotates a flag with a setting of training that it is here what that is there.
const likeKey = "like"

// like annotates c's flag called name.
func like(c *cobra.Command, name, setting string) {
	c.Flags().Lookup(name).Annotations = map[string][]string{likeKey: {setting}}
}

// hintOutside suggests a flag of c, which has no settings, or says that the command that c starts has one.
// names are c's flags.
func hintOutside(c *cobra.Command, flag string, names []string) string {
	called, remark := setting.Elsewhere(flag)
	behind := placeOfInner(c)
	if called == "" && remark != "" { // which no flag here is like, however near its name
		switch {
		case behind == "":
			return ""
		case strings.Contains(remark, "--"):
			return fmt.Sprintf("; %s, to train: %s", behind, remark)
		}
		return "; " + remark
	}
	own := ""
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if called != "" && (f.Name == called || slices.Contains(f.Annotations[likeKey], called)) {
			own = "--" + f.Name
		}
	})
	near := spelling.Hint(flag, names)
	switch {
	case own != "":
		return fmt.Sprintf("; did you mean %q?", own)
	case near != "" || called == "" || behind == "":
		return near
	case remark != "":
		remark = ": " + remark
	case called == "workers":
		remark = ", the number on all hosts together"
	}
	return fmt.Sprintf("; %s, train takes --%s%s", behind, called, remark)
}

// placeOfInner says where the command that c starts has its flags; "" if it starts none.
func placeOfInner(c *cobra.Command) string {
	switch {
	case wantsDash(c):
		return "behind --"
	case startsCommand(c):
		return "behind the command"
	}
	return ""
}

// unknownCommand returns the error for a name that is not a command of c.
func unknownCommand(c *cobra.Command, name string) error {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usagef("unknown command %.80q%s (known: %s)", name, spelling.Hint(name, names),
		strings.Join(names, ", "))
}
