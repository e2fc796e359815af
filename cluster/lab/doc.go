// Package lab runs a command on several hosts that are network namespaces of this machine.
//
// [Run] gives every host an interface with an address of its own, joins them by a network whose
// links are as slow, long and lossy as [Config] says, starts the command on the first host, and
// returns what every link counted. The command learns the hosts from its environment
// (cluster.LabEnvironment), and the workers it launches spread over them.
//
// # Networks
//
// If links have only rates, the kernel is the network: a pair of virtual Ethernet interfaces to
// each host, a bridge, and a token bucket at both ends of each pair. It carries tens of gigabits
// per second at the price of processor time. For delay, loss and cuts one thread of this process
// carries the packets between TUN devices and delays them; it moves some gigabits per second in all.
//
// # Guarantees
//
// A host sees only the other hosts. The loss of each packet is a function of (seed, host, number of the
// packet). Namespaces and interfaces have no names and belong to the process, so they vanish when it
// ends, even if it is killed.
//
// # Errors
//
// What privileges or the kernel lack is told with what to do; *[ExitError] when the command has ended with a
// status other than 0.
package lab
