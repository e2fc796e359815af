// Package launch runs a command of lockstep with its workers on several hosts.
//
// [Run] is what `lockstep launch` does: it connects to an agent on each host (package agent), examines them
// (package doctor), sends them the data sets and files that the command needs (package transfer), runs it on
// the first host, starts it again from its newest checkpoint after a loss ([Restarts]), and fetches its
// results. [Serve] is the life of the agent. Errors are those of these packages; [Status] returns their exit
// status.
package launch
