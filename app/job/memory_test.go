package job_test

import (
	"os"
	"path/filepath"
	"testing"

	"lockstep/app/job"
	"lockstep/app/setting"
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
		s := run(t, c, job.Options{Isolate: true})
		if s.PeakRSSBytes == 0 {
			t.Skip("this system does not tell")
		}
		if ratio := float64(s.PlannedBytes) / float64(s.PeakRSSBytes); ratio < 0.85 || ratio > 1.25 {
			t.Errorf("%s: %s planned, %s used", name, setting.Size(s.PlannedBytes),
				setting.Size(s.PeakRSSBytes))
		}
	}
}
