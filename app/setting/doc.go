// Package setting resolves the configuration of a run.
//
// [Config] holds the values of a run. A [Setting] describes one of them: flag, key in a file,
// default, check. [Resolve] merges defaults, a file, the environment, then flags, and keeps the
// origin of every value. The methods of Config derive what depends on several values: the samples
// of a step, the update rule with its rate, whether replicas stay equal.
//
// Invalid values are reported as a *[UsageError] with one line each, which names the origin of the
// value. No method of Config except UnmarshalJSON modifies it.
package setting
