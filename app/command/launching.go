package command

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockstep/app/doctor"
	"lockstep/app/job"
	"lockstep/app/launch"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/internal/spelling"

	"github.com/spf13/cobra"
)

// launching is a job on hosts that are connected.
type launching struct {
	agents  []*launch.Connection
	roster  []cluster.RosterHost
	found   string // by the preflight, encoded
	as      prepared
	freight *freight
	folder  string // name of the job's folder

	isWithheld bool             // it was not started again after all, and no attempt has said where it stands
	done       []record.Restart // the restarts of the run
}

// prepare connects to the hosts, examines them, and sends them what they need.
func (f *launchFlags) prepare(ctx context.Context, a *app, console launch.Console, hosts []launch.Host,
	args []string) (err error) {
	if f.agents, err = dialAll(ctx, console, hosts); err != nil {
		return err
	}
	if err = f.examine(ctx, a, args); err != nil {
		return err
	}
	there := f.seenBy(a)
	if f.as, err = there.sendData(ctx, args, console, f.agents); err != nil {
		return err
	}
	configs, err := there.configsOf(ctx, args)
	if err != nil {
		return err
	}
	known, err := a.parsed(args)
	if err != nil {
		return err
	}
	if f.freight, err = load(known, configs, !launch.IsHere(hosts[0].Name)); err != nil {
		return err
	}
	if len(configs) > 0 && (f.freight.isAway || f.restarts > 0 || f.log != "") {
		f.freight.direct(folderName(known, args, configs))
	}
	if err := f.freight.reserve(); err != nil {
		return err
	}
	f.as.args, f.folder = slices.Concat(f.as.args, f.freight.extra), jobName()
	if err := f.claim(ctx); err != nil {
		return err
	}
	return f.freight.send(ctx, console, f.agents, f.folder)
}

// folderName returns what the name of the directory of a command says besides the time.
func folderName(known *cobra.Command, args []string, configs []setting.Config) string {
	if c := configs[0]; isTraining(args, configs) {
		return fmt.Sprintf("%s-%s-w%d", c.Model, c.Strategy, c.Workers)
	}
	return cmp.Or(known.Flags().Arg(0), args[0]) // a recipe, or bench
}

// isTraining reports whether a command line, which has these configurations, is one run.
func isTraining(args []string, configs []setting.Config) bool {
	return len(configs) == 1 && !slices.Contains([]string{"bench", "commbench"}, args[0])
}

// claim makes the job's folder on all hosts but this machine, if it is the first.
func (f *launchFlags) claim(ctx context.Context) error {
	failed := make([]error, len(f.agents))
	var all sync.WaitGroup
	for k, agent := range f.agents {
		if k > 0 || f.freight.isAway {
			all.Go(func() { failed[k] = launch.Claim(ctx, agent, f.folder) })
		}
	}
	all.Wait()
	return errors.Join(failed...)
}

// examine chooses an address for each host, shows what it has found, and refuses hosts on which no job can
// run.
func (f *launchFlags) examine(ctx context.Context, a *app, args []string) error {
	isAway := func(c *launch.Connection) bool { return !launch.IsHere(c.Host.Name) }
	if !slices.ContainsFunc(f.agents, isAway) {
		return nil // over the loopback interface
	}
	found, err := preflight(ctx, f.agents, f.seenBy(a).preflightConfig(ctx, args))
	if err != nil {
		return err
	}
	refused := doctor.Refuse(found.Findings)
	shown := *found
	shown.Findings = slices.DeleteFunc(slices.Clone(found.Findings), func(f record.Finding) bool {
		return f.Level == record.LevelError // the error says them
	})
	if err := errors.Join(refused, doctor.Text(a.stderr, &shown)); err != nil {
		return err
	}
	for k, facts := range found.Hosts {
		f.roster[k].Address, f.roster[k].Cores = facts.Address, facts.Affinity
	}
	f.found = doctor.Encode(found)
	return nil
}

// seenBy returns a as the command sees it, among the hosts that are known so far.
func (f *launchFlags) seenBy(a *app) *app {
	there := *a
	there.environment = a.environment.With(f.environment(a))
	return &there
}

