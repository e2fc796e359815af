// Package forecast predicts the step of a training run from what one worker, then two, have taken.
//
// A [Calibration] holds what was measured: passes of one worker, what sharing a machine and exchanging costs,
// and the noise of both. [Calibration.FitLink] makes the costs of links agree with measured steps. [Inputs]
// describe machines and a network that need not exist, [Inputs.Row] simulates a [Run] on them by package
// simulate. A [Prediction] freezes rows in a file with a hash, and a track record ([ReadTrack], [Append])
// counts how many of them were measured within their intervals later, by which the next ones are widened.
//
// # Guarantees
//
// A row is a pure function of calibration, inputs and run. Files are written whole or not at all, and never
// over another one; a file that was changed is refused.
//
// # Errors
//
// Errors of package simulate for runs that do not fit together; errors that name the file for what cannot be
// read or written. Nothing panics.
package forecast
