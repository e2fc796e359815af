// Package commbench times collectives between the ranks of one host.
//
// It measures latency and bandwidth by operation, algorithm, link, number of ranks and size.
//
// [Run] takes a [Config], starts the ranks of each (link, number of ranks) once, goes through the
// sizes in them, and returns one [record.Collective] per measurement. A collective is checked before it is
// timed: with known contributions every rank must end with the known result. A sample is a run of
// calls without anything in between, timed by each rank, and the slowest rank counts. What was sent
// is counted beside what the formula says.
package commbench
