package foreign

import (
	"strconv"

	"lockstep/cluster"
)

// Node is a host on which an agent, such as `lockstep run`, starts the processes of a job.
type Node struct {
	Rank, Nodes int    // of the host, and the number of hosts
	Each        int    // number of processes of every host
	Address     string // host of rank 0
	Port        int
	Job         string // name of the job, the same on all hosts
}

// Environments returns the variables of each process of the node, as torchrun sets them.
func (n Node) Environments(e cluster.Environment) []cluster.Environment {
	all := make([]cluster.Environment, n.Each)
	for local := range all {
		all[local] = e.With(cluster.Environment{
			envTorchRank:          strconv.Itoa(n.Rank*n.Each + local),
			envTorchWorld:         strconv.Itoa(n.Nodes * n.Each),
			envTorchLocalRank:     strconv.Itoa(local),
			envTorchLocalWorld:    strconv.Itoa(n.Each),
			envTorchNode:          strconv.Itoa(n.Rank),
			envTorchNodes:         strconv.Itoa(n.Nodes),
			cluster.EnvMasterAddr: n.Address,
			cluster.EnvMasterPort: strconv.Itoa(n.Port),
			envTorchRun:           n.Job,
			envTorchRestart:       "0",
			envTorchAgentStore:    "",
			// The agent has read these; a process that was started by it is no node of its own.
			envPetNodes: "", envPetNode: "", envPetLocalWorld: "", envPetMasterAddr: "", envPetMasterPort: "",
		})
	}
	return all
}

// NodeRank returns the number of this host as its scheduler gives it, with the variable; "" if none
// does.
func NodeRank(e cluster.Environment) (text, name string) {
	for _, name := range []string{envSlurmNode, envJobIndex} {
		if name == envSlurmNode && e[envSlurmStep] == "" {
			continue // the script of sbatch, which runs on the first host only
		}
		if e[name] != "" {
			return e[name], name
		}
	}
	return "", ""
}
