package setting_test

import (
	"slices"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/setting"
)

// aside lists the settings that compare.ComputedNames lacks, by why it does.
func aside() map[string][]string {
	return map[string][]string{
		"rows are compared by it otherwise: by groups, by their own label, or by the work that was done": {
			"model", "data", "batch", "shards", "lr", "seed", "math", "device", "isa", "epochs", "steps",
			"for", "until", "accumulate", "limit-test", "patience", "best-by", "restore-best"},
		"how workers share the work, which the strategy and the wire of a row tell": {
			"workers", "threads", "strategy", "algorithm", "wire", "servers", "server-place", "staleness",
			"backup-workers", "staleness-rate", "replay", "average-every", "outer-lr", "outer-momentum",
			"outer-wire", "outer-parts", "outer-overlap"},
		"it changes no weights that a run trains": {
			"data-dir", "eval-only", "tta", "link", "insecure", "streams", "socket-buffer", "bucket",
			"overlap-forward", "shard-optimizer", "rebalance", "slow-worker", "slow-loader",
			"memory", "resident",
			"master-addr", "master-port", "eval-every", "out", "save", "checkpoint-every", "resume", "trace",
			"spans"},
	}
}

// Every setting is compared between rows, or is said here not to be, and why.
func TestEverySettingIsComparedOrAside(t *testing.T) {
	left := compare.ComputedNames()
	for _, names := range aside() {
		left = append(left, names...)
	}
	for _, s := range setting.Settings(nil) {
		at := slices.Index(left, s.Name)
		if at < 0 {
			t.Errorf("setting %s: compare.ComputedNames lacks it. Add it there if it decides what a run "+
				"computes, and to aside if it does not.", s.Name)
			continue
		}
		left = slices.Delete(left, at, at+1)
	}
	if len(left) > 0 {
		t.Errorf("no settings, or listed twice: %q", left)
	}
}
