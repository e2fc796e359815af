package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/cluster"
	"lockstep/internal/regular"
)

// stopGrace is how long a lab that was asked to stop may take to end with its workers.
const stopGrace = 10 * time.Second

// runApart executes a row with a host for each of its processes, by this program as `lockstep lab -- train`.
// The settings travel as a file beside the run directory.
func runApart(ctx context.Context, row Row, o launcher.Options) (*record.Summary, error) {
	file := row.Out + ".yaml"
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	if err := os.WriteFile(file, row.Rooted().YAML(nil), 0o666); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	args := slices.Concat([]string{"lab", "--quiet", "--hosts", strconv.Itoa(row.World())},
		row.Condition.Flags, []string{"--", "train", "--quiet", "--config", file, "--out", row.Out})
	if err := again(ctx, o.Environment, args...); err != nil {
		return nil, err
	}
	text, err := regular.ReadFile(filepath.Join(row.Out, rundir.SummaryFile), maxPlanBytes)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	s := &record.Summary{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("bench: %s of %s: %w", rundir.SummaryFile, row.Out, err)
	}
	return s, nil
}

// checkLab refuses a plan with labs where there can be none.
func checkLab(ctx context.Context, p Plan, e cluster.Environment) error {
	i := slices.IndexFunc(p.Rows, Row.isApart)
	if i < 0 {
		return nil
	}
	name := p.Rows[i].Condition.Name
	if e[cluster.EnvHosts] != "" {
		return usage("condition %s: its links are made on one machine; leave it out on the hosts of "+
			"lockstep launch", name)
	}
	if e[cluster.EnvLab] != "" {
		return usage("condition %s: this is a host of a lab already; run bench outside of it", name)
	}
	if err := again(ctx, e, "lab", "--quiet", "--hosts", "2", "--", "version"); err != nil {
		return usage("condition %s: no lab can be made here: %v", name, err)
	}
	return nil
}

// again runs this program with other arguments and without the variables that set something. The error of a
// program that fails is what it says last.
func again(ctx context.Context, e cluster.Environment, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("bench: find this program to run it in a lab: %w", err)
	}
	if e == nil {
		e = cluster.ProcessEnvironment()
	}
	c := exec.CommandContext(ctx, self)
	c.Args = slices.Concat(os.Args[:1], args)
	cleared := cluster.Environment{}
	for name := range e {
		if strings.HasPrefix(name, cluster.EnvTrain) {
			cleared[name] = "" // the file has every setting
		}
	}
	c.Env = e.With(cleared).Pairs()
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = stopGrace
	var said bytes.Buffer
	c.Stderr = &said
	err = c.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		if last := lastLine(said.String()); last != "" {
			return errors.New(last)
		}
	}
	return err
}

// lastLine returns the last line that says something, without the program's name before it.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimPrefix(strings.TrimSpace(lines[len(lines)-1]), "lockstep: ")
}
