// Package job holds what the rooms of a run share, from the configuration to the finished summary.
//
// A run is launched by [lockstep/app/job/launcher], which makes the run directory, starts the workers (as
// processes of the same binary, or as goroutines for --link local), waits for them, then writes
// summary.json. [lockstep/app/job/chooser] first decides what the configuration leaves to auto.
// [lockstep/app/job/worker] is one replica, wherever it runs: it alone wires membership -> links ->
// comm.Group -> gradsync -> train.Loop. What it trains comes from [lockstep/app/job/input], parameter
// servers from [lockstep/app/job/server], and what it keeps between two steps goes through
// [lockstep/app/job/snapshot].
//
// Here are a rank's [Seat] and [Beacon], the [Notice] and the [Result] that it sends to the launcher, what
// a checkpoint keeps of the run, what a run directory tells of a run that has not ended, and the errors.
//
// Errors are typed by what the caller can do about them; [ExitCode] maps each to the documented exit
// status: *setting.UsageError or *rundir.FolderError (2), *data.MissingError, *data.FormatError,
// *checkpoint.FormatError or *checkpoint.MatchError (3), *cluster.RendezvousError (4),
// *cluster.WorkerError (5, or the status the worker itself reported), *checkpoint.WriteError or
// *checkpoint.NoneError (6), *train.DivergedError (7), *MissedError (8), *StoppedError (75 or 130),
// context.Canceled (130), anything else (1).
package job
