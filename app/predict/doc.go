// Package predict calibrates the predictions of package forecast by runs, then verifies them likewise.
//
// [Make] calibrates by short runs of one and two workers through package bench, has package forecast predict
// every configuration that [Config] asks for, and returns a file's content, a [forecast.Prediction]. [Verify]
// runs what can be run here of one and returns what was measured beside it.
//
// # Guarantees
//
// A prediction is a function of its calibration and its inputs: Make by the same folder of results gives the
// same rows, but for wires with a codec, which is timed once for each prediction. Rows that are of other
// settings tell nothing. A row is verified with the settings that it was predicted with.
//
// # Errors
//
// *setting.UsageError before anything runs for what cannot be predicted or verified, after the short runs for
// what they did not tell; the errors of bench.Run.
package predict
