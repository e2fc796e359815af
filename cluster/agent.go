package cluster

import (
	"os"
	"strconv"
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
func (n Node) Environments(e Environment) []Environment {
	all := make([]Environment, n.Each)
	for local := range all {
		all[local] = e.With(Environment{
			envTorchRank:       strconv.Itoa(n.Rank*n.Each + local),
			envTorchWorld:      strconv.Itoa(n.Nodes * n.Each),
			envTorchLocalRank:  strconv.Itoa(local),
			envTorchLocalWorld: strconv.Itoa(n.Each),
			envTorchNode:       strconv.Itoa(n.Rank),
			envTorchNodes:      strconv.Itoa(n.Nodes),
			EnvMasterAddr:      n.Address,
			EnvMasterPort:      strconv.Itoa(n.Port),
			envTorchRun:        n.Job,
			envTorchRestart:    "0",
			envTorchAgentStore: "",
			// The agent has read these; a process that was started by it is no node of its own.
			envPetNodes: "", envPetNode: "", envPetLocalWorld: "", envPetMasterAddr: "", envPetMasterPort: "",
		})
	}
	return all
}

// RunEach starts the command once with each environment, with the streams of this process, and passes
// signals on. It returns when all have ended, with the first status other than 0; that of a process
// ended by a signal is 1. No process outlives this one.
func RunEach(command []string, environments []Environment, signals <-chan os.Signal) (int, error) {
	processes := make([]process, len(environments))
	for i, e := range environments {
		processes[i] = process{name: "process " + strconv.Itoa(i), command: command, environment: e}
	}
	exits := make(chan exit)
	f, err := startFleet(processes, func(e event) { exits <- *e.exit })
	if err != nil {
		return 0, err
	}
	status := 0
	for left := len(processes); left > 0; {
		select {
		case e := <-exits:
			left--
			if e.signal != "" {
				e.status = 1
			}
			if status == 0 {
				status = e.status
			}
		case s := <-signals:
			f.signal(s)
		}
	}
	f.wait()
	return status, nil
}

// NodeRank returns the number of this host as its scheduler gives it, with the variable; "" if none
// does.
func (e Environment) NodeRank() (text, name string) {
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
