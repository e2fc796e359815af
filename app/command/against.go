package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lockstep/app/bench"
	"lockstep/app/evidence/change"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/cluster"

	"github.com/spf13/pflag"
)

// against are the flags that compare a benchmark with an earlier one.
type against struct {
	path string  // results.json or its folder; "": with none
	over float64 // share of a step from which on a row is too slow

	then *record.Results
}

// add gives the flags to f.
func (g *against) add(f *pflag.FlagSet) {
	g.over = 0.05
	f.StringVar(&g.path, "against", "", "compare with the earlier results in this `FILE`, or its folder, "+
		"and write summary.md; for CI, see docs/howto/ci.md")
	f.Var(percent(&g.over), "fail-over", "with --against: exit with 8 if a row is told apart as slower by "+
		"more than this `PERCENT`")
}

// read reads the earlier results. They are refused if nothing of a new benchmark here can be compared with
// them, before it is run; c is its configuration, without parts if it is one that goes on.
func (g *against) read(c bench.Config) error {
	if g.path == "" {
		return nil
	}
	path := g.path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, report.ResultsFile)
	}
	then, err := report.ReadFile(path)
	switch {
	case err != nil:
		return usagef("--against: %v; give the results.json of an earlier benchmark", err)
	case then.IsChanged:
		return &changedError{path, nil}
	}
	if err := change.Machine(then.Host, bench.DescribeHost()); err != nil {
		return usagef("--against: %s: %v; keep one baseline for each kind of machine", path, err)
	}
	g.then = then
	if c.Parts == nil {
		return nil
	}
	plan, err := bench.Expand(c)
	if err != nil {
		return err
	}
	for _, row := range plan.Rows {
		if change.Fits(then, row.Setting()) {
			return nil
		}
	}
	return usagef("--against: %s has no row of this benchmark: none has its model, data, strategy, workers, "+
		"batch, settings and condition; run the command that made it: %v", path, then.Command)
}

// judge compares the results in a folder with the earlier ones and writes what changed. It fails with
// errRefused if a row is slower, which it has said.
func (a *app) judge(g against, folder string, isJSON bool) error {
	if g.then == nil {
		return nil
	}
	now, err := report.Read(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another rank's
	}
	if err != nil {
		return err
	}
	found, err := change.Between(g.then, now, g.over)
	if err != nil {
		return err
	}
	out := a.stdout
	if isJSON {
		out = a.stderr
	}
	fmt.Fprintf(out, "\n%s\n", report.Changed(found))
	err = report.WriteChanged(folder, found)
	if page := a.environment[cluster.EnvStepSummary]; page != "" {
		err = errors.Join(err, appendTo(page, report.ChangedMarkdown(found)))
	}
	if err == nil && len(found.Slower()) > 0 {
		err = errRefused
	}
	return err
}

// appendTo adds text to the end of a file.
func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
