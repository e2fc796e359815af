package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/job"
	"lockstep/app/job/chooser"
	"lockstep/app/job/launcher"
	"lockstep/app/launch"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/cluster"
	"lockstep/internal/spelling"

	"github.com/spf13/cobra"
)

// trainCommand trains in this process and those that it starts.
func trainCommand(a *app) *cobra.Command {
	var config string
	var isJSON, isQuiet bool
	c := &cobra.Command{
		Use:         "train [flags]",
		Short:       "Train a model with one worker or several",
		Long:        trainHelp(),
		Example:     trainExamples,
		Args:        noArguments,
		Annotations: map[string]string{joins: "true", spreads: "true"},
		RunE: func(c *cobra.Command, _ []string) error {
			return a.train(c, setting.Source{File: config}, isJSON, isQuiet)
		},
	}
	addSettings(c, setting.Settings(&a.catalog))
	c.Flags().StringVar(&config, "config", "",
		"read settings from a YAML `FILE`, such as a run's config.yaml (default: none)")
	addWatching(c, &isJSON, &isQuiet)
	addHelpAll(c)
	return c
}

// trainHelp is the long text of lockstep train.
func trainHelp() string {
	return `Train a model with one worker or several.

Without flags it trains lenet on generated images for one epoch. The number of workers and of
threads, the strategy and the algorithm do not change a bit of the result: runs with equal
--shards end with the same parameter_sha256. These are the exceptions:
` + exceptions + `
Another --math or --device may end with other bits too; the processor (--isa) does not matter.

--strategy says how the workers train together:
` + strategyHelp() + `
local-sgd and diloco are for slow links: they exchange once every --average-every steps. local-sgd takes the
learning rate of the other strategies; diloco wants a small one, such as --optimizer adamw --lr 0.002, because
its outer momentum adds to each change of the weights several times over.

Every flag can also be a line of a YAML file (--config), or an environment variable such as
LOCKSTEP_TRAIN_BATCH; flags win over variables, variables over the file. The run directory
holds config.yaml, host.json, steps.jsonl, evaluations.jsonl, summary.json, report.md and report.html
with plots, the trained weights in model.safetensors, which PyTorch reads, and the workers' output.

With --checkpoint-every the run directory also holds the two newest checkpoints. Ctrl-C, SIGTERM, SIGUSR1
or a closed terminal then end the run after a step, which is saved; the status is 75 after SIGTERM and
SIGUSR1, else 130. A second Ctrl-C ends it at once, and so does the first of a run without checkpoints.
--resume continues from the newest checkpoint, with any number of workers up to --shards (with local-sgd
and diloco as many as before), and ends with the parameters of a run without interruption, unless they
depend on the number of workers.

If mpirun, srun or torchrun has started it as one of several processes, they train together: each is
a worker, rank 0 writes the run directory, and all end with the same status. On several hosts they
need the address of rank 0 in MASTER_ADDR and a common token (lockstep token) in LOCKSTEP_TOKEN. A
process that was started with other settings (but --out, --threads, --data-dir) is refused, with
status 4, and rank 0 goes on waiting for the right one.

The clock of --for and --until starts before the first step, when data, programs and memory are ready, and
stops during evaluations.`
}

// exceptions says what makes the result depend on more than its own settings. The README has the same list.
const exceptions = `  --algorithm ring, every lossy --wire, local-sgd, diloco
                  the result depends on the number of workers, with ring or a lossy --wire also on
                  the other settings of the exchange, but not on timing
  ps-async        it depends on the order in which gradients arrive, which --replay repeats
  --wire auto, --for
                  it depends on timing: the wire may become bf16, which is lossy; the number of steps
                  is what fits the time
  none            workers never exchange gradients and train a model each; this is only a lower bound
                  of the step time`

const trainExamples = `  lockstep train
  lockstep train --workers 2 --epochs 3
  lockstep train --data passengers.csv --model mlp --epochs 20 --out runs/passengers
  lockstep train --data houses.csv --label-column price --task regression --model mlp --out runs/houses
  lockstep train --model vgg11 --data cifar10 --batch 256 --epochs 5 --lr 0.1 --schedule cosine --warmup 1
  lockstep train --model vgg11 --data cifar10 --weights model.safetensors --eval-only
  lockstep train --model vgg11 --data cifar10 --epochs 30 --shards 4 --checkpoint-every 5m --out long
  lockstep train --resume long --workers 4
  lockstep train --epochs 20 --until accuracy=0.95
  lockstep train --workers 4 --strategy diloco --average-every 100 --outer-wire int8 \
      --outer-overlap 50 --optimizer adamw --lr 0.002
  mpirun -np 4 lockstep train --epochs 5
  lockstep train --config runs/20261121-101500-lenet-ddp-w2/config.yaml --json`

// strategyHelp lists the strategies, one in a line.
func strategyHelp() string {
	var b strings.Builder
	for _, s := range strategy.All() {
		fmt.Fprintf(&b, "  %-15s %s\n", s.Name, s.Usage)
	}
	return b.String()
}

// addWatching gives c the flags that choose how a run is shown.
func addWatching(c *cobra.Command, isJSON, isQuiet *bool) {
	f := c.Flags()
	f.BoolVar(isJSON, "json", false, "print the summary as one JSON document (default: false)")
	f.BoolVarP(isQuiet, "quiet", "q", false, "show no progress (default: false)")
}

