package command

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/job"
	"lockstep/app/launch"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/cluster/foreign"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// runFlags are the flags of torchrun that have a meaning here.
type runFlags struct {
	nodes, each, node         string
	masterAddr, endpoint      string
	backend, job              string
	masterPort, restarts      int
	isStandalone, isNoProgram bool
}

func runCommand(a *app) *cobra.Command {
	var flags runFlags
	c := &cobra.Command{
		Use:   "run [flags] COMMAND ...",
		Short: "Start a command as torchrun would: with its flags, on every host",
		Long: `Start a command as torchrun would: with its flags, on every host.

In place of torchrun [flags] train.py it is lockstep run [flags] train. With one host it is
the command with --workers; --max-restarts starts a run that has lost a worker again from its
newest checkpoint, or from the beginning if it has none yet. With several hosts it is started
once on each, with the same --nnodes, --nproc-per-node and address of the first, and a --node-rank
of its own, unless Slurm, Kubeflow or an indexed Kubernetes job give that; LOCKSTEP_TOKEN is the
same on all (lockstep token).

As with torchrun, flags may be written with underscores, and variables such as PET_NNODES give
flags that are left out.`,
		Example: `  lockstep run --nproc-per-node 4 train --epochs 5
  lockstep run --standalone --nproc_per_node=2 --max-restarts 3 train --checkpoint-every 1m
  lockstep run --nnodes 2 --node-rank 0 --nproc-per-node 2 --master-addr node0 train`,
		Annotations: map[string]string{anywhere: "true"},
		Args:        cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := flags.readEnvironment(c, a.environment); err != nil {
				return err
			}
			return a.runOn(c, flags, args)
		},
	}
	flags.add(c)
	return c
}

// add gives c the flags.
func (r *runFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.SetInterspersed(false) // what follows the command is its own
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
	})
	f.StringVar(&r.nodes, "nnodes", "1", "`N` hosts; a range N:N is accepted")
	f.StringVar(&r.each, "nproc-per-node", "1", "`N` workers on each host; auto and cpu: one for each core")
	f.StringVar(&r.node, "node-rank", "", "`N`, the number of this host, from 0")
	f.StringVar(&r.masterAddr, "master-addr", "", "`ADDRESS` of host 0")
	r.masterPort = 29500
	f.Var(bounded(&r.masterPort, 0, maxPort), "master-port", "`PORT` on host 0")
	f.StringVar(&r.endpoint, "rdzv-endpoint", "", "`HOST[:PORT]` of host 0, in place of the two above")
	f.StringVar(&r.backend, "rdzv-backend", "static", "`NAME`: static or c10d, which make no difference here")
	f.StringVar(&r.job, "rdzv-id", "none", "`NAME` of the job, the same on all hosts")
	f.Var(bounded(&r.restarts, 0, maxRestarts), "max-restarts",
		"`N` times, start again from the newest checkpoint after a worker was lost; one host only")
	f.BoolVar(&r.isStandalone, "standalone", false, "one host (default: false)")
	f.BoolVar(&r.isNoProgram, "no-python", false,
		"accepted, because a command of lockstep is no script (default: false)")
}

// readEnvironment takes flags that were left out from variables such as PET_NNODES.
func (r *runFlags) readEnvironment(c *cobra.Command, e cluster.Environment) (err error) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		name := "PET_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if text := e[name]; text != "" && !f.Changed && err == nil {
			if failed := f.Value.Set(text); failed != nil {
				err = usagef("%s: %v", name, refusal(f, text, failed))
			}
			f.Changed = true
		}
	})
	return err
}

