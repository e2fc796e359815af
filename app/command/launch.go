package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockstep/app/launch"
	"lockstep/cluster"
)

// spreads is the annotation of commands whose workers may be on several hosts.
const spreads = "spreads"

// launchFlags are the flags of launch.
type launchFlags struct {
	hostFlags
	launch.Command
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

--max-restarts starts a run that has lost a worker or a host again from its newest checkpoint, or from
the beginning if it has none yet, and --min-hosts lets it go on without the hosts that are lost; ranks are
numbered anew and the bits stay the same. The command and its checkpoints are on the first host: without it
the run ends, and what it has written stays there, to be fetched and resumed by hand.

The exit status is 4 if a host cannot be reached, 5 if the first host is lost, else that of the command.`,
		Example: `  lockstep launch --hosts a:2,b:2 -- train --model vgg11 --data cifar10
  lockstep launch --hosts localhost:2,me@node1:2 -- bench --strategies single,ddp --workers 1,2,4
  lockstep launch --hostfile hosts -- recipe run cifar10-94
  lockstep launch --hosts a:2,b:2,c:2 --max-restarts 3 --min-hosts 2 -- train --checkpoint-every 1m
  lockstep launch --hosts a:4,b:4 --binary linux/arm64=lockstep-arm64 -- train`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	f.hostFlags.add(c)
	c.Flags().SetInterspersed(false) // a command without -- before it is refused, not its flags
	c.Flags().Var(bounded(&f.Restarts, 0, maxRestarts), "max-restarts", "`N` times, start train or a "+
		"recipe again from its newest checkpoint after a worker or a host was lost")
	c.Flags().Var(bounded(&f.MinHosts, 0, maxHosts), "min-hosts", "with --max-restarts: go on without "+
		"lost hosts while `N` are left; 0: all are needed")
	return c
}

// run checks the command line, then runs the command on the hosts.
func (f *launchFlags) run(c *cobra.Command, a *app, args []string) error {
	known, err := a.checkSpreads(c, args)
	if errors.Is(err, pflag.ErrHelp) {
		return known.Help()
	} else if err != nil {
		return err
	}
	if !f.isGiven() {
		return usagef("launch: no hosts; give --hosts a:2,b:2 or --hostfile FILE")
	}
	if f.Hosts, err = f.list(); err != nil {
		return err
	}
	if f.Console, err = f.console(a); err != nil {
		return err
	}
	signals, stop := hear()
	defer stop()
	progress := newProgress(a, false)
	f.Arguments, f.Environment, f.Stdout, f.Stderr = args, a.environment, a.stdout, a.stderr
	f.Survey, f.Show = a.surveyOf, progress.show
	f.Signals, f.IsPreemption = signals, isPreemption
	ignoreStop()
	if a.isTerminal(a.stderr) {
		f.Columns = a.columns(a.stderr)
	}
	ended, err := launch.Run(c.Context(), f.Command)
	progress.end()
	if err == nil || ended.Status != 0 {
		if err != nil {
			fmt.Fprintf(a.stderr, "lockstep: %v\n", err) // the command has printed only its own error
		}
		err = statusOrNil(ended.Status)
	}
	if ended.IsWithheld {
		a.showWithheld(ended.Arguments, ended.Directory, ended.Restarts)
	}
	return err
}

// checkSpreads refuses what cannot use hosts before one is reached, and returns the command of args.
// The error pflag.ErrHelp says that its help is asked for.
func (a *app) checkSpreads(c *cobra.Command, args []string) (*cobra.Command, error) {
	if a.environment[cluster.EnvHosts] != "" {
		return nil, usagef("launch: this is a host of a job already; a job cannot be within a job")
	}
	if _, err := behind(c, args, "launch --hosts a:2,b:2 -- train"); err != nil {
		return nil, err
	}
	return a.parsed(args)
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
			"recipe run", known.CommandPath())
	}
	if err := known.ParseFlags(rest); errors.Is(err, pflag.ErrHelp) {
		return known, err
	} else if err != nil {
		return nil, flagError(known, err)
	}
	return known, nil
}
