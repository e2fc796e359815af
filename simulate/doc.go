// Package simulate runs training steps on a virtual clock, by the schedules that production runs.
//
// A [Job] says what is known of a run: the seconds of each worker's passes, machines and links, and the
// strategy with its settings. [Steps] plays training steps: buckets from package gradsync, the transfers and
// sums of each collective from package comm, spans of servers from package ps, each when production would
// start it. Nothing is a formula of the strategy. [Binding] says what would shorten a step most.
//
// What shares a machine shares its cores, and what leaves a host shares its link in each direction. Workers
// wait for each other as they do in a run.
//
// # Guarantees
//
// All functions are pure: the same arguments give the same steps, on every machine. Without noise, equal
// workers on separate machines take what [comm.Tuning.Predict] says of the collectives that nothing hides. A
// slower link, machine or worker makes no step of the exact strategies shorter, but for the order in which
// messages happen to meet.
//
// # Errors
//
// [Steps] and [Binding] return an error that names the first field that does not fit; nothing else fails.
package simulate