// environment returns the variables that the command gets from here.
func (f *launchFlags) environment(a *app) cluster.Environment {
	e := cluster.RosterEnvironment(f.roster)
	e[cluster.EnvPreflight] = f.found
	for name, value := range a.environment {
		isOurs := strings.HasPrefix(name, cluster.EnvTrain) ||
			slices.Contains([]string{cluster.EnvISA, cluster.EnvNoColor, cluster.EnvTerm}, name)
		if isOurs {
			e[name] = value
		}
	}
	if f.isOversubscribed {
		e[cluster.EnvOversubscribe] = "1"
	}
	if a.isTerminal(a.stderr) {
		e[cluster.EnvTerminal] = strconv.Itoa(a.columns(a.stderr))
	}
	return e
}

// work runs the command on the hosts, which are prepared, and fetches its logs and results.
func (f *launchFlags) work(ctx context.Context, a *app, console launch.Console,
	signals <-chan os.Signal) error {
	logs, err := f.openLogs(a)
	if err != nil {
		return err
	}
	err = f.follow(ctx, a, signals, logs)
	if logs != nil {
		err = errors.Join(err, logs.Close())
	}
	if launch.IsLost(err) {
		return f.withoutFirst(err)
	}
	failed := f.bring(a, console)
	if failed != nil && statusOf(err) != 0 {
		fmt.Fprintf(a.stderr, "lockstep: %v\n", failed) // the command has printed only its own error
	}
	if f.isWithheld {
		a.showWithheld(f.as.args, f.freight.local(), f.done)
	}
	return errors.Join(err, failed)
}

// openLogs makes the folder of logs; nil: none is asked for.
func (f *launchFlags) openLogs(a *app) (*launch.Logs, error) {
	if f.log == "" {
		return nil, nil
	}
	var lines io.Writer
	if f.isPrefixed {
		lines = a.stderr
	}
	return launch.NewLogs(f.log, lines)
}

// follow runs the command, and starts it again if it has lost a worker or a host and may do so.
func (f *launchFlags) follow(ctx context.Context, a *app, signals <-chan os.Signal,
	logs *launch.Logs) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	again, args := restarts{most: f.restarts}, f.as.args
	defer func() { f.done = again.done }()
	var stands record.Standing
	for {
		j := launch.Job{Arguments: args, Folder: f.folder, Stdout: a.stdout, Stderr: a.stderr,
			Signals: signals,
			Logs:    logs, Directory: f.freight.directory,
			Environment: f.environment(a).With(f.as.environment).With(again.environment())}
		if f.freight.isAway {
			j.First = f.folder
		}
		outcome, err := j.Run(ctx, f.agents)
		if k := f.other(err); k > 0 { // before the command began
			fmt.Fprintf(a.stderr, "lockstep: %v\n", err)
			outcome, err = launch.Outcome{Status: job.ExitPeerLost, Lost: []int{k}}, nil
			f.isWithheld = len(again.done) > 0
		}
		if err != nil {
			return err
		}
		if outcome.Signal != "" {
			fmt.Fprintf(a.stderr, "lockstep: host %s: the command was killed by signal %s\n",
				f.agents[0].Host.Name, outcome.Signal)
		}
		if outcome.IsAsked && outcome.Signal != "" && len(again.done) > 0 { // before it could hear signals
			f.isWithheld = true
			return statusOrNil(statusAsked(outcome.Signal != "SIGINT", stands))
		}
		if !again.mayFollow(outcome.Status) {
			f.isWithheld = f.isWithheld || outcome.Signal != "" // it was killed and has said nothing
			return statusOrNil(outcome.Status)
		}
		f.isWithheld = true
		if outcome.IsAsked {
			return statusOrNil(outcome.Status)
		}
		err = interruptedBy(signals, cancel, func() (err error) { stands, err = f.stand(ctx); return err })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && len(signals) > 0 {
			err, outcome.Status = errAsked, statusAsked(isPreemption(<-signals), stands)
		}
		if err != nil {
			again.without(a, err)
			return statusOrNil(outcome.Status)
		}
		cause, ok := f.leave(a, outcome.Lost)
		if !ok {
			return statusOrNil(outcome.Status)
		}
		f.isWithheld = false
		again.note(a, stands, cause, f.freight.directory)
		args = from(stands, f.as.args, f.freight.directory)
	}
}

