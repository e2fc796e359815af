//go:build !race

// The race detector takes memory of its own.

package launcher_test

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"lockstep/app/job/launcher"
	"lockstep/app/setting"
	"lockstep/internal/spelling"
)

// What is planned before the first step is close to what a worker's process takes at most: with a generated
// set, whose training takes most, and with one whose files are decoded, which takes more than training.
func TestPlannedMemoryIsWhatIsUsed(t *testing.T) {
	for _, name := range []string{"glyphs", "mnist"} {
		c := short(t)
		c.Data, c.LimitTrain = name, -1
		c.Epochs, c.Steps, c.Batch = 0, 5, 16
		folder := os.Getenv("LOCKSTEP_DATA")
		if _, err := os.Stat(filepath.Join(folder, name)); name != "glyphs" && (folder == "" || err != nil) {
			t.Logf("%s is not here: %v", name, err)
			continue
		}
		s := run(t, c, launcher.Options{Isolate: true})
		if s.PeakRSSBytes == 0 {
			t.Skip("this system does not tell")
		}
		if ratio := float64(s.PlannedBytes) / float64(s.PeakRSSBytes); ratio < 0.85 || ratio > 1.25 {
			t.Errorf("%s: %s planned, %s used", name, spelling.Size(s.PlannedBytes),
				spelling.Size(s.PeakRSSBytes))
		}
	}
}

// Workers that read each other's gradients in shared memory have these pages too.
func TestPlannedMemoryOfWorkersThatShare(t *testing.T) {
	if testing.Short() {
		t.Skip("trains vgg11")
	}
	c := short(t)
	c.Model, c.Data, c.Workers, c.Threads, c.Shards, c.Batch = "vgg11", "synthetic", 2, 1, 2, 32
	c.Epochs, c.Steps, c.LimitTest = 0, 2, 64
	debug.FreeOSMemory() // what other tests left would be planned as in use, and then be used again
	most, planned := int64(0), int64(0)
	for range 3 { // the plan is of what a run takes at most; one of a busy machine took 18 MiB less
		c.Out = filepath.Join(t.TempDir(), "run")
		s := run(t, c, launcher.Options{})
		if s.PeakRSSBytes == 0 {
			t.Skip("this system does not tell")
		}
		most, planned = max(most, s.PeakRSSBytes), s.PlannedBytes
	}
	if ratio := float64(planned) / float64(most); ratio < 0.9 || ratio > 1.1 {
		t.Errorf("%s planned, %s used at most", spelling.Size(planned), spelling.Size(most))
	}
}

// The plan includes what a worker may need when shards move to it, and what servers keep
// of asynchronous workers.
func TestPlannedMemoryOfRunsThatGrow(t *testing.T) {
	plain := short(t)
	plain.Workers, plain.Shards, plain.Batch, plain.Epochs, plain.Steps = 2, 8, 128, 2, 0
	plain.LimitTrain = 1024
	plain.Strategy = "all-reduce" // in processes: what this one has used before would count as loading
	least := run(t, plain, launcher.Options{})
	for name, change := range map[string]func(*setting.Config){
		"moves": func(c *setting.Config) { c.Rebalance = true },
		"async": func(c *setting.Config) { c.Strategy = "ps-async" },
	} {
		c := plain
		c.Out = t.TempDir() + "/run"
		change(&c)
		if s := run(t, c, launcher.Options{}); s.PlannedBytes <= least.PlannedBytes {
			t.Errorf("%s: %s planned, without %s", name, spelling.Size(s.PlannedBytes),
				spelling.Size(least.PlannedBytes))
		}
	}
}
