package command

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"lockstep/app/job/worker"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/train"
)

// lateBy names the variable with how much later than rank 0 the others are ready for their first step.
const lateBy = "LOCKSTEP_TEST_LATE"

// latecoming returns what lets workers be late, or nil.
func latecoming(e cluster.Environment) worker.Between {
	late, err := time.ParseDuration(e[lateBy])
	if err != nil {
		return nil
	}
	return func(_ setting.Config, rank int, u train.Updater) train.Updater {
		if rank > 0 {
			time.Sleep(late)
		}
		return u
	}
}

// No worker's time has in it what another one needed to get ready.
func TestTheClockBeginsWhenAllAreReady(t *testing.T) {
	t.Parallel()
	const late = 3 * time.Second
	for _, strategy := range []string{"ddp", "local-sgd"} {
		out := filepath.Join(t.TempDir(), "run")
		c := tool(t, "train", "--strategy", strategy, "--workers", "2", "--threads", "1", "--steps", "3",
			"--limit-train", "192", "--limit-test", "0", "--json", "--out", out)
		c.Env = append(c.Environ(), lateBy+"="+late.String())
		text, err := c.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, c.Stderr)
		}
		var s record.Summary
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		if s.TrainSeconds >= late.Seconds() {
			t.Errorf("%s: three steps took %.3g s, with the %v that a worker was late", strategy,
				s.TrainSeconds, late)
		}
	}
}
