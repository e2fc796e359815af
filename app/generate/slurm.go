package generate

import (
	"fmt"
	"strings"
	"time"
)

// Slurm returns a script for sbatch. Slurm asks the run for a checkpoint c.Grace before the time limit, and
// a run that ends with status 75 is put into the queue again.
func Slurm(c Config) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("#!/bin/bash")
	line("#SBATCH --job-name=%s", c.Name)
	if c.Partition != "" {
		line("#SBATCH --partition=%s", c.Partition)
	}
	line("#SBATCH --nodes=%d", c.Hosts)
	line("#SBATCH --ntasks-per-node=%d", c.Workers)
	line("#SBATCH --cpus-per-task=%d", c.Cores)
	if c.Memory != "" {
		line("#SBATCH --mem=%s", strings.ToUpper(strings.TrimSuffix(c.Memory, "i")))
	}
	if c.Time > 0 {
		line("#SBATCH --time=%s", slurmTime(c.Time))
	}
	line("#SBATCH --signal=USR1@%d", int(c.Grace.Seconds()))
	line("#SBATCH --requeue")
	line("#SBATCH --open-mode=append")
	line("#SBATCH --output=%s-%%j.log", c.Name)
	line("")
	line("# The job keeps its number when it is put into the queue again, and so finds its checkpoints.")
	line(`last=$(ls -dt %s/%s-"$SLURM_JOB_ID"-*/checkpoints/step-* 2>/dev/null | head -n 1)`, c.Runs, c.Name)
	line(`if [ -n "$last" ]; then`)
	line(`  set -- train --resume "${last%%/checkpoints/*}"`)
	line(`else`)
	line(`  out=%s/%s-"$SLURM_JOB_ID"-"${SLURM_RESTART_COUNT:-0}"`, c.Runs, c.Name)
	line(`  set -- %s`, c.begin())
	line(`fi`)
	if c.Data != "" {
		line("# Data sets, on every node.")
		line("export LOCKSTEP_DATA=%s", c.Data)
	}
	if c.Memory == "" {
		line("# Memory of each node: the partition's default. #SBATCH --mem=8G above asks for another.")
	}
	line("# srun tells each worker its rank and the nodes. Rank 0 is on the first, at a port of the job's.")
	if c.Hosts > 1 {
		line("# The secret that admits to the run; srun passes it on in the environment.")
		line(`LOCKSTEP_TOKEN=$(lockstep token) || exit`)
		line(`export LOCKSTEP_TOKEN`)
	}
	line(`srun --kill-on-bad-exit=1 --cpus-per-task=%d lockstep "$@"`, c.Cores)
	line(`status=$?`)
	line(`if [ "$status" -eq 75 ]; then # a checkpoint was saved because the time is over`)
	line(`  scontrol requeue "$SLURM_JOB_ID"`)
	line(`fi`)
	line(`exit "$status"`)
	return b.String()
}

// slurmTime writes a time as days-hours:minutes:seconds.
func slurmTime(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	return fmt.Sprintf("%d-%02d:%02d:%02d", s/86400, s/3600%24, s/60%60, s%60)
}
