// Package bench runs a matrix of training configurations.
//
// [Config] holds one or more parts, each a matrix over one base configuration: models, data, batches,
// conditions, threads, strategies with their settings, workers and wires. [Expand] turns it into a [Plan].
// [Run] executes every row once per round in an interleaved order ([Plan.Trials]) through app/job, keeps
// every raw sample, and writes results.json.
//
// Guarantees: all rows of one model do equal work (same steps, batch, seed, and as many virtual
// shards as the largest worker count of the matrix); every run is a process of its own, the
// single worker too; a failed run is recorded with its reason while the rest goes on;
// results.json is replaced atomically after a run, unless writing it would take more than a twentieth
// of the time, and when the benchmark is interrupted: one that is killed loses its last runs at most.
//
// Errors: *setting.UsageError from [Expand] before anything runs; data errors and a cancelled
// context end the benchmark at once, with the results so far; a *FailedError after the last run
// if any failed.
package bench
