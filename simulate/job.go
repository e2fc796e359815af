package simulate

import (
	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/shard"
)

// Passes are the parts of a worker's step, in seconds that they take alone on its machine.
type Passes struct {
	Data     float64 // until a batch is there
	Forward  float64 // all forward passes of the step
	Backward float64 // all backward passes
	Update   float64 // of all weights
	Other    float64 // the rest of the loop: losses, statistics, reports
	Threads  float64 // cores that Forward, Backward and Update keep busy; 0 means 1
}

// Machine is what ranks share that run on one computer.
type Machine struct {
	Cores float64 // 0 means as many as are asked for
	// Crowding[n-1] is how many times longer the passes take when n workers of the machine compute at
	// once, each with cores of its own: what sharing memory and caches costs. More workers take as long
	// as the last; nil means 1.
	Crowding []float64
	// Slice is how many seconds a computation keeps its cores while others wait for them, as an operating
	// system's scheduler gives them out; 0 lets all progress at once. It counts where passes are shorter than
	// that: three on two cores take twice as long as one, not one and a half times.
	Slice float64
}

// Link is the time of messages over one link, in seconds.
type Link struct {
	// Latency is of a step of an exchange with one message. Where a machine has more ranks than cores it is
	// as many times longer as there are ranks by core: whom a message wakes waits for its turn.
	Latency float64
	Message float64 // of each further message, while it takes the link
	Byte    float64 // of each byte, in either direction, while nothing else uses the link
	// Burst is how many bytes either end of a link between hosts lets pass at once after it was idle, as
	// a token bucket does: what it could have carried since, at most so many.
	Burst float64
	// Core time that either end takes from its machine, and which bounds the rate, too.
	CPUMessage, CPUByte float64
}

// Network is what connects ranks. Each host has one link to the others, which its ranks share; ranks of one
// host have links of their own to each other.
type Network struct {
	Inside, Outside Link
	// Group is the number of hosts at a switch, 0 for all. Between switches the hosts of one have, in
	// each direction, what their links carry divided by Oversubscription; 0 means 1.
	Group            int
	Oversubscription float64
	// Crossing is the part of a host's link that is lost while many messages share it which share their other
	// ends, too, as where all exchange with all; of few, see comm.Crossed. It is not caught up.
	Crossing float64
	// Unevenness is how many times the weight of others a message between hosts may have, or they its, where
	// they share a link, which goes by weights: connections are not equally lucky. Each message draws its own
	// weight, evenly on a logarithmic scale; 0 and 1 share evenly.
	Unevenness float64
}

// Unevenness is Network.Unevenness of hosts that TCP connects: by the steps of commbench's "gather" in
// results/predict, see docs/design/0039.
const Unevenness = 2

// Model is what is exchanged.
type Model struct {
	Segments []gradsync.Segment // places of the gradients, by parameter
	Order    []int              // in which they become final
	// Ready holds, by position in Order, the part of a worker's last backward pass after which the
	// gradient is final: ascending, 1 at most. Nil means evenly spread.
	Ready    []float64
	RowBytes float64 // of a shard's losses and statistics, which all workers gather in each step
}

// Wire is how gradients travel; the zero value is fp32.
type Wire struct {
	Codec          comm.Codec // nil: none
	Ratio          float64    // encoded bytes by bytes of the vector; 0: what Codec says, or 1
	Encode, Decode float64    // core seconds by byte of the vector
}

// Servers are the parameter servers of "ps" and "ps-async".
type Servers struct {
	Count   int  // 0 means 1
	IsApart bool // in processes of their own: ranks after the workers
	IsWhole bool // each parameter on one server
	// Staleness is the bound of "ps-async"; 0 lets every worker wait for all others.
	Staleness int
}

// Averages are the rounds of "local-sgd" and "diloco".
type Averages struct {
	Every   int // steps of a round; 0 means 1
	Parts   int // that are averaged at different times; 0 means 1
	Overlap int // steps after which a sum is merged
}

// Job is a run to be simulated.
type Job struct {
	// Strategy is one of gradsync.Names, "ps", "ps-async", "local-sgd", "diloco", "none" or "single".
	Strategy string
	// Topology says which ranks share a host: workers, then servers that are apart.
	Topology comm.Topology
	// Plan says which shards each worker computes; the zero value is one for each worker.
	Plan shard.Plan
	// Workers holds the passes of each worker, or of one that all are like. They are those of the
	// worker's shards by Plan, with "ps-async" of a whole batch.
	Workers []Passes
	// MachineOf holds the index in Machines of each rank's machine. If it is nil, each host is a machine,
	// in the order of their lowest ranks; a single one of Machines then stands for each of them, and none
	// for machines with cores for all.
	Machines  []Machine
	MachineOf []int
	Network   Network
	Model     Model

	BucketBytes int    // 0 means gradsync.DefaultBucketBytes
	Algorithm   string // of all-reduces; "" means "auto", by Network as a group would measure it
	Wire        Wire
	Add         float64 // core seconds to add a byte to another

	OverlapForward bool // of "ddp"; others ignore it
	ShardOptimizer bool // of "ddp" without OverlapForward
	Servers        Servers
	Averages       Averages

	mostRanks int // for tests; 0 means the constant
}

// Draw returns the noise of a worker's step, a pure function of both: the factor of Data, Forward, Backward
// and Other. What is not positive means 1. Steps are counted from 0.
type Draw func(rank, step int) float64

// Step is one simulated training step, in seconds. The terms are means over workers and add up to Seconds. Of
// "ps-async" it is an update, so P workers make P of them in the time of a batch.
type Step struct {
	Seconds float64 // from one update of the weights to the next
	Compute float64 // passes, data and the rest, with what sharing a machine adds
	Waiting float64 // for workers that compute longer
	Exposed float64 // exchange that training waits for
	Update  float64 // of the weights, by this worker
	// Bytes is what the busiest process sends and receives.
	Bytes float64
}

// Constraint is what bounds a step.
type Constraint string

// What can bound a step.
const (
	Compute   Constraint = "compute"
	Cores     Constraint = "cores"          // computation and exchange share them
	Memory    Constraint = "memory"         // see Machine.Crowding
	Latency   Constraint = "latency"        // and messages
	Bandwidth Constraint = "bandwidth"      // of links
	Codec     Constraint = "codec"          // encoding and decoding
	Slowest   Constraint = "slowest worker" // which the others wait for
	Updating  Constraint = "update"         // of the weights, by workers
	Server    Constraint = "server"         // sums and updates, by servers
	Loading   Constraint = "data"
)
