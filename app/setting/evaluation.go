package setting

import "slices"

// evaluationSettings lists what a run with EvalOnly reads or refuses. All other settings are of training.
func evaluationSettings() []string {
	return []string{"model", "stem", "data", "data-dir", "size", "vocab", "sequence", "text-column",
		"pair-column", "label-column", "limit-test", "weights", "fresh-head", "normalize", "eval-only", "tta",
		"workers", "threads", "link", "insecure", "streams", "slow-worker", "master-addr", "master-port",
		"device", "isa", "math", "until", "out", "checkpoint-every", "resume", "trace"}
}

// ofTraining returns why a run with EvalOnly does not read the setting called name; "" if it does, or if the
// run trains.
func (c Config) ofTraining(name string) string {
	isRead := slices.Contains(evaluationSettings(), name)
	switch name {
	case "strategy": // all workers of none evaluate all samples
		isRead = c.IsIsolated()
	case "batch", "shards": // a GPU evaluates as many samples at once as a shard has
		isRead = c.Device != DeviceCPU
	}
	if !c.EvalOnly || isRead {
		return ""
	}
	return "--eval-only trains nothing"
}
