// Package job turns one resolved configuration into a finished run.
//
// [Run] makes the run directory, starts the workers (as processes of the same binary, or as
// goroutines for --link local), waits for them, then writes summary.json. [Work] is the body of a
// worker process. This package is the composition root: it alone wires membership -> links ->
// comm.Group -> gradsync -> train.Loop.
//
// With CheckpointEvery rank 0 copies the training state between two steps and writes the copy while
// training continues. Resume continues from the newest valid checkpoint of a run directory.
//
// Guarantees: only a resumed run overwrites files of an existing run directory, no worker outlives
// Run, and with every strategy except none all replicas end with the same parameters or Run fails.
//
// Errors are typed by what the caller can do about them; [ExitCode] maps each to the documented
// exit status: *setting.UsageError or *rundir.FolderError (2), *data.MissingError,
// *data.FormatError, *checkpoint.FormatError or *checkpoint.MatchError (3),
// *cluster.RendezvousError (4), *cluster.WorkerError (5, or the status the worker itself
// reported), *checkpoint.WriteError or *checkpoint.NoneError (6), *train.DivergedError (7),
// *MissedError and *EditedError (8), *StoppedError (75 or 130), context.Canceled (130), anything else (1).
package job
