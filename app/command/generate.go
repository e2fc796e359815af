package command

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"lockstep/app/generate"
)

func generateCommand(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "generate",
		Short: "Write a job for Slurm or Kubernetes",
		Example: `  lockstep generate slurm --workers 4 --time 4h -- train --model vgg11 > job.sh
  lockstep generate k8s --hosts 4 --claim runs --data datasets -- train --data cifar10 > job.yaml`,
	}, generateSlurmCommand(a), generateKubernetesCommand(a))
}

// addJob gives c the flags of every scheduler.
func addJob(c *cobra.Command, config *generate.Config, runs string) {
	f := c.Flags()
	f.StringVar(&config.Name, "name", "lockstep", "`NAME` of the job")
	f.IntVar(&config.Hosts, "hosts", 1, "`N` hosts")
	f.IntVar(&config.Workers, "workers", 1, "`N` workers on each host")
	f.IntVar(&config.Cores, "cores", 1, "`N` cores for each worker")
	f.StringVar(&config.Runs, "runs", runs, "`FOLDER` of the run directories, on all hosts the same one")
	f.StringVar(&config.Memory, "memory", "", "`QUANTITY` of memory of each host, such as 8Gi (default: "+
		"that of the partition; no limit in Kubernetes)")
	f.DurationVar(&config.Grace, "grace", 90*time.Second, "`TIME` to save a checkpoint in, before the end")
}

func generateSlurmCommand(a *app) *cobra.Command {
	var config generate.Config
	c := &cobra.Command{
		Use:   "slurm [flags] -- COMMAND ...",
		Short: "Print a script for sbatch",
		Long: `Print a script for sbatch.

srun starts every worker, and they join. Before the time limit Slurm asks the run for a checkpoint;
the run then ends with status 75, and the script puts the job into the queue again, where it goes on
from there. Without --checkpoint-every in the command there is one every 5 minutes. lockstep must be
in the PATH of every node, as in that of the shell that submits the job.`,
		Example: `  lockstep generate slurm --workers 4 --cores 2 --time 4h -- train --model vgg11
  lockstep generate slurm --hosts 2 --partition short -- recipe run cifar10-94`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			config.Image = generate.Image // which Slurm does not use
			return a.generate(c, config, args, generate.Slurm)
		},
	}
	addJob(c, &config, "runs")
	c.Flags().StringVar(&config.Data, "data", "", "`FOLDER` of the data sets, on all hosts (default: as the "+
		"shell that submits the job has LOCKSTEP_DATA)")
	c.Flags().DurationVar(&config.Time, "time", 0, "`TIME` limit (default: that of the partition)")
	c.Flags().StringVar(&config.Partition, "partition", "", "`NAME` of a partition (default: that of Slurm)")
	return c
}

func generateKubernetesCommand(a *app) *cobra.Command {
	var config generate.Config
	var kind string
	c := &cobra.Command{
		Use:   "k8s [flags] -- COMMAND ...",
		Short: "Print a manifest for Kubernetes: a JobSet, or a TrainJob of Kubeflow",
		Long: `Print a manifest for Kubernetes: a JobSet, or a TrainJob of Kubeflow.

There is one pod for each host. The image is that of the source's Dockerfile, unless --image names
another. Pods that are started again go on from the newest checkpoint, if a --claim keeps the run
directories; else they begin anew. --data mounts the data sets. Several hosts need a secret. The first
lines of the manifest say how to make what it needs; nothing secret is in it.`,
		Example: `  lockstep generate k8s --workers 4 -- train --epochs 5
  lockstep generate k8s --claim runs --data datasets --image registry/lockstep:1 -- train --data cifar10
  lockstep generate k8s --kind trainjob --hosts 2 --claim runs -- train`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			switch kind {
			case "jobset":
				return a.generate(c, config, args, generate.JobSet)
			case "trainjob":
				return a.generate(c, config, args, generate.TrainJob)
			}
			return usagef("--kind %.80q: want jobset or trainjob", kind)
		},
	}
	addJob(c, &config, "/runs")
	f := c.Flags()
	f.StringVar(&kind, "kind", "jobset", "`KIND` of the manifest: jobset or trainjob")
	f.StringVar(&config.Image, "image", generate.Image, "`IMAGE` of the container, with lockstep and a "+
		"shell, such as registry/lockstep:1")
	f.StringVar(&config.Data, "data", "", "volume `CLAIM` with the data sets, or a /folder of every host "+
		"(default: none, generated ones need none)")
	f.StringVar(&config.Claim, "claim", "", "persistent volume `CLAIM` for the runs (default: none)")
	f.IntVar(&config.Restarts, "max-restarts", 3, "`N` times, start all pods again after one has failed")
	complete(c, "kind", listOf([]string{"jobset", "trainjob"}))
	return c
}

// generate prints the file that write makes of config and the command.
func (a *app) generate(c *cobra.Command, config generate.Config, args []string,
	write func(generate.Config) string) error {
	if c.ArgsLenAtDash() < 0 && len(args) > 0 {
		return usagef("generate: put -- before the command, as in generate slurm --workers 4 -- %s", args[0])
	}
	if err := a.checkJoins(c, args); err != nil {
		return err
	}
	config.Command = args
	if err := config.Validate(); err != nil {
		return usagef("generate: %v", err)
	}
	_, err := fmt.Fprint(a.stdout, write(config))
	return err
}
