package cluster

// Place says which of the processes that a launcher started together this process is.
type Place struct {
	// Launcher is the name of what gave the rank, such as Slurm; "" if the process was started alone.
	Launcher string
	// Source is the variables that gave rank and world, with their values, for messages.
	Source string
	// Rank and World are the number of this process and the number of processes; 0 and 1 alone.
	Rank, World int
	// LocalRank and LocalWorld are the same among the processes of this host. LocalWorld is 0 if
	// unknown.
	LocalRank, LocalWorld int
	// Node and Nodes are the number of this host and the number of hosts. Nodes is 0 if unknown.
	Node, Nodes int
	// Cores is how many cores the launcher gives each process; 0 if it does not say.
	Cores int
	// Address is the host:port at which rank 0 listens; "" if the launcher gives none.
	Address string
	// Job is the same text in all processes of the job and in no other job of this machine; "" if
	// the launcher gives none.
	Job string
}

// IsSeveral reports whether other processes belong to the same job.
func (p Place) IsSeveral() bool { return p.World > 1 }

// MaxWorld bounds the world that variables may ask for, because memory is allocated by it.
const MaxWorld = 1 << 16
