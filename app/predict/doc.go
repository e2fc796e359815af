// Package predict calibrates the predictions of package forecast by runs, then verifies them likewise.
//
// [Make] calibrates by short runs of one and two workers through package bench, has package forecast predict
// every configuration that [Config] asks for, and returns a file's content, a [forecast.Prediction]. [Verify]
// runs what can be run here of one and returns what was measured beside it.
//
// # Guarantees
//
// A prediction is a function of its calibration and its inputs: Make by the same folder of results gives the
// same rows. A row is verified with the settings that it was predicted with.
//
// # Errors
//
// *setting.UsageError for what cannot be predicted or verified, before anything runs; the errors of
// bench.Run.
package predict
