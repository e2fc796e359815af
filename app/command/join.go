package command

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/job/worker"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/cluster/foreign"

	"github.com/spf13/cobra"
)

// joins is the annotation of commands that share their work if another launcher, such as mpirun, starts them
// as one of several processes.
const joins = "joins"

// locate finds the place of this process among those that another launcher has started. A command that
// cannot join the others refuses to be one of several.
func (a *app) locate(c *cobra.Command) error {
	if c.Annotations[joins] == "" {
		return foreign.CheckAlone(a.environment)
	}
	p, err := foreign.Place(a.environment)
	if err == nil && !p.IsSeveral() {
		if tasks := foreign.UnstartedTasks(a.environment); tasks > 0 {
			fmt.Fprintf(a.stderr, "note: this is one process of a Slurm job with room for %d tasks; srun in "+
				"front of the command starts all of them\n", tasks)
		}
		return nil
	}
	wanted := given(c)
	if workers := a.environment[cluster.EnvTrain+"WORKERS"]; wanted["workers"] == "" && workers != "" {
		wanted["workers"] = workers
	}
	flags := cluster.Environment{}
	for _, name := range []string{"workers", "master-addr", "master-port"} {
		flags["--"+name] = wanted[name]
	}
	a.place, err = foreign.Place(a.environment.With(flags))
	if err == nil && a.place.IsSeveral() && a.place.Rank == 0 && wanted["workers"] != "" {
		fmt.Fprintf(a.stderr, "note: --workers %s are the processes that %s has started; no others are "+
			"started\n", wanted["workers"], a.place.Launcher)
	}
	return err
}

// meet brings the processes together that another launcher has started. For rank 0 it opens the meeting. The
// others join, work and are then done.
func (a *app) meet(c *cobra.Command) (isDone bool, err error) {
	if !a.place.IsSeveral() || a.meeting != nil {
		return false, nil
	}
	member, err := a.place.Member(a.environment)
	if err != nil {
		return true, err
	}
	terms, err := a.terms(c)
	if err != nil {
		return true, err
	}
	member.Clock = a.clock
	member.Waits = func(why error) { fmt.Fprintf(a.stderr, "note: still trying: %v\n", why) }
	if a.place.Rank == 0 {
		if a.meeting, err = cluster.Host(a.place, member); err != nil {
			return true, err
		}
		a.meeting.Agree = terms.Agree
		return false, nil
	}
	asked, stop := asked()
	defer stop()
	own := cluster.Environment{cluster.EnvISA: cmp.Or(given(c)["isa"], a.environment[cluster.EnvISA])}
	guest := worker.Guest{Member: member, Environment: a.environment.With(own), Catalog: &a.catalog,
		Terms: terms, Log: a.stderr, Asked: asked, Abandon: os.Exit}
	status, err := guest.Work(c.Context())
	if err == nil && status != job.ExitOK {
		err = &statusError{status}
	}
	return true, err
}

// terms returns what the processes that another launcher has started must agree on: what program this is,
// what it was asked to do, and the settings that are not each process's own.
func (a *app) terms(c *cobra.Command) (worker.Terms, error) {
	file := ""
	if f := c.Flags().Lookup("config"); f != nil {
		file = f.Value.String()
	}
	terms, err := setting.Terms(setting.Source{Catalog: &a.catalog, File: file, Environment: a.environment,
		Flags: given(c)})
	if err != nil {
		return nil, err
	}
	terms["version"] = setting.NewTerm(describeVersion().source())
	terms["command"] = setting.NewTerm(strings.Join(append([]string{c.Name()}, c.Flags().Args()...), " "))
	return terms, nil
}

// statusError is the error of a process of a job that has failed: rank 0 has said why.
type statusError struct{ status int }

// Error names the status.
func (e *statusError) Error() string {
	return fmt.Sprintf("the job has ended with status %d", e.status)
}

// asked returns a channel that is closed by the first signal that asks the run to stop. Ctrl-C is left to
// rank 0, which receives it too and ends this process.
func asked() (asked <-chan struct{}, stop func()) {
	ctx, silence := signal.NotifyContext(context.Background(), endings()...)
	unheard := make(chan os.Signal, 1)
	signal.Notify(unheard, os.Interrupt)
	return ctx.Done(), func() {
		silence()
		signal.Stop(unheard)
	}
}

// adapt makes the configuration of a run fit the processes that another launcher has started.
func (a *app) adapt(c *setting.Config, origins setting.Origins) error {
	if !a.place.IsSeveral() {
		return nil
	}
	isOpen := func(name string) bool { return origins[name] == "derived" || origins[name] == "default" }
	origins["workers"] = a.place.Source
	if isOpen("threads") {
		c.Threads = launcher.OwnThreads(a.place)
	}
	isOneHost, err := a.place.IsOneHost()
	switch {
	case err != nil:
		return err
	case c.IsOneProcess():
		return usagef("%s: --link local is for workers of one process; want auto, shm or tcp", a.place.Source)
	case !isOneHost && isOpen("link"):
		c.Link = "tcp"
	case !isOneHost && c.SharesMemory():
		return usagef("%s: --link shm is for workers of one machine; want auto or tcp", a.place.Source)
	}
	return nil
}

// addWorkers adds to flags the number of workers that another launcher has started.
func (a *app) addWorkers(flags map[string]string) map[string]string {
	if a.place.IsSeveral() {
		flags["workers"] = strconv.Itoa(a.place.World)
	}
	return flags
}

// isPreemption reports whether a scheduler sends the signal before it takes the machine away.
func isPreemption(s os.Signal) bool { return slices.Contains(preemptions(), s) }
