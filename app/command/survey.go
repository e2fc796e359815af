package command

import (
	"cmp"
	"context"
	"io"

	"lockstep/app/launch"
	"lockstep/app/setting"
	"lockstep/cluster"
)

// survey collects the configurations that a command line would run, instead of running them.
type survey struct{ configs []setting.Config }

// surveyed notes configurations if the command line is only surveyed, and reports whether it is.
func (a *app) surveyed(configs ...setting.Config) bool {
	if a.survey == nil {
		return false
	}
	a.survey.configs = append(a.survey.configs, configs...)
	return true
}

// configsOf returns the configurations that a command line, which [app.parsed] takes, would run on hosts;
// none if it trains nothing. The error is that with which the command would refuse its arguments.
func (a *app) configsOf(ctx context.Context, args []string) ([]setting.Config, error) {
	s := &app{stdout: io.Discard, stderr: io.Discard, environment: a.environment, catalog: a.catalog,
		survey: &survey{}}
	root := s.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	return s.survey.configs, err
}

// surveyOf says what a command line would do in an environment.
func (a *app) surveyOf(ctx context.Context, args []string, e cluster.Environment) (s launch.Survey,
	err error) {
	there := *a
	there.environment = e
	if s.Configs, err = there.configsOf(ctx, args); err != nil {
		return s, err
	}
	known, err := a.parsed(args)
	if err != nil {
		return s, err
	}
	s.Name, s.Given = args[0], map[string]string{}
	if args[0] == "recipe" {
		s.Name = cmp.Or(known.Flags().Arg(0), args[0])
	}
	for _, name := range []string{"config", "plan", "resume", "out"} {
		if flag := known.Flags().Lookup(name); flag != nil {
			s.Given[name] = flag.Value.String()
		}
	}
	return s, nil
}
