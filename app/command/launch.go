package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"lockstep/app/doctor"
	"lockstep/app/launch"
	"lockstep/app/record"
	"lockstep/cluster"
)

// spreads is the annotation of commands whose workers may be on several hosts.
const spreads = "spreads"

// launchFlags are the flags of launch.
type launchFlags struct {
	hostFlags
	launching
	isOversubscribed bool
}

func launchCommand(a *app) *cobra.Command {
	var f launchFlags
	c := &cobra.Command{
		Use:   "launch [flags] -- COMMAND [flags]",
		Short: "Run a command with its workers on several hosts, over ssh",
		Long: `Run a command with its workers on several hosts, over ssh.

Puts hosts in front of train, bench, commbench or recipe run. Workers take the slots of the hosts in
order, and --workers defaults to their sum. Each host is reached by your own ssh, with its configuration,
agent and jump hosts, and needs nothing but an account: this program copies itself to the cache folder
there. A host whose key is not in known_hosts is refused. A host that is this machine needs no ssh.

The command itself runs on the first host. Its output, its signals (Ctrl-C once: stop, with a checkpoint
if there are any; twice: kill) and its exit status are those of launch. When launch ends, for whatever
reason, nothing stays on any host.`,
		Example: `  lockstep launch --hosts a:2,b:2 -- train --model vgg11 --data cifar10
  lockstep launch --hosts localhost:2,me@node1:2 -- bench --strategies single,ddp --workers 1,2,4
  lockstep launch --hostfile hosts -- recipe run cifar10-94
  lockstep launch --hosts "node[01-03]:4" --binary linux/arm64=lockstep-arm64 -- train`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	f.hostFlags.add(c)
	c.Flags().BoolVar(&f.isOversubscribed, "oversubscribe", false,
		"let a command start more workers than there are slots (default: false)")
	return c
}

// run checks the command line, then runs the command on the hosts.
func (f *launchFlags) run(c *cobra.Command, a *app, args []string) error {
	if err := a.checkSpreads(c, args); err != nil {
		return err
	}
	if !f.isGiven() {
		return usagef("launch: no hosts; give --hosts a:2,b:2 or --hostfile FILE")
	}
	hosts, err := f.list()
	if err != nil {
		return err
	}
	console, err := f.console(a)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, append(preemptions(), os.Interrupt)...)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	connected, interrupted := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(interrupted)
		select {
		case <-signals:
			cancel()
		case <-connected:
		}
	}()
	err = f.prepare(ctx, a, console, hosts, args)
	defer closeAll(f.agents)
	close(connected)
	<-interrupted
	if err != nil {
		return err
	}
	err = f.follow(ctx, a, signals)
	if launch.IsLost(err) && f.agents[0].Err() != nil {
		return err
	}
	return errors.Join(err, f.bring(a, console))
}

// launching is a job on hosts that are connected.
type launching struct {
	agents  []*launch.Connection
	roster  []cluster.RosterHost
	found   string // by the preflight, encoded
	as      prepared
	freight *freight
	folder  string // name of the job's folder
}

// prepare connects to the hosts, examines them, and sends them what they need.
func (f *launchFlags) prepare(ctx context.Context, a *app, console launch.Console, hosts []launch.Host,
	args []string) (err error) {
	if f.agents, err = dialAll(ctx, console, hosts); err != nil {
		return err
	}
	if err = f.examine(ctx, a); err != nil {
		return err
	}
	there := *a // as the command sees it
	there.environment = a.environment.With(f.environment(a))
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
	f.as.args, f.folder = slices.Concat(f.as.args, f.freight.extra), jobName()
	return f.freight.send(ctx, console, f.agents, f.folder)
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
		all.Go(func() { launch.Clear(ctx, agent, f.folder) }) // what stays is removed when it is old
	}
	all.Wait()
	return nil
}

// follow runs the command.
func (f *launchFlags) follow(ctx context.Context, a *app, signals <-chan os.Signal) error {
	outcome, err := launch.Job{Arguments: f.as.args, Environment: f.environment(a).With(f.as.environment),
		Folder: f.folder, IsHere: !f.freight.isAway, Stdout: a.stdout, Stderr: a.stderr,
		Signals: signals}.Run(ctx, f.agents)
	if err != nil {
		return err
	}
	if outcome.Signal != "" {
		fmt.Fprintf(a.stderr, "lockstep: host %s: the command was killed by signal %s\n",
			f.agents[0].Host.Name, outcome.Signal)
	}
	return statusOrNil(outcome.Status)
}

// examine chooses an address for each host, shows what it has found, and refuses hosts on which no job can
// run.
func (f *launchFlags) examine(ctx context.Context, a *app) error {
	areHere := true
	for _, c := range f.agents {
		f.roster = append(f.roster, cluster.RosterHost{Name: c.Host.Name, Address: "127.0.0.1",
			Slots: c.Host.Slots})
		areHere = areHere && launch.IsHere(c.Host.Name)
	}
	if areHere {
		return nil
	}
	found, err := preflight(ctx, f.agents, doctor.Config{})
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

// checkSpreads refuses what cannot use hosts before one is reached.
func (a *app) checkSpreads(c *cobra.Command, args []string) error {
	dash := c.ArgsLenAtDash()
	switch {
	case a.environment[cluster.EnvHosts] != "":
		return usagef("launch: this is a host of a job already; a job cannot be within a job")
	case dash > 0 || dash < 0 && len(args) > 0:
		return usagef("launch takes no argument %q before --; its flags come first, as in %s", args[0],
			"launch --hosts a:2,b:2 -- train")
	case len(args) == 0:
		return usagef("launch: no command; put one behind --, as in launch --hosts a:2,b:2 -- train")
	}
	_, err := a.parsed(args)
	return err
}

// parsed returns the command of args with its flags parsed. It must be one that hosts are of use to.
func (a *app) parsed(args []string) (*cobra.Command, error) {
	root := a.root()
	known, rest, err := root.Find(args)
	if err != nil || known == root {
		return nil, unknownCommand(root, args[0])
	}
	if known.Annotations[spreads] == "" {
		return nil, usagef("launch: %s has no workers for other hosts; want train, bench, commbench or "+
			"recipe "+
			"run", known.CommandPath())
	}
	if err := known.ParseFlags(rest); err != nil {
		return nil, flagError(known, err)
	}
	return known, nil
}

// jobName returns a name for the folder of a job on its hosts.
func jobName() string {
	return fmt.Sprintf("%s-%d", time.Now().UTC().Format("20060102-150405"), os.Getpid())
}
