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
	connections, err := dialAll(ctx, console, hosts)
	var roster []cluster.RosterHost
	var as prepared
	if err == nil {
		defer closeAll(connections)
		var found string
		if roster, found, err = f.examine(ctx, a, connections); err == nil {
			as, err = a.sendData(ctx, args, console, connections)
			as.environment[cluster.EnvPreflight] = found
		}
	}
	close(connected)
	<-interrupted
	if err != nil {
		return err
	}
	return f.follow(ctx, a, connections, roster, signals, as)
}

// follow runs the command on hosts that are connected.
func (f *launchFlags) follow(ctx context.Context, a *app, connections []*launch.Connection,
	roster []cluster.RosterHost, signals <-chan os.Signal, as prepared) error {
	outcome, err := launch.Job{Arguments: as.args, Environment: f.environment(a,
		roster).With(as.environment), Folder: jobName(),
		IsHere: launch.IsHere(connections[0].Host.Name), Stdout: a.stdout, Stderr: a.stderr,
		Signals: signals}.Run(ctx, connections)
	if err != nil {
		return err
	}
	if outcome.Signal != "" {
		fmt.Fprintf(a.stderr, "lockstep: host %s: the command was killed by signal %s\n",
			connections[0].Host.Name, outcome.Signal)
	}
	return statusOrNil(outcome.Status)
}

// examine chooses an address for each host, shows what it has found, and refuses hosts on which no job can
// run.
func (f *launchFlags) examine(ctx context.Context, a *app, connections []*launch.Connection) (
	roster []cluster.RosterHost, encoded string, err error) {
	roster = make([]cluster.RosterHost, len(connections))
	areHere := true
	for k, c := range connections {
		roster[k] = cluster.RosterHost{Name: c.Host.Name, Address: "127.0.0.1", Slots: c.Host.Slots}
		areHere = areHere && launch.IsHere(c.Host.Name)
	}
	if areHere {
		return roster, "", nil
	}
	found, err := preflight(ctx, connections, doctor.Config{})
	if err != nil {
		return nil, "", err
	}
	refused := doctor.Refuse(found.Findings)
	shown := *found
	shown.Findings = slices.DeleteFunc(slices.Clone(found.Findings), func(f record.Finding) bool {
		return f.Level == record.LevelError // the error says them
	})
	if err := errors.Join(refused, doctor.Text(a.stderr, &shown)); err != nil {
		return nil, "", err
	}
	for k, facts := range found.Hosts {
		roster[k].Address, roster[k].Cores = facts.Address, facts.Affinity
	}
	return roster, doctor.Encode(found), nil
}

// environment returns the variables that the command gets from here.
func (f *launchFlags) environment(a *app, roster []cluster.RosterHost) cluster.Environment {
	e := cluster.RosterEnvironment(roster)
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
	known, rest, err := c.Root().Find(args)
	if err != nil || known == c.Root() {
		return unknownCommand(c.Root(), args[0])
	}
	if known.Annotations[spreads] == "" {
		return usagef("launch: %s has no workers for other hosts; want train, bench, commbench or recipe run",
			known.CommandPath())
	}
	if err := known.ParseFlags(rest); err != nil {
		return flagError(known, err)
	}
	return nil
}

// jobName returns a name for the folder of a job on its hosts.
func jobName() string {
	return fmt.Sprintf("%s-%d", time.Now().UTC().Format("20060102-150405"), os.Getpid())
}