// runOn runs the command of args on this host.
func (a *app) runOn(c *cobra.Command, r runFlags, args []string) error {
	if err := a.checkJoins(c, args); err != nil {
		return err
	}
	node, err := r.on(a.environment)
	if err == nil {
		err = a.checkWorkers(c, node, args)
	}
	switch {
	case err != nil:
		return err
	case node.Nodes == 1:
		return a.runHere(node.Each, r.restarts, args)
	case r.restarts > 0:
		return usagef("--max-restarts %d: is for one host; with %d, let the scheduler start all of them "+
			"again", r.restarts, node.Nodes)
	}
	if a.environment, err = a.environment.WithToken(); err != nil {
		return err
	}
	environments := node.Environments(a.environment)
	if len(environments) == 1 {
		a.environment = environments[0]
		return statusOrNil(a.execute(args))
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program to start workers: %w", err)
	}
	signals, stop := hear()
	defer stop()
	status, err := cluster.RunEach(append([]string{self}, args...), environments, signals)
	return errors.Join(err, statusOrNil(status))
}

// statusOrNil returns the error of a command that has printed its own.
func statusOrNil(status int) error {
	if status == job.ExitOK {
		return nil
	}
	return &statusError{status}
}

// checkJoins refuses arguments that are not a command of which several processes can be started.
func (a *app) checkJoins(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("%s: no command; put one behind the flags, such as train", c.Name())
	}
	if strings.HasSuffix(args[0], ".py") || strings.Contains(args[0], "/") {
		return usagef("%s: %.80q is a script; want a command of lockstep, such as train", c.Name(), args[0])
	}
	known, _, err := c.Root().Find(args)
	if err != nil || known == c.Root() {
		return unknownCommand(c.Root(), args[0])
	}
	if known.Annotations[joins] == "" {
		return usagef("%s: %s cannot share its work with other processes; train and recipe run can", c.Name(),
			known.CommandPath())
	}
	return nil
}

// checkWorkers refuses a number of workers of the command that is not the one that run starts.
func (a *app) checkWorkers(c *cobra.Command, node foreign.Node, args []string) error {
	known, rest, err := c.Root().Find(args)
	if err != nil || known.ParseFlags(rest) != nil {
		return nil // the command itself says what is wrong
	}
	all := strconv.Itoa(node.Nodes * node.Each)
	if text, ok := given(known)["workers"]; ok && text != all {
		return usagef("--workers %s: lockstep run starts --nnodes %d x --nproc-per-node %d = %s workers; "+
			"leave it out", text, node.Nodes, node.Each, all)
	}
	return nil
}

// on resolves the flags.
func (r *runFlags) on(e cluster.Environment) (n foreign.Node, err error) {
	n = foreign.Node{Port: r.masterPort, Address: r.masterAddr, Job: r.job}
	least, most, isRange := strings.Cut(r.nodes, ":")
	if isRange && least != most {
		return n, usagef("--nnodes %s: the number of hosts does not change in a run; give one number",
			r.nodes)
	}
	if n.Nodes, err = countOf("nnodes", least, maxHosts); err != nil {
		return n, err
	}
	switch r.each {
	case "auto", "cpu":
		n.Each = runtime.GOMAXPROCS(0)
	case "gpu", "xpu":
		return n, usagef("--nproc-per-node %s: want a number, as many as the host has GPUs with train "+
			"--device cuda, auto or cpu", r.each)
	default:
		if n.Each, err = countOf("nproc-per-node", r.each, setting.MaxWorkers); err != nil {
			return n, err
		}
	}
	if !slices.Contains([]string{"static", "c10d"}, r.backend) {
		return n, usagef("--rdzv-backend %s: want static or c10d, which make no difference here", r.backend)
	}
	if n.Nodes == 1 {
		if rank, err := strconv.Atoi(r.node); r.node != "" && (err != nil || rank != 0) {
			return n, usagef("--node-rank %s: the only host has number 0; give --nnodes with several",
				r.node)
		}
		return n, nil
	}
	if r.isStandalone {
		return n, usagef("--standalone is for one host, --nnodes is %d", n.Nodes)
	}
	err = r.meetAt(e, &n)
	return n, err
}

