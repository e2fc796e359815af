package command

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/cluster"
	"lockstep/cluster/lab"
)

// labFlags are the flags of lab.
type labFlags struct {
	config     lab.Config
	rate, loss string
	cuts       []string
	isQuiet    bool
}

func labCommand(a *app) *cobra.Command {
	var f labFlags
	c := &cobra.Command{
		Use:   "lab [flags] -- COMMAND [flags]",
		Short: "Run a command on hosts made of network namespaces, with slow, long or lossy links",
		Long: `Run a command on hosts made of network namespaces, with slow, long or lossy links.

Makes hosts on this machine (Linux) that see each other and nothing else, runs a lockstep command
on the first, and spreads its workers over all: rank r of W lives on host r*H/W. Each host has one
link to a switch. --rate limits each direction of the link; --delay and --loss apply to the packets
that a host sends, so a round trip takes twice the delay. Which packets are lost is a function of
--seed, the host and the number of the packet.

The hosts share this machine's cores, so times include contention for them. Without delay, loss and
cuts the kernel carries the packets, at any rate; with them a thread of the lab does, at some Gbit/s in
all. The lab prints which of the two it uses, and at the end the traffic of each link. That thread
counts lost packets: those of --loss and --cut, and those that found the queue of a link with a --rate
full, as in a router; TCP sends them again.

It needs root or user namespaces. Nothing is left behind, even after kill -9. Download data sets
before: a host has no access to other networks.`,
		Example: `  lockstep lab --hosts 4 --rate 1gbit --delay 1ms -- bench --model vgg11 --workers 4
  lockstep lab --hosts 2 --rate 100mbit -- train --workers 2 --wire auto --steps 200
  lockstep lab --hosts 4 --loss 0.1% --seed 7 -- commbench --ranks 4 --bytes 4MiB
  lockstep lab --hosts 4 --cut 3@10s-12s -- train --workers 4`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, a, args) },
	}
	flags := c.Flags()
	flags.SetInterspersed(false) // a command without -- before it is refused, not its flags
	flags.IntVar(&f.config.Hosts, "hosts", 2, fmt.Sprintf("`N` hosts, 1 to %d", lab.MaxHosts))
	flags.StringVar(&f.rate, "rate", "",
		"`RATE` of each link, such as 100mbit or 10gbit (default: no limit)")
	flags.DurationVar(&f.config.Link.Delay, "delay", 0, "one-way `TIME` of each packet, such as 1ms")
	flags.StringVar(&f.loss, "loss", "0%", "`PART` of the packets that are lost, such as 0.1%")
	flags.StringSliceVar(&f.cuts, "cut", nil, "`HOST@FROM-TO`, such as 3@10s-12s: the host is unreachable "+
		"from 10 to 12 seconds after the start; :out loses only what it sends, :in what it is sent")
	flags.Uint64Var(&f.config.Seed, "seed", 1, "seed `N` of losses")
	flags.IntVar(&f.config.MTU, "mtu", lab.DefaultMTU, "greatest packet in `BYTES`")
	flags.BoolVarP(&f.isQuiet, "quiet", "q", false, "print only the command's output")
	return c
}

// run checks the command line, then lets the command run in the lab.
func (f *labFlags) run(c *cobra.Command, a *app, args []string) error {
	if err := a.checkLabCommand(c, args); err != nil {
		return err
	}
	if err := f.complete(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program to run it in the lab: %w", err)
	}
	signals, stop := hear()
	defer stop()
	again := slices.Concat(os.Args[:1], []string{"lab", fmt.Sprintf("--quiet=%v", f.isQuiet)}, commandLine(c),
		[]string{"--"}, args)
	options := lab.Options{Program: self, Command: slices.Concat(os.Args[:1], args), Again: again,
		Environment: a.environment.With(cluster.Environment{
			cluster.EnvLabFlags: strings.Join(commandLine(c), " ")}), Signals: signals,
		Stdin: os.Stdin, Stdout: a.stdout, Stderr: a.stderr}
	if !f.isQuiet {
		options.Started = func(r *lab.Report) { a.showLab(r, f.config) }
	}
	report, err := lab.Run(f.config, options)
	if report != nil && !f.isQuiet {
		err = errors.Join(report.Text(a.stderr), err)
	}
	return err
}

// checkLabCommand refuses what cannot run in a lab before there is one.
func (a *app) checkLabCommand(c *cobra.Command, args []string) error {
	if a.environment[cluster.EnvLab] != "" {
		return usagef("lab: this is a host of a lab already; a lab cannot be within a lab")
	}
	known, err := behind(c, args, "lab --hosts 4 -- bench --quick")
	if err == nil && known == c {
		return usagef("lab: a lab cannot be within a lab; want train, bench, commbench or another command")
	}
	return err
}

// behind returns the command that args of c name, which have to stand behind --, as in an example.
func behind(c *cobra.Command, args []string, example string) (*cobra.Command, error) {
	known, _, err := c.Root().Find(args)
	isUnknown, isBehind := err != nil || known == c.Root(), c.ArgsLenAtDash() == 0
	switch {
	case len(args) == 0:
		return nil, usagef("%s: no command; put one behind --, as in %s", c.Name(), example)
	case isUnknown && !isBehind:
		return nil, usagef("%s takes no argument %.80q before --; its flags come first, as in %s", c.Name(),
			args[0], example)
	case !isBehind:
		return nil, usagef("%s: -- is missing before %s; want it as in %s", c.Name(), args[0], example)
	case isUnknown:
		return nil, unknownCommand(c.Root(), args[0])
	}
	return known, nil
}

// complete parses the flags that are given as text.
func (f *labFlags) complete() (err error) {
	l := &f.config.Link
	if f.rate != "" {
		if l.Rate, err = lab.ParseRate(f.rate); err != nil {
			return usagef("--rate: %v", err)
		}
	}
	if l.Loss, err = lab.ParseLoss(f.loss); err != nil {
		return usagef("--loss: %v", err)
	}
	for _, text := range f.cuts {
		cut, err := lab.ParseCut(text)
		if err != nil {
			return usagef("--cut: %v", err)
		}
		f.config.Cuts = append(f.config.Cuts, cut)
	}
	if err := f.config.Validate(); err != nil {
		return usagef("lab: %v", err)
	}
	return nil
}

// labCommandLine returns the arguments of the lab in which this process runs; none outside of a lab.
func (a *app) labCommandLine() []string {
	if a.environment[cluster.EnvLab] == "" {
		return nil
	}
	return slices.Concat([]string{"lab"}, strings.Fields(a.environment[cluster.EnvLabFlags]), []string{"--"})
}

// showLab prints a description of the lab.
func (a *app) showLab(r *lab.Report, c lab.Config) {
	by := "the kernel"
	if r.IsEmulated {
		by = "the lab's emulator"
	}
	fmt.Fprintf(a.stderr, "lab: %d hosts, links of %v, packets carried by %s\n", c.Hosts, c.Link, by)
}

// statusOf returns the exit status of the lab's command or of rank 0, given the error with which they ended.
func statusOf(err error) int {
	if exit := (*lab.ExitError)(nil); errors.As(err, &exit) {
		return exit.Status
	}
	if ended := (*statusError)(nil); errors.As(err, &ended) {
		return ended.status
	}
	return 0
}
