package cluster_test

import (
	"errors"
	"strings"
	"testing"

	"lockstep/cluster"
)

// A command that another launcher starts as one of several processes is told apart from one that is
// started once, inside an allocation or by a launcher of one process.
func TestCheckAlone(t *testing.T) {
	tests := map[string]struct {
		environment string
		want        string // the launcher named; "": started once
	}{
		"by hand":               {"", ""},
		"torchrun, rank 0":      {"RANK=0 WORLD_SIZE=2", "torchrun"},
		"torchrun, rank 1":      {"RANK=1 WORLD_SIZE=2 LOCAL_RANK=1", "torchrun"},
		"torchrun, a rank only": {"RANK=1", "torchrun"},
		"torchrun of one":       {"RANK=0 WORLD_SIZE=1 LOCAL_RANK=0", ""},
		"Kubeflow":              {"PET_NNODES=2 PET_NODE_RANK=0", "torchrun"},
		"Kubeflow, elastic":     {"PET_NNODES=1:4 PET_NODE_RANK=0", "torchrun"},
		"Kubeflow, one node":    {"PET_NNODES=1 PET_NPROC_PER_NODE=4 PET_NODE_RANK=0", ""},
		"srun":                  {"SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2", "Slurm"},
		"srun in salloc":        {"SLURM_JOB_NAME=bash SLURM_NTASKS=2 SLURM_PROCID=1", "Slurm"},
		"srun, few variables":   {"SLURM_PROCID=0 SLURM_NTASKS=2", "Slurm"},
		"srun -n 1 of a larger": {"SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_NTASKS=4", ""},
		"salloc":                {"SLURM_JOB_ID=7 SLURM_NTASKS=4 SLURM_JOB_NAME=interactive", ""},
		"salloc, shell is a step": {"SLURM_JOB_ID=7 SLURM_STEP_ID=4294967290 SLURM_PROCID=0 " +
			"SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=1", ""},
		"sbatch":          {"SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_JOB_NAME=train", ""},
		"Open MPI":        {"OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 PMIX_RANK=0", "Open MPI"},
		"Open MPI of one": {"OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 PMIX_RANK=0", ""},
		"MPICH":           {"PMI_SIZE=2 PMI_RANK=0", "an MPI launcher"},
		"MPICH of one":    {"PMI_SIZE=1 PMI_RANK=0 MPI_LOCALNRANKS=1", ""},
		"PMIx":            {"PMIX_RANK=0", "a PMIx launcher"},
		"JobSet":          {"JOB_COMPLETION_INDEX=0 JOBSET_NAME=train", "a Kubernetes job"},
		"an index":        {"JOB_COMPLETION_INDEX=1", "a Kubernetes job"},
		"a job of one":    {"JOB_COMPLETION_INDEX=0", ""},
		"nonsense":        {"RANK=first WORLD_SIZE=many", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := cluster.Environment{}
			for pair := range strings.FieldsSeq(test.environment) {
				name, value, _ := strings.Cut(pair, "=")
				e[name] = value
			}
			err := e.CheckAlone()
			if test.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			var wrong *cluster.EnvironmentError
			if !errors.As(err, &wrong) {
				t.Fatalf("got %v, want an EnvironmentError", err)
			}
			first, _, _ := strings.Cut(test.environment, " ")
			for _, part := range []string{test.want + " started", "env -u ", "--workers"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not contain %q", err, part)
				}
			}
			if test.want == "torchrun" && !strings.Contains(err.Error(), first) {
				t.Errorf("%q does not name %s", err, first)
			}
		})
	}
}
