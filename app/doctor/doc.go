// Package doctor examines the hosts of a job before it starts, with the routes between them.
//
// [Describe] tells the facts of this machine, [Advise] what of them hinders a job or slows it down. On
// every host a [Host] answers the questions of a console: facts, listening for probes, probing. [Preflight]
// asks all hosts through their [Asker], tries every address of each host from every other, chooses one for
// each and judges what it found. [Text] prints the result for a terminal of 80 columns.
//
// A probe proves who answered: both ends show that they know a key that the console has given to these two
// for this preflight. So an address that exists on several hosts, such as that of a container bridge, is
// never taken for another host's. Probes are bounded in time and bytes, a listener is bound to one address,
// keeps no more than 64 strangers and closes with the preflight. Between two hosts one stream at a time is
// measured.
//
// An error of Preflight means that there is no result, because a host did not answer; whatever else is wrong
// is a finding of the result.
package doctor
