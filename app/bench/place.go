package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/app/job/chooser"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/internal/tail"
)

// place returns the rows with the hosts that each has in e.
func place(rows []Row, e cluster.Environment, cores int) error {
	for i := range rows {
		r := &rows[i]
		on, err := r.environment(e)
		if err != nil {
			return err
		}
		loads := on.Loads(r.Workers, r.NumApart())
		if loads == nil {
			continue
		}
		r.Cores = 0
		isEven := true
		for _, l := range loads {
			r.Cores += cmp.Or(l.Cores, cores)
			isEven = isEven && l.Workers == loads[0].Workers
		}
		r.Layout = Layout{Hosts: len(loads)}
		if isEven {
			r.PerHost = loads[0].Workers
		}
	}
	return nil
}

// environment returns e for a row: with the hosts of its layout only.
func (r Row) environment(e cluster.Environment) (cluster.Environment, error) {
	if r.Hosts == 0 || r.PerHost == 0 {
		return e, nil
	}
	on, err := e.OnHosts(r.Hosts, r.PerHost)
	if err != nil {
		return nil, setting.Refuse("row %s: %v", r.Name(), err)
	}
	return on, nil
}

// environment returns the environment of the runs.
func environment(o launcher.Options) cluster.Environment {
	if o.Environment == nil {
		return cluster.ProcessEnvironment()
	}
	return o.Environment
}

// execute runs one row.
func execute(ctx context.Context, row Row, o launcher.Options) (*record.Summary, error) {
	if row.isApart() {
		return runApart(ctx, row, o)
	}
	var err error
	if o.Environment, err = row.environment(environment(o)); err != nil {
		return nil, err
	}
	return chooser.Run(ctx, row.Config, o)
}

// stopGrace is how long a lab that was asked to stop may take to end with its workers.
const stopGrace = 10 * time.Second

// runApart executes a row with a host for each of its processes, by this program as `lockstep lab -- train`.
// The settings travel as a file beside the run directory.
func runApart(ctx context.Context, row Row, o launcher.Options) (*record.Summary, error) {
	file := row.Out + ".yaml"
	err := os.MkdirAll(filepath.Dir(file), 0o777)
	if err == nil {
		err = os.WriteFile(file, row.Rooted().YAML(nil), 0o666)
	}
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	args := slices.Concat([]string{"lab", "--quiet", "--hosts", strconv.Itoa(row.World())},
		row.Condition.Flags, []string{"--", "train", "--quiet", "--config", file, "--out", row.Out})
	if err := again(ctx, o.Environment, args...); err != nil {
		return nil, err
	}
	return rundir.Directory(row.Out).Summary()
}

// checkLab refuses a plan with labs where there can be none.
func checkLab(ctx context.Context, p Plan, e cluster.Environment) error {
	i := slices.IndexFunc(p.Rows, Row.isApart)
	if i < 0 {
		return nil
	}
	name := p.Rows[i].Condition.Name
	if e[cluster.EnvHosts] != "" {
		return setting.Refuse("condition %s: its links are made on one machine; leave it out on the hosts "+
			"of lockstep launch", name)
	}
	if e[cluster.EnvLab] != "" {
		return setting.Refuse("condition %s: this is a host of a lab already; run bench outside of it", name)
	}
	if err := CheckLab(ctx, e); err != nil {
		return setting.Refuse("condition %s: no lab can be made here: %v", name, err)
	}
	return nil
}

// CheckLab returns an error if no lab of two hosts can be made here.
func CheckLab(ctx context.Context, e cluster.Environment) error {
	return again(ctx, e, "lab", "--quiet", "--hosts", "2", "--", "version")
}

// again runs this program with other arguments and without the variables that set something. The error of a
// program that fails is what it says last.
func again(ctx context.Context, e cluster.Environment, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("bench: find this program to run it in a lab: %w", err)
	}
	e = environment(launcher.Options{Environment: e})
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
	var said tail.End
	c.Stderr = &said
	err = c.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		if last := said.LastLine(); last != "" { // without the program's name
			return errors.New(strings.TrimPrefix(last, "lockstep: "))
		}
	}
	return err
}