// other returns the number of the host whose loss err is, if it is not the first one; else 0.
func (f *launchFlags) other(err error) int {
	lost := (*launch.HostError)(nil)
	if !errors.As(err, &lost) || !lost.IsLost {
		return 0
	}
	return max(0, slices.IndexFunc(f.agents, func(c *launch.Connection) bool {
		return c.Host.Name == lost.Host
	}))
}

// standTime is the time in which the first host has to read its newest checkpoint.
const standTime = 5 * time.Minute

// stand asks the first host where the run can go on.
func (f *launchFlags) stand(ctx context.Context) (s record.Standing, err error) {
	asked := standAsk{Directory: f.freight.directory}
	if f.freight.isAway {
		asked.Folder = f.folder
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return s, err
	}
	late, cancel := context.WithTimeout(ctx, standTime)
	defer cancel()
	answer, err := f.agents[0].Ask(late, askStand, body)
	if late.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("host %s has not found a checkpoint within %v: its disk hangs",
			f.agents[0].Host.Name, standTime)
	}
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(answer, &s)
}

// leave takes lost hosts off the list, and reports whether enough are left. It returns what was lost.
func (f *launchFlags) leave(a *app, lost []int) (cause string, ok bool) {
	if len(lost) == 0 {
		return "lost a worker", true
	}
	var names []string
	for _, k := range lost {
		names = append(names, f.agents[k].Host.Name)
		f.agents[k].Close()
	}
	cause = "lost host " + strings.Join(names, ", ")
	least, left := f.minHosts, len(f.agents)-len(lost)
	if least == 0 {
		least = len(f.agents)
	}
	if left < least {
		fmt.Fprintf(a.stderr, "lockstep: no restart: %s, and %s left, of at least %d; --min-hosts %d "+
			"allows it\n",
			cause, spelling.Count(left, "host"), least, left)
		return cause, false
	}
	var agents []*launch.Connection
	var roster []cluster.RosterHost
	for k := range f.agents {
		if !slices.Contains(lost, k) {
			agents, roster = append(agents, f.agents[k]), append(roster, f.roster[k])
		}
	}
	f.agents, f.roster = agents, roster
	return cause, true
}

// withoutFirst adds to the error of a first host that is lost what that means for the run, and how to go on.
func (f *launchFlags) withoutFirst(err error) error {
	first, lost := f.agents[0], (*launch.HostError)(nil)
	if !errors.As(err, &lost) || lost.Host != first.Host.Name {
		return err
	}
	text := ""
	if f.restarts > 0 {
		text = "no restart: the command ran on the first host, which has the checkpoints; the host that is " +
			"least likely to be lost should be the first\n"
	}
	if !f.freight.isAway {
		return fmt.Errorf("%w\n%swhat the run has written is in %s", err, text,
			cmp.Or(f.freight.directory, "the current folder"))
	}
	there := path.Join(first.Hello.Jobs, f.folder, f.freight.directory)
	text += fmt.Sprintf("what the run has written stays on %s for 30 days, in %s", first.Host.Name, there)
	if f.freight.directory != "" {
		text += fmt.Sprintf("; to go on: scp -r %s:%s . and lockstep launch --hosts ... -- train --resume %s",
			first.Host.Name, there, path.Base(there))
	}
	return fmt.Errorf("%w\n%s", err, text)
}

// bring fetches the results and removes the folders of the job.
func (f *launchFlags) bring(a *app, console launch.Console) error {
	ctx, stop := a.interruptible(context.Background())
	defer stop()
	if err := f.freight.bring(ctx, console, f.agents[0], f.folder); err != nil {
		return err
	}
	var all sync.WaitGroup
	for _, agent := range f.agents {
		all.Go(func() {
			launch.Clear(ctx, agent, f.folder) // of a lost host it stays
		})
	}
	all.Wait()
	return nil
}

// jobName returns a name for the folder of a job on its hosts, which no other console chooses: in containers,
// processes of several have the same number.
func jobName() string {
	return fmt.Sprintf("%s-%.8s", time.Now().UTC().Format("20060102-150405"), rand.Text())
}
