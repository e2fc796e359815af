package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"lockstep/app/doctor"
	"lockstep/app/job"
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
	isOversubscribed   bool
	restarts, minHosts int
	log                string // folder; "": none
	isPrefixed         bool
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
reason, nothing of it runs on any host after some ten seconds. Data sets and files that flags name are sent
to the hosts; if the first host is another machine, the results come back into the current folder, or into
that of --out, when the command ends.

--max-restarts starts a run that has lost a worker or a host again from its newest checkpoint, and
--min-hosts lets it go on without the hosts that are lost; ranks are numbered anew and the bits stay the
same. Checkpoints are on the first host, which may not be lost.

The exit status is 4 if a host cannot be reached, 5 if the first host is lost, else that of the command.`,
		Example: `  lockstep launch --hosts a:2,b:2 -- train --model vgg11 --data cifar10
  lockstep launch --hosts localhost:2,me@node1:2 -- bench --strategies single,ddp --workers 1,2,4
  lockstep launch --hostfile hosts -- recipe run cifar10-94
  lockstep launch --hosts a:2,b:2,c:2 --max-restarts 3 --min-hosts 2 --log logs -- train --checkpoint-every 1m
  lockstep launch --hosts "node[01-03]:4" --binary linux/arm64=lockstep-arm64 -- train`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	f.hostFlags.add(c)
	c.Flags().SetInterspersed(false) // a command without -- before it is refused, not its flags
	c.Flags().StringVar(&f.log, "log", "", "`FOLDER` for the output of each rank, as it is written "+
		"(default: none)")
	c.Flags().BoolVar(&f.isPrefixed, "prefix", false, "with --log: also print each line behind its rank, "+
		"on the error stream (default: false)")
	c.Flags().Var(&bounded{&f.restarts, 0, maxRestarts}, "max-restarts", "`N` times, start train or a "+
		"recipe again from its newest checkpoint after a worker or a host was lost")
	c.Flags().Var(&bounded{&f.minHosts, 0, maxHosts}, "min-hosts", "with --max-restarts: go on without lost "+
		"hosts while `N` are left; 0: all are needed")
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
	if err := f.check(c.Context(), a, hosts, args); err != nil {
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
	var logs *launch.Logs
	if logs, err = f.openLogs(a); err != nil {
		return err
	}
	err = f.follow(ctx, a, signals, logs)
	if logs != nil {
		err = errors.Join(err, logs.Close())
	}
	if launch.IsLost(err) {
		return err
	}
	return errors.Join(err, f.bring(a, console))
}

// check refuses what can be refused before a host is reached.
func (f *launchFlags) check(ctx context.Context, a *app, hosts []launch.Host, args []string) error {
	switch {
	case f.restarts == 0 && f.minHosts > 0:
		return usagef("--min-hosts %d: without --max-restarts, no host may be lost", f.minHosts)
	case f.minHosts > len(hosts):
		return usagef("--min-hosts %d: more than the %s of the job", f.minHosts, count(len(hosts), "host"))
	case f.log == "" && f.isPrefixed:
		return usagef("--prefix: is for --log FOLDER")
	}
	for _, h := range hosts {
		f.roster = append(f.roster, cluster.RosterHost{Name: h.Name, Address: "127.0.0.1", Slots: h.Slots})
	}
	configs, err := f.seenBy(a).configsOf(ctx, args)
	if err != nil {
		return err
	}
	isRun := len(configs) == 1 && !slices.Contains([]string{"bench", "commbench"}, args[0])
	if !isRun && (f.restarts > 0 || f.log != "") {
		return usagef("--max-restarts and --log: are for train and for recipes that train; a benchmark " +
			"goes " +
			"on with bench --resume")
	}
	return nil
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
	if f.restarts > 0 || f.log != "" {
		f.freight.direct(configs[0])
	}
	f.as.args, f.folder = slices.Concat(f.as.args, f.freight.extra), jobName()
	return f.freight.send(ctx, console, f.agents, f.folder)
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

// follow runs the command, and starts it again if it has lost a worker or a host and may do so.
func (f *launchFlags) follow(ctx context.Context, a *app, signals <-chan os.Signal,
	logs *launch.Logs) error {
	again, args := restarts{most: f.restarts}, f.as.args
	for {
		j := launch.Job{Arguments: args, Folder: f.folder, Stdout: a.stdout, Stderr: a.stderr,
			Signals: signals,
			Logs:    logs, Directory: f.freight.directory,
			Environment: f.environment(a).With(f.as.environment).With(again.environment())}
		if f.freight.isAway {
			j.First = f.folder
		}
		outcome, err := j.Run(ctx, f.agents)
		if err != nil {
			return err
		}
		if outcome.Signal != "" {
			fmt.Fprintf(a.stderr, "lockstep: host %s: the command was killed by signal %s\n",
				f.agents[0].Host.Name, outcome.Signal)
		}
		if !again.mayFollow(outcome.Status) || outcome.IsAsked {
			return statusOrNil(outcome.Status)
		}
		stands, err := f.stand(ctx)
		if err != nil {
			again.without(a, err)
			return statusOrNil(outcome.Status)
		}
		cause, ok := f.leave(a, outcome.Lost)
		if !ok {
			return statusOrNil(outcome.Status)
		}
		again.note(a, stands, cause, f.freight.directory)
		args = append([]string{"train", "--resume=" + f.freight.directory}, watching(f.as.args)...)
	}
}

// stand asks the first host where the run can go on.
func (f *launchFlags) stand(ctx context.Context) (s job.Standing, err error) {
	asked := standAsk{Directory: f.freight.directory}
	if f.freight.isAway {
		asked.Folder = f.folder
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return s, err
	}
	answer, err := f.agents[0].Ask(ctx, askStand, body)
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
			cause, count(left, "host"), least, left)
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
