package cluster

import (
	"slices"
	"strconv"
	"strings"
)

// The variables that launchers set for one of several processes.
const (
	envTorchLocalRank  = "LOCAL_RANK"
	envTorchLocalWorld = "LOCAL_WORLD_SIZE"
	envPetNodes        = "PET_NNODES" // "2", or "1:4" for an elastic number
	envPetNodeRank     = "PET_NODE_RANK"
	envSlurmRank       = "SLURM_PROCID"
	envSlurmTasks      = "SLURM_NTASKS"
	envSlurmStepTasks  = "SLURM_STEP_NUM_TASKS"
	envSlurmStep       = "SLURM_STEP_ID"
	envSlurmJob        = "SLURM_JOB_ID"
	envSlurmJobName    = "SLURM_JOB_NAME"
	envOpenMPIRank     = "OMPI_COMM_WORLD_RANK"
	envOpenMPIWorld    = "OMPI_COMM_WORLD_SIZE"
	envPMIRank         = "PMI_RANK"
	envPMIWorld        = "PMI_SIZE"
	envMPILocalRank    = "MPI_LOCALRANKID"
	envMPILocalWorld   = "MPI_LOCALNRANKS"
	envPMIxRank        = "PMIX_RANK"
	envJobIndex        = "JOB_COMPLETION_INDEX"
	envJobSet          = "JOBSET_NAME"
)

// convention describes how one launcher numbers its processes.
type convention struct {
	launcher string
	names    []string // the variables that CheckAlone names if they are set
	// isSeveral reports whether the variables say that there is more than one process.
	isSeveral func(e Environment) bool
}

// conventions lists the launchers that CheckAlone recognises.
func conventions() []convention {
	return []convention{
		{"torchrun", []string{envTorchRank, envTorchWorld, envTorchLocalRank, envTorchLocalWorld,
			envPetNodes, envPetNodeRank}, func(e Environment) bool {
			return e.isOver(1, envTorchWorld, envTorchLocalWorld, envPetNodes) ||
				e.isOver(0, envTorchRank, envTorchLocalRank, envPetNodeRank)
		}},
		{"Slurm", []string{envSlurmRank, envSlurmTasks, envSlurmStepTasks}, Environment.isSlurmTask},
		{"Open MPI", []string{envOpenMPIRank, envOpenMPIWorld}, func(e Environment) bool {
			return e.isOver(1, envOpenMPIWorld) || e.isOver(0, envOpenMPIRank)
		}},
		{"an MPI launcher", []string{envPMIRank, envPMIWorld, envMPILocalRank, envMPILocalWorld},
			func(e Environment) bool {
				return e.isOver(1, envPMIWorld, envMPILocalWorld) || e.isOver(0, envPMIRank, envMPILocalRank)
			}},
		{"a PMIx launcher", []string{envPMIxRank}, func(e Environment) bool {
			return e.isOver(0, envPMIxRank) || e[envPMIxRank] == "0" && !e.hasSize()
		}},
		{"a Kubernetes job", []string{envJobIndex, envJobSet}, func(e Environment) bool {
			return e.isOver(0, envJobIndex) || e[envJobIndex] == "0" && e[envJobSet] != ""
		}},
	}
}

// CheckAlone returns an *EnvironmentError if another launcher started this process as one of
// several, which would each train alone. It ignores the variables of Launch.
func (e Environment) CheckAlone() error {
	for _, c := range conventions() {
		if !c.isSeveral(e) {
			continue
		}
		var set, unset []string
		for _, name := range c.names {
			if e[name] != "" {
				set = append(set, name+"="+e[name])
				unset = append(unset, "-u "+name)
			}
		}
		return environmentErrorf("%s: %s started this command as one of several processes, and each would "+
			"train alone; start it once, with --workers for more workers on this machine, or run it as "+
			"env %s lockstep ... if each is to work on its own",
			strings.Join(set, " "), c.launcher, strings.Join(unset, " "))
	}
	return nil
}

// isOver reports whether one of the named variables is a number above least, or a range with an end
// above it.
func (e Environment) isOver(least int, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		text := e[name]
		if _, most, isRange := strings.Cut(text, ":"); isRange {
			text = most
		}
		n, err := strconv.Atoi(text)
		return err == nil && n > least
	})
}

// isSlurmTask reports whether srun started this process as one of several tasks.
//
// Note: Slurm's shells. In the shell of salloc and in the script of sbatch, SLURM_NTASKS is the
// number of tasks that srun would start, while the shell itself runs once. Some sites start the
// shell of salloc as a step of one task. The script of sbatch has rank 0 and a job, but no step.
func (e Environment) isSlurmTask() bool {
	_, err := strconv.Atoi(e[envSlurmRank])
	isShell := e[envSlurmJob] != "" && e[envSlurmStep] == "" ||
		slices.Contains([]string{"bash", "sh", "zsh", "interactive"}, e[envSlurmJobName])
	switch {
	case err != nil:
		return false
	case e[envSlurmStepTasks] != "":
		return e.isOver(1, envSlurmStepTasks)
	case e.isOver(0, envSlurmRank):
		return true
	}
	return !isShell && e.isOver(1, envSlurmTasks)
}

// hasSize reports whether a launcher has set the number of its processes.
func (e Environment) hasSize() bool {
	return slices.ContainsFunc([]string{envSlurmStepTasks, envOpenMPIWorld, envPMIWorld},
		func(name string) bool { return e[name] != "" })
}
