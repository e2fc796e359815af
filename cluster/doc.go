// Package cluster makes a job out of processes.
//
// [Launch] starts the workers of a run on this machine, lets them meet, follows them to their
// end, then returns what each of them reported; [Join] is the worker's side and yields a
// [Session]. [Environment] holds the environment variables a process was started with, and
// [Environment.ResolveMember] reads rank, world and addresses from them. [Environment.CheckAlone]
// finds a command that another launcher started as one of several processes.
//
// # Protocol
//
// Each worker has a control connection to its launcher. Workers on the launcher's own host inherit one
// end of a socket pair, and no port is opened for it. For workers in a lab, and with a port or an
// interface other than loopback, there is a rendezvous: the coordinator listens on that one interface,
// and a worker connects and sends a fixed preamble that carries the run's token. Only the 44 bytes of the
// preamble are read from a stranger, and the token is compared in constant time; the answer is "ok". Of
// the connections that have not shown the token the oldest is closed when there are too many.
//
// Both sides then speak lines of JSON of at most 64 KiB: the worker's [Hello], then (once everybody is
// there) the [Welcome], then messages about progress and the final result or failure. The coordinator may
// send "stop". It says when it has read a report, so that reports to a launcher that is itself stopped do
// not pile up. A worker listens for its peers only if some of them are linked with it by TCP: a run over
// shared memory opens no port at all.
//
// # Guarantees
//
// No worker outlives its launcher: a worker dies with it on Linux (parent-death signal), and on
// any system its session's context is cancelled when the launcher is gone. When one worker dies
// the others are stopped within half a second, in which they say what they waited for; the error names
// the first to die, not the peers that noticed. A worker that beats no more, or does not get on, is
// found however long the run is to be: see the note on dead and stuck. Workers that are goroutines of the
// launcher's own process are watched by [Watch], which finds a stuck one, while a stop of the whole
// process cannot be noticed from within. Where the machine tells why a
// worker was ended (no memory, no threads), so does the error.
// No goroutine outlives Launch or Session.Close.
//
// # Errors
//
// *[RendezvousError] when the workers cannot meet, *[WorkerError] when one of them failed, died or got
// stuck, *[StopError] when the run was asked to stop, *[EnvironmentError] when variables are missing or
// contradict each other.
package cluster
