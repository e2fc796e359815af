#!/bin/bash
#SBATCH --job-name=vgg
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=2
#SBATCH --time=1-02:30:00
#SBATCH --signal=USR1@90
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=vgg-%j.log

# The job keeps its number when it is put into the queue again, and so finds its checkpoints.
last=$(ls -dt /runs/vgg-"$SLURM_JOB_ID"-*/checkpoints/step-* 2>/dev/null | head -n 1)
if [ -n "$last" ]; then
  set -- train --resume "${last%/checkpoints/*}"
else
  out=/runs/vgg-"$SLURM_JOB_ID"-"${SLURM_RESTART_COUNT:-0}"
  set -- train --model vgg11 --data 'my data'\''s' --checkpoint-every 5m --out "$out"
fi
# Memory of each node: the partition's default. #SBATCH --mem=8G above asks for another.
# srun tells each worker its rank and the nodes. Rank 0 is on the first, at a port of the job's.
srun --kill-on-bad-exit=1 --cpus-per-task=2 lockstep "$@"
status=$?
if [ "$status" -eq 75 ]; then # a checkpoint was saved because the time is over
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
