// Package rundir keeps the files of one run in a folder of its own.
//
// [New] and [Claim] take a folder for a new run, [Reclaim] takes that of a run which is resumed; a
// lock keeps other processes out until Unlock. A [Directory] names the files. JSON files are
// replaced atomically, and a [StepLog] appends whole lines, so that a reader never sees half of
// either.
//
// Errors that the user must mend are a *[FolderError]; *[checkpoint.FormatError] and
// *[checkpoint.NoneError] come from checkpoints.
package rundir
