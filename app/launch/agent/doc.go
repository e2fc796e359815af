// Package agent connects a console with an agent on each of its hosts.
//
// The console is the process in which the user typed `lockstep launch`. It holds a [Connection] to
// an agent on each host: over the user's own ssh, or to a child process if the host is this machine.
// [Dial] opens a connection, and installs this program on the host before if it is not there.
// [Serve] is the agent's side.
//
// # Protocol
//
// Console and agent exchange lines of JSON of at most 1 MiB over the agent's standard input and output.
// The agent's first line is its [Hello], with its version and the hash of its program. Each side sends
// a line at least once a second, an empty one if there is nothing to say. An agent that reads the end
// of its input, or nothing for ten seconds, kills everything that it has started and ends. A console
// that hears nothing for ten seconds gives the host up. Time in which a side does not read because
// its own output is blocked, or in which it was itself stopped, does not count.
//
// # Jobs
//
// [Job.Run] runs a command on the first host and carries its orders to the agents of the others
// ([cluster.Agent]). [Console.Stream] carries files beside the lines.
//
// # Errors
//
// *[HostError] names the host and what is wrong with it: it cannot be reached, refuses the user, or is lost.
// *[HostsError] is a list of hosts that cannot be read. *[AskError] is an error of the other side's answer;
// the connection stays usable. Every other error of a connection ends it.
package agent