// train carries out the run that s and the flags of c describe, and prints the summary.
func (a *app) train(c *cobra.Command, s setting.Source, isJSON, isQuiet bool) error {
	if isDone, err := a.meet(c); isDone || err != nil {
		return err
	}
	s.Catalog, s.Environment, s.Flags = &a.catalog, a.environment, a.addWorkers(given(c))
	resolved, origins, err := setting.Resolve(s)
	if err == nil {
		err = a.adapt(&resolved, origins)
	}
	if err != nil {
		return err
	}
	if a.surveyed(resolved) {
		return nil
	}
	for _, line := range resolved.Idle(origins) {
		fmt.Fprintf(a.stderr, "note: %s\n", line)
	}
	ctx, stop := a.interruptible(c.Context())
	defer stop()
	ctx, terminate := context.WithCancelCause(ctx)
	defer terminate(nil)
	progress := newProgress(a, isQuiet)
	summary, err := chooser.Run(ctx, resolved, launcher.Options{Progress: progress.show,
		Stderr: a.stderr, Environment: a.environment, Origins: origins, Place: a.place, Meeting: a.meeting,
		Asked: func() { terminate(launcher.ErrTerminated) }})
	progress.end()
	if summary == nil {
		a.showUnfinished(resolved, err, isJSON)
		return err
	}
	return errors.Join(err, a.show(summary, isJSON))
}

// showUnfinished renders the report of a run of c that ended early with err, if it finished any step, and
// says how to go on from its newest checkpoint, if it has one. Programs get its summary.
func (a *app) showUnfinished(c setting.Config, err error, isJSON bool) {
	var ended *job.EndedError
	isAgain := a.environment[cluster.EnvMayRestart] != "" && launch.IsRestarted(job.ExitCode(err))
	if !errors.As(err, &ended) || !job.HasSteps(ended.Directory) {
		isRestart := a.environment[cluster.EnvRestarts] != ""
		if c.Resume == "" || !isInterrupted(err) && (!isRestart || isAgain) {
			return
		}
		if summary, failed := job.Unfinished(c.Resume); failed == nil { // whose directory is as it was
			summary.Restarts, _ = record.ParseRestarts(a.environment[cluster.EnvRestarts]) // or none
			a.showStanding(summary, err, isJSON)
		}
		return
	}
	summary, failed := job.Unfinished(ended.Directory)
	if failed == nil {
		summary.Restarts, failed = record.ParseRestarts(a.environment[cluster.EnvRestarts])
	}
	if failed == nil {
		failed = writeUnfinished(summary)
	}
	if failed != nil {
		fmt.Fprintf(a.stderr, "warning: no report: %v\n", failed)
	} else {
		fmt.Fprintf(a.stderr, "lockstep: %s tells of the steps that were done\n",
			spelling.Word(filepath.Join(ended.Directory, report.HTMLFile)))
	}
	if summary == nil || isAgain { // who starts it again says so, and prints the summary of the end
		return
	}
	a.showStanding(summary, err, isJSON)
}

// showStanding says how to go on with a run that ended early, if the error with which it ended does not.
// Programs get its summary.
func (a *app) showStanding(summary *record.Summary, err error, isJSON bool) {
	stopped := (*job.StoppedError)(nil)
	if at := summary.Standing; at != nil && at.Checkpoint != "" && !errors.As(err, &stopped) {
		fmt.Fprintf(a.stderr, "lockstep: %s goes on after step %d\n", at.Resume, at.Step)
	}
	if !isJSON {
		return
	}
	if err := writeJSON(a, summary); err != nil {
		fmt.Fprintf(a.stderr, "warning: no summary: %v\n", err)
	}
}

// isInterrupted reports whether a run ended with err because it was asked to.
func isInterrupted(err error) bool {
	status := job.ExitCode(err)
	return status == job.ExitInterrupted || status == job.ExitPreempted
}

// show renders the report of a run that has ended, and prints its summary, for programs or for people, and
// where the report is, if there is one.
func (a *app) show(s *record.Summary, isJSON bool) error {
	var failed error
	if !s.IsUnchanged {
		if failed = report.WriteTraining(s.Directory); failed != nil {
			fmt.Fprintf(a.stderr, "warning: no report: %v\n", failed)
		}
	}
	if isJSON {
		return writeJSON(a, s)
	}
	if err := report.Run(&compare.Training{Summary: *s}).Text(a.stdout); err != nil || failed != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "\n%s\n", spelling.Plain(filepath.Join(s.Directory, report.HTMLFile)))
	return err
}

// showWithheld shows where the run of args stands, in directory, if it is not started again after all: its
// attempts, which were started again as done says, have left that to the one that was to follow. Without a
// step there is nothing to show.
func (a *app) showWithheld(args []string, directory string, done []record.Restart) {
	summary, err := job.Unfinished(directory)
	if err != nil {
		return
	}
	summary.Restarts = done
	known, err := a.parsed(args)
	a.showStanding(summary, nil, err == nil && known.Flags().Lookup("json").Value.String() == "true")
}
