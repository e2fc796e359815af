// Package launcher carries out one run.
//
// [Run] lets open settings be decided first ([Choose]), makes the run directory, starts the workers and
// servers, watches them, hears what they tell, and writes summary.json. It refuses what cannot be begun
// before it starts anything.
//
// Guarantees: only a resumed run overwrites files of an existing run directory, no worker outlives Run,
// and with every strategy except none all replicas end with the same parameters or Run fails. Errors are
// those of [job.ExitCode].
package launcher
