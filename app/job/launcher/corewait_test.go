package launcher_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/rundir"
)

// Eight workers that take turns on fewer cores compute a sample as long as one alone, whatever else the
// machine does: the rest is waiting for cores, nearly all of it before the exchange goes on.
func TestComputingIsWithoutWaitingForCores(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells how long threads waited for a core")
	}
	alone := computing(t, 1)
	if many := computing(t, 8); many < alone/2 || many > 2*alone {
		t.Errorf("%.3g s for a sample by many workers, %.3g alone", many, alone)
	}
}

// computing returns the seconds for which a worker of so many computes a sample.
func computing(t *testing.T, workers int) float64 {
	t.Helper()
	c := short(t)
	c.Workers, c.Threads, c.Steps, c.Epochs = workers, 1, 200, 0
	c.Shards, c.Batch, c.Strategy = workers, 16*workers, "all-reduce"
	run(t, c, launcher.Options{})
	text, err := os.ReadFile(filepath.Join(c.Out, rundir.StepsFile))
	if err != nil {
		t.Fatal(err)
	}
	ranks, seconds, samples := make([]record.Steps, workers), 0.0, 0
	for line := range strings.Lines(string(text)) {
		var l record.Step
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Step < 10 { // memory is touched for the first time
			continue
		}
		s := &ranks[l.Rank]
		s.AddParts(l.Parts)
		s.CPU = append(s.CPU, l.CPUSeconds)
		for name, v := range l.Phases.ByName() {
			if s.Phases == nil {
				s.Phases = map[string]record.Numbers{}
			}
			s.Phases[name] = append(s.Phases[name], v)
		}
		seconds, samples = seconds+l.Phases.Forward+l.Phases.Backward, samples+16
	}
	for _, steps := range ranks {
		waits, _ := steps.CoreWaits(1)
		for _, wait := range waits {
			seconds -= wait
		}
	}
	return seconds / float64(samples)
}
