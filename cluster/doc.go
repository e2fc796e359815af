// Package cluster runs a job as a set of processes.
//
// [Launch] starts the workers of a run on this machine, connects them, supervises them to their
// end, and returns their results. The last ranks of a run may be servers, which hold parameters for
// the workers; they are treated as workers are, and [Name] names both. [Join] is the worker's side
// and returns a [Session]. [Environment] holds the environment variables of a process, and
// [Environment.ResolveMember] reads rank, world and addresses of a worker from them.
// Package foreign says which of the processes that another launcher (torchrun, Slurm, MPI, Kubernetes)
// started together this one is.
//
// A run on several hosts ([RosterEnvironment]) has an [Agent] on each host but the launcher's, which
// starts processes there for it: see Note: orders and reports.
//
// # Protocol
//
// Each worker has a control connection to its launcher. Workers on the launcher's own host inherit
// one end of a socket pair, without any port. For workers in a lab, and with a port or an interface
// other than loopback, there is a rendezvous: the coordinator listens on that one interface, and a
// worker connects and joins by the run's token over TLS (package pass). A stranger can make it read
// [pass.MaxStranger] bytes and no more. If too many connections have not joined yet, the oldest of
// them is closed.
//
// If another launcher has started all processes of a job, rank 0 opens a [Meeting] and the others join
// as guests: see Note: meetings.
//
// Both sides then exchange lines of JSON of at most 64 KiB: the worker's [Hello], then (once all
// have joined) the [Welcome], then progress and the final result or failure. The coordinator may
// send "stop". It acknowledges each report, so that reports do not pile up while the launcher is
// stopped. A worker listens for peers only if some of them are linked by TCP: a run over shared
// memory opens no port at all.
//
// # Guarantees
//
// No worker outlives its launcher: a worker is killed with it on Linux (parent-death signal), and
// on any system its session's context is cancelled when the launcher is gone. When one worker dies
// the others are stopped within half a second, in which they report what they waited for; the error
// names the first to die, not the peers that noticed. A worker that is dead or stuck is detected in
// a run of any length: see the note on dead and stuck. [Watch] detects a stuck worker that is a
// goroutine of the launcher's own process; nothing within a process can detect that all of it is
// stopped. If the machine reveals why a worker was killed (no memory, no threads), the error says
// so. No goroutine outlives Launch or Session.Close.
//
// # Errors
//
// *[RendezvousError] if the workers cannot connect, *[WorkerError] if one of them failed, died or
// is stuck, *[HostError] if a host is lost, *[StopError] if the run was asked to stop, *[LimitError] if
// the machine allows no process for a worker, *[EnvironmentError] if variables are missing or contradict
// each other.
package cluster
