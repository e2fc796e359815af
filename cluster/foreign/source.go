package foreign

import (
	"lockstep/cluster"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The variables that launchers set for one of several processes.
const (
	envLocalRank       = "LOCKSTEP_LOCAL_RANK"
	envTorchLocalRank  = "LOCAL_RANK"
	envTorchLocalWorld = "LOCAL_WORLD_SIZE"
	envTorchNode       = "GROUP_RANK"
	envTorchNodes      = "GROUP_WORLD_SIZE"
	envTorchRun        = "TORCHELASTIC_RUN_ID"
	envTorchRank       = "RANK"
	envTorchWorld      = "WORLD_SIZE"
	envTorchRestart    = "TORCHELASTIC_RESTART_COUNT"
	envTorchAgentStore = "TORCHELASTIC_USE_AGENT_STORE"
	envPetNodes        = "PET_NNODES"         // "2", or "1:4" for an elastic number
	envPetLocalWorld   = "PET_NPROC_PER_NODE" // "4", or a word such as auto
	envPetNode         = "PET_NODE_RANK"
	envPetMasterAddr   = "PET_MASTER_ADDR"
	envPetMasterPort   = "PET_MASTER_PORT"
	envSlurmRank       = "SLURM_PROCID"
	envSlurmTasks      = "SLURM_NTASKS"
	envSlurmStepTasks  = "SLURM_STEP_NUM_TASKS"
	envSlurmLocalRank  = "SLURM_LOCALID"
	envSlurmNode       = "SLURM_NODEID"
	envSlurmNodes      = "SLURM_NNODES"
	envSlurmStepNodes  = "SLURM_STEP_NUM_NODES"
	envSlurmPerNode    = "SLURM_STEP_TASKS_PER_NODE" // "4(x2),1", by node
	envSlurmCores      = "SLURM_CPUS_PER_TASK"
	envSlurmStep       = "SLURM_STEP_ID"
	envSlurmJob        = "SLURM_JOB_ID"
	envSlurmJobName    = "SLURM_JOB_NAME"
	envSlurmStepHosts  = "SLURM_STEP_NODELIST" // "node[01-04,7],login"
	envSlurmHosts      = "SLURM_JOB_NODELIST"
	envOpenMPIRank     = "OMPI_COMM_WORLD_RANK"
	envOpenMPIWorld    = "OMPI_COMM_WORLD_SIZE"
	envOpenMPILocal    = "OMPI_COMM_WORLD_LOCAL_RANK"
	envOpenMPILocals   = "OMPI_COMM_WORLD_LOCAL_SIZE"
	envOpenMPIJob      = "OMPI_MCA_ess_base_jobid"
	envPMIRank         = "PMI_RANK"
	envPMIWorld        = "PMI_SIZE"
	envPMIJob          = "PMI_JOBID"
	envMPILocalRank    = "MPI_LOCALRANKID"
	envMPILocalWorld   = "MPI_LOCALNRANKS"
	envPMIxRank        = "PMIX_RANK"
	envPMIxJob         = "PMIX_NAMESPACE"
	envJobIndex        = "JOB_COMPLETION_INDEX"
	envJobSet          = "JOBSET_NAME"
)

// quantities holds for each number of a reading the names of its variables, of which the first that
// is set counts.
type quantities [numQuantities][]string

// source is how one launcher numbers its processes.
type source struct {
	launcher string
	quantities
	// ranges names variables that adjust reads, because they may hold more than a number.
	ranges []string
	// job names the variables that together are the same in all processes of a job, and in no other.
	job []string
	// isOne reports that the launcher started this process once, whatever its variables say.
	isOne  func(e environment) bool
	adjust func(e environment, r *reading) error
}

// sources lists the launchers in order of precedence: those that a user gives by hand, then those
// that wrap others.
func sources() []source {
	return []source{
		{launcher: theCommandLine, quantities: quantities{theWorld: {"--workers"}}},
		{launcher: "lockstep", quantities: quantities{theRank: {cluster.EnvRank},
			theWorld:     {cluster.EnvWorld},
			theLocalRank: {envLocalRank}, theLocalWorld: {cluster.EnvLocalWorld}}},
		{launcher: "torchrun", quantities: quantities{theRank: {envTorchRank}, theWorld: {envTorchWorld},
			theLocalRank: {envTorchLocalRank}, theLocalWorld: {envTorchLocalWorld},
			theNode: {envTorchNode}, theNodes: {envTorchNodes}},
			job: []string{envTorchRun, envTorchRestart, cluster.EnvMasterPort}},
		{launcher: "PET_", quantities: quantities{theNode: {envPetNode}},
			ranges: []string{envPetNodes, envPetLocalWorld}, adjust: readPet},
		{launcher: "Slurm", quantities: quantities{theRank: {envSlurmRank},
			theWorld: {envSlurmStepTasks, envSlurmTasks}, theLocalRank: {envSlurmLocalRank},
			theNode: {envSlurmNode}, theNodes: {envSlurmStepNodes, envSlurmNodes}},
			job: []string{envSlurmJob, envSlurmStep}, isOne: isSlurmShell, adjust: readSlurm},
		{launcher: "Open MPI", quantities: quantities{theRank: {envOpenMPIRank}, theWorld: {envOpenMPIWorld},
			theLocalRank: {envOpenMPILocal}, theLocalWorld: {envOpenMPILocals}},
			job: []string{envPMIxJob, envOpenMPIJob}},
		{launcher: "an MPI launcher", quantities: quantities{theRank: {envPMIRank}, theWorld: {envPMIWorld},
			theLocalRank: {envMPILocalRank}, theLocalWorld: {envMPILocalWorld}}, job: []string{envPMIJob}},
		{launcher: "a PMIx launcher", quantities: quantities{theRank: {envPMIxRank}},
			job: []string{envPMIxJob}},
		{launcher: "a Kubernetes job", quantities: quantities{theRank: {envJobIndex}}, isOne: isSinglePod,
			adjust: readPod},
	}
}

// theCommandLine is the source whose numbers are what a user wants, not what a launcher has started.
const theCommandLine = "the command line"

// names lists the variables that make this process one of several.
func (s source) names() []string {
	return slices.Concat(slices.Concat(s.quantities[:]...), s.ranges)
}

// read returns what the launcher's variables say.
func (s source) read(e environment) (r reading, err error) {
	if s.isOne != nil && s.isOne(e) {
		return r, nil
	}
	for i, names := range s.quantities {
		least := 0
		if i == theWorld || i == theLocalWorld || i == theNodes {
			least = 1
		}
		for _, name := range names {
			if e[name] == "" {
				continue
			}
			if r[i], err = e.natural(name, e[name], least); err != nil {
				return r, err
			}
			break
		}
	}
	if s.adjust != nil {
		if err := s.adjust(e, &r); err != nil {
			return r, err
		}
	}
	for i := range r {
		r[i].launcher, r[i].isPerProcess = s.launcher, s.launcher != theCommandLine
	}
	return r, nil
}

// natural returns the number that the text of a variable is.
func (e environment) natural(name, text string, least int) (given, error) {
	const maxDigits = 9
	isDigits := len(text) <= maxDigits && strings.Trim(text, "0123456789") == ""
	n, err := strconv.Atoi(text)
	if err != nil || !isDigits || n < least || n > cluster.MaxWorld {
		return given{}, errorf("%s=%.40q, want a whole number from %d to %d", name, text, least,
			cluster.MaxWorld)
	}
	return given{value: n, name: name, text: text}, nil
}

// jobOf returns the values of the variables that name the job; "" if none is set.
func (s source) jobOf(e environment) string {
	var values []string
	for _, name := range s.job {
		if e[name] != "" {
			values = append(values, name+"="+e[name])
		}
	}
	return strings.Join(values, " ")
}

// readPet reads numbers that torchrun also takes as ranges and words. A number of hosts that may
// change is a number only once RANK and WORLD_SIZE say who is there.
func readPet(e environment, r *reading) (err error) {
	if text := e[envPetNodes]; text != "" {
		least, most, isRange := strings.Cut(text, ":")
		if r[theNodes], err = e.natural(envPetNodes, least, 1); err != nil {
			return err
		}
		r[theNodes].text = text
		if isRange && least != most {
			if _, err := e.natural(envPetNodes, most, 1); err != nil {
				return err
			}
			r[theNodes], r[theNode] = given{}, given{}
			if e[envTorchRank] == "" && e[cluster.EnvRank] == "" {
				return errorf("%s=%s: a job whose number of hosts changes cannot be joined; "+
					"give one number", envPetNodes, text)
			}
		}
	}
	switch text := e[envPetLocalWorld]; text {
	case "", "auto", "cpu", "gpu", "xpu":
		return nil
	default:
		r[theLocalWorld], err = e.natural(envPetLocalWorld, text, 1)
		return err
	}
}

// readSlurm reads the number of tasks of this host from a list by host such as "4(x2),1".
func readSlurm(e environment, r *reading) error {
	text := e[envSlurmPerNode]
	if text == "" || !r[theNode].isSet() {
		return nil
	}
	at := 0
	for part := range strings.SplitSeq(text, ",") {
		tasks, times, _ := strings.Cut(strings.TrimSuffix(part, ")"), "(x")
		count, err := e.natural(envSlurmPerNode, tasks, 1)
		if err != nil {
			return err
		}
		repeats := given{value: 1}
		if times != "" {
			if repeats, err = e.natural(envSlurmPerNode, times, 1); err != nil {
				return err
			}
		}
		if at += repeats.value; r[theNode].value < at {
			r[theLocalWorld] = given{value: count.value, name: envSlurmPerNode, text: text}
			return nil
		}
	}
	return errorf("%s=%.40q has no entry for %v", envSlurmPerNode, text, r[theNode])
}

// isSlurmShell reports whether Slurm started this process once, or not at all.
//
// Note: Slurm's shells. In the shell of salloc and in the script of sbatch, SLURM_NTASKS is the
// number of tasks that srun would start, while the shell itself runs once. Some sites start the
// shell of salloc as a step of one task. The script of sbatch has rank 0 and a job, but no step.
func isSlurmShell(e environment) bool {
	isShell := e[envSlurmJob] != "" && e[envSlurmStep] == "" ||
		slices.Contains([]string{"bash", "sh", "zsh", "interactive"}, e[envSlurmJobName])
	switch {
	case e[envSlurmRank] == "":
		return true
	case e[envSlurmStepTasks] != "":
		return e[envSlurmStepTasks] == "1"
	}
	return e[envSlurmRank] == "0" && (isShell || e[envSlurmTasks] == "" || e[envSlurmTasks] == "1")
}

// UnstartedTasks returns how many tasks Slurm has room for, if this process is a shell of Slurm or was
// started by one rather than by srun; else 0.
func UnstartedTasks(of cluster.Environment) int {
	e := environment(of)
	if e[envSlurmJob] == "" || !isSlurmShell(e) || e[envSlurmStep] != "" {
		return 0
	}
	tasks, err := e.natural(envSlurmTasks, e[envSlurmTasks], 2)
	if err != nil {
		return 0 // one, or Slurm does not say
	}
	return tasks.value
}

// readPod adds that each pod is a host.
func readPod(e environment, r *reading) error {
	if r[theRank].isSet() {
		r[theNode] = r[theRank]
		r[theLocalRank] = given{name: envJobIndex, text: e[envJobIndex]}
		r[theLocalWorld] = given{value: 1, name: envJobIndex, text: e[envJobIndex]}
	}
	return nil
}

// isSinglePod reports whether an indexed Kubernetes job may be one of a single pod: it has index 0
// and nothing names a set of jobs.
func isSinglePod(e environment) bool {
	return e[envJobIndex] == "0" && e[envJobSet] == "" && e[cluster.EnvWorld] == "" && e[envTorchWorld] == ""
}

// slurmAddress returns the address of the first host of the step or the job; "" outside Slurm. Port
// "" means one derived from the number of the job, so that two jobs rarely meet.
func (e environment) slurmAddress(port string) (string, error) {
	const firstPort, numPorts = 10000, 20000
	hosts := e[envSlurmStepHosts]
	if hosts == "" {
		hosts = e[envSlurmHosts]
	}
	if hosts == "" || isSlurmShell(e) {
		return "", nil
	}
	host, isHost := firstHost(hosts)
	if !isHost {
		return "", errorf("list of hosts %.40q: want a form such as node[01-04,7]", hosts)
	}
	if port == "" {
		job, err := strconv.ParseUint(e[envSlurmJob], 10, 32)
		if err != nil {
			return "", errorf("%s=%.40q, want a number", envSlurmJob, e[envSlurmJob])
		}
		port = strconv.FormatUint(firstPort+job%numPorts, 10)
	}
	return net.JoinHostPort(host, port), nil
}

// firstHost returns the first host of a list such as "rack[1-2]node[07,9],login".
func firstHost(list string) (string, bool) {
	form := regexp.MustCompile(`^(?:[\w.-]|\[\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*\])+`)
	entry := form.FindString(list)
	rest := list[len(entry):]
	if entry == "" || rest != "" && rest[0] != ',' {
		return "", false
	}
	return regexp.MustCompile(`\[(\d+)[^\]]*\]`).ReplaceAllString(entry, "$1"), true
}
