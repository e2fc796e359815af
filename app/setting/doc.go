// Package setting resolves the configuration of a run.
//
// [Config] is the run as values. A [Setting] is one of them: its flag, its key in a file, its
// default, its check. [Resolve] merges defaults, a file, the environment, then flags, keeping the
// origin of every value. The methods of Config tell what the values mean together: the samples of
// a step, the update rule with its rate, whether replicas stay equal.
//
// Values that cannot work are a *[UsageError] with one line for each, which names the place the
// value came from. A Config is a value: its methods never change it, but for UnmarshalJSON.
package setting