// Bounds of the numbers of run.
const (
	maxHosts    = 1 << 16 // as many as the ranks of a job
	maxRestarts = 1 << 16
	maxPort     = 1<<16 - 1
)

// countOf returns the positive number of a flag.
func countOf(flag, text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, usagef("--%s %.80q: want a whole number from 1 to %d", flag, text, most)
	}
	return n, nil
}

// meetAt decides where the hosts meet, and which of them this is.
func (r *runFlags) meetAt(e cluster.Environment, n *foreign.Node) error {
	if r.endpoint != "" {
		if r.masterAddr != "" {
			return usagef("--rdzv-endpoint %s and --master-addr %s: give one of them", r.endpoint,
				r.masterAddr)
		}
		address, port, err := net.SplitHostPort(r.endpoint)
		if err != nil {
			address, port = r.endpoint, strconv.Itoa(r.masterPort)
		}
		if n.Port, err = strconv.Atoi(port); err != nil || n.Port < 1 || n.Port > maxPort {
			return usagef("--rdzv-endpoint %s: %.80q is no port", r.endpoint, port)
		}
		n.Address = address
	}
	if n.Address == "" {
		return usagef("--nnodes %d: no address of host 0; give --master-addr", n.Nodes)
	}
	if n.Port < 1 || n.Port > maxPort {
		return usagef("--master-port %d: several hosts need one from 1 to 65535", n.Port)
	}
	text, source := r.node, "--node-rank"
	if text == "" {
		text, source = foreign.NodeRank(e)
	}
	if text == "" {
		return usagef("--nnodes %d: which of them is this host? give --node-rank, from 0", n.Nodes)
	}
	rank, err := strconv.Atoi(text)
	if err != nil || rank < 0 || rank >= n.Nodes {
		return usagef("%s %s: want a number from 0 to %d", source, text, n.Nodes-1)
	}
	n.Rank = rank
	return nil
}

// runHere runs the command with workers of this host alone, and again from its newest checkpoint when it has
// lost a worker. Signals between two attempts are heard too.
func (a *app) runHere(workers, most int, args []string) error {
	with := "--workers=" + strconv.Itoa(workers)
	again := launch.Restarts{Most: most, Stderr: a.stderr}
	environment := a.environment
	signals, silence := hear()
	a.signals = signals
	defer func() { a.environment, a.signals = environment, nil; silence() }()
	given, directory := args, a.resumed(args)
	args = append(slices.Clone(args), with)
	for {
		a.environment = environment.With(again.Environment())
		status := a.execute(args)
		if !again.MayFollow(status) {
			return statusOrNil(status)
		}
		ended := (*job.EndedError)(nil)
		hasBegun := errors.As(a.failed, &ended)
		if hasBegun {
			directory = ended.Directory
		}
		if directory == "" {
			again.Without(errors.New("the run had not begun"))
			return statusOrNil(status)
		}
		stands, err := job.Stand(directory)
		if err == nil {
			err = again.Asked(signals, isPreemption, stands, &status)
		}
		if err != nil {
			again.Without(err)
			a.showWithheld(args, directory, again.Done)
			return statusOrNil(status)
		}
		again.Note(stands, causeOf(a.failed), directory)
		if hasBegun { // else the directory is as it was
			args = append(launch.From(stands, given, directory), with)
		}
	}
}

// resumed returns the directory of the run that arguments resume; "": none.
func (a *app) resumed(args []string) string {
	known, err := a.parsed(args)
	if err != nil {
		return "" // the command itself says what is wrong
	}
	if flag := known.Flags().Lookup("resume"); flag != nil {
		return flag.Value.String()
	}
	return ""
}

// causeOf names the worker that was lost.
func causeOf(err error) string {
	if worker := (*cluster.WorkerError)(nil); errors.As(err, &worker) {
		return "lost " + cmp.Or(worker.Role, fmt.Sprintf("rank %d", worker.Rank))
	}
	return "ended by an error"
}
