package cluster

import "fmt"

// Role returns what a rank is in a run of so many workers, if it is no worker: the ranks after them are
// servers, which hold parameters and do not train. The name is that of a server, such as "server 1", or ""
// for a worker.
func Role(rank, workers int) string {
	if rank < workers {
		return ""
	}
	return fmt.Sprintf("server %d", rank-workers)
}

// Name names a rank for people: "rank 1", or for a server "server 1 (rank 3)".
func Name(rank, workers int) string {
	if role := Role(rank, workers); role != "" {
		return fmt.Sprintf("%s (rank %d)", role, rank)
	}
	return fmt.Sprintf("rank %d", rank)
}

// numWorkers returns the number of ranks that train.
func (c *LaunchConfig) numWorkers() int { return c.World - c.Servers }

// name names a rank of the run for people.
func (c *LaunchConfig) name(rank int) string { return Name(rank, c.numWorkers()) }

// command returns the command of a rank; nil if another launcher has started its process.
func (c *LaunchConfig) command(rank int) []string {
	switch {
	case c.Meeting.isGuest(rank):
		return nil
	case rank < c.numWorkers():
		return c.Command
	}
	return c.ServerCommand
}

// threads returns the number of compute threads of each rank.
func (c *LaunchConfig) threads() []int {
	threads := make([]int, c.World)
	for rank := range threads {
		threads[rank] = c.Threads
		if rank >= c.numWorkers() {
			threads[rank] = min(1, c.Threads)
		}
	}
	return threads
}
