package launcher_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/rundir"
)

// Steps tell what [record.Steps.CoreWaits] needs: how much of their processor time there was until the
// gradient, and of the time without a core in the exchange.
func TestStepsTellWhereTheyWaitForCores(t *testing.T) {
	c := short(t)
	c.Workers, c.Strategy, c.Epochs, c.Steps = 2, "all-reduce", 0, 60
	run(t, c, launcher.Options{})
	text, err := os.ReadFile(filepath.Join(c.Out, rundir.StepsFile))
	if err != nil {
		t.Fatal(err)
	}
	var cpu float64
	var all record.Parts
	for line := range strings.Lines(string(text)) {
		var l record.Step
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		cpu += l.CPUSeconds
		all.GradientCPUSeconds += l.GradientCPUSeconds
		all.DelayedSeconds += l.DelayedSeconds
		all.ExchangeDelayedSeconds += l.ExchangeDelayedSeconds
	}
	if all.GradientCPUSeconds <= 0 || all.GradientCPUSeconds >= cpu {
		t.Errorf("%v of %v s of processor time until the gradients", all.GradientCPUSeconds, cpu)
	}
	if all.ExchangeDelayedSeconds > all.DelayedSeconds+1e-9 {
		t.Errorf("%v of %v s without a core in the exchange", all.ExchangeDelayedSeconds, all.DelayedSeconds)
	}
}
