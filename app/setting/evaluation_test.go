package setting_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/app/setting"
)

// Every setting is one that an evaluation reads or refuses, or one of training, which it notes. A new one
// wants a place in a list here and, if it is read, in that of evaluation.go.
func TestEvaluationNotesSettingsOfTraining(t *testing.T) {
	read := strings.Fields(`model stem data data-dir size vocab sequence text-column pair-column
		label-column limit-test weights fresh-head normalize eval-only tta workers threads link insecure
		streams slow-worker master-addr master-port device isa math until out checkpoint-every resume trace`)
	trains := strings.Fields(`augment limit-train strategy servers server-place algorithm wire
		bucket overlap-forward shard-optimizer rebalance memory average-every outer-lr
		outer-momentum outer-wire outer-parts outer-overlap staleness backup-workers staleness-rate replay
		epochs steps for batch shards accumulate seed optimizer lr scale-lr momentum nesterov
		weight-decay decay beta1 beta2 eps groups schedule warmup drop-every milestones gamma triangle clip
		ema lookahead label-smoothing eval-every save`)
	c := setting.Default()
	c.EvalOnly, c.Weights, c.Workers = true, "model.safetensors", 2
	c = c.InProcesses().Complete()
	note := func(name string) string {
		return strings.Join(c.Idle(setting.Origins{name: "--" + name}), "; ")
	}
	for _, s := range setting.Settings(nil) {
		isRead, isOfTraining := slices.Contains(read, s.Name), slices.Contains(trains, s.Name)
		want := "--" + s.Name + " has no effect: --eval-only trains nothing"
		switch got := note(s.Name); {
		case isRead == isOfTraining:
			t.Errorf("--%s: does an evaluation read it? want it in one of the lists", s.Name)
		case isOfTraining != (got == want):
			t.Errorf("--%s: note %q; it is read: %v", s.Name, got, isRead)
		}
	}
	c.Strategy = "none"
	if got := note("strategy"); got != "" {
		t.Errorf("%s; all workers of none evaluate all samples", got)
	}
	c.Device = setting.DeviceCUDA
	if got := note("batch") + note("shards"); got != "" {
		t.Errorf("%s; a GPU evaluates as many samples at once as a shard has", got)
	}
	c.EvalOnly = false
	if got := note("lr"); got != "" {
		t.Errorf("of a run that trains: %s", got)
	}
}
