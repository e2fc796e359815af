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

// Steps tell how much of their processor time there was until the gradient, for [record.Steps.CoreWaits].
func TestStepsTellWhereTheyWaitForCores(t *testing.T) {
	c := short(t)
	c.Workers, c.Strategy, c.Epochs, c.Steps = 2, "all-reduce", 0, 60
	run(t, c, launcher.Options{})
	text, err := os.ReadFile(filepath.Join(c.Out, rundir.StepsFile))
	if err != nil {
		t.Fatal(err)
	}
	var cpu, gradient float64
	for line := range strings.Lines(string(text)) {
		var l record.Step
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		cpu += l.CPUSeconds
		gradient += l.GradientCPUSeconds
	}
	if gradient <= 0 || gradient >= cpu {
		t.Errorf("%v of %v s of processor time until the gradients", gradient, cpu)
	}
}
