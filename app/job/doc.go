// Package job turns one resolved configuration into a finished run.
//
// [Run] makes the run directory, starts the workers (as processes of the same binary, or as
// goroutines for --link local), waits for them, then writes summary.json. [Work] is the other end:
// what a worker process does. This package is the composition root: membership -> links ->
// comm.Group -> gradsync -> train.Loop is wired here alone.
//
// With CheckpointEvery rank 0 copies the moment between two steps and writes it while training
// goes on; Resume goes on from the newest valid checkpoint of a run directory.
//
// Guarantees: nothing in an existing run directory is overwritten but by a run that is resumed
// there, no worker outlives Run, and with any strategy but none all replicas end with the same
// parameters or Run fails.
//
// Errors are typed by what the caller can do about them; [ExitCode] maps each to the documented
// exit status: *setting.UsageError or *rundir.FolderError (2), *data.MissingError,
// *data.FormatError, *checkpoint.FormatError or *checkpoint.MatchError (3),
// *cluster.RendezvousError (4), *cluster.WorkerError (5, or the status the worker itself
// reported), *checkpoint.WriteError or *checkpoint.NoneError (6), *train.DivergedError (7),
// *MissedError (8), *StoppedError (75 or 130), context.Canceled (130), anything else (1).
package job
