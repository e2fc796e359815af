package launcher_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/data"
	"lockstep/trace"
)

// The lines of steps say for whom the exchange waited and what checkpoints took, the spans who came last, and
// no part of the exposed exchange is more than all of it.
func TestStepsSayWhatTheirTimeWentInto(t *testing.T) {
	const late = 200 * time.Millisecond // far more than a step takes, on a busy machine too
	c := short(t)
	c.Workers, c.CheckpointEvery, c.Strategy, c.Wire, c.Epochs = 2, "1", "ddp", "bf16", 1
	c.SlowWorkers = setting.SlowWorkers{{Rank: 1, Pace: data.Pace{Delay: late}}}
	s := run(t, c, launcher.Options{})
	text, err := os.ReadFile(filepath.Join(c.Out, rundir.StepsFile))
	if err != nil {
		t.Fatal(err)
	}
	var waited [2]float64 // at most in a step
	var kept, added, coded float64
	for line := range strings.Lines(string(text)) {
		var l record.Step
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		waited[l.Rank] = max(waited[l.Rank], l.PeerSeconds)
		added, coded = added+l.AddSeconds, coded+l.CodeSeconds
		if l.Rank == 0 {
			kept += l.CheckpointSeconds
		}
		if parts := l.PeerSeconds + l.AddSeconds + l.CodeSeconds; parts > l.Phases.SyncExposed*1.001 {
			t.Errorf("step %d of rank %d: %+v in %v s of exchange", l.Step, l.Rank, l.Parts,
				l.Phases.SyncExposed)
		}
	}
	if waited[0] < late.Seconds()/4 || added <= 0 || coded <= 0 {
		t.Errorf("rank 0 waited for up to %v s, rank 1 %v s; want most of %v on rank 0; sums took %v s, "+
			"the codec %v s", waited[0], waited[1], late, added, coded)
	}
	if told := s.Checkpoints.ExposedSeconds; kept <= 0 || told <= 0 {
		t.Errorf("%v s of checkpoints by step, %v s in all", kept, told)
	}
	if clock := s.Ranks[1].Clock; clock == nil || *clock != (record.Clock{}) {
		t.Errorf("clock of one host: %+v", clock)
	}
	line, err := trace.NewTimeline(2, rundir.Directory(c.Out).Spans)
	if err != nil {
		t.Fatal(err)
	}
	if arrivals, n := line.Arrivals(); n == [2]int{} || arrivals[1].Steps == [2]int{} || line.Error() != 0 {
		t.Errorf("%+v of %d steps, clocks to %v; want rank 1 in some", arrivals, n, line.Error())
	}
}
