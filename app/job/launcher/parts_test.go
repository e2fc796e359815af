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
	"lockstep/app/setting"
	"lockstep/trace"
)

// The lines of steps say for whom the exchange waited and what checkpoints took, the spans who came last, and
// no part of the exposed exchange is more than all of it.
func TestStepsSayWhatTheirTimeWentInto(t *testing.T) {
	c := short(t)
	c.Workers, c.CheckpointEvery, c.Strategy, c.Wire = 2, "1", "ddp", "bf16"
	var err error
	if c.SlowWorkers, err = setting.ParseSlowWorkers("1:10ms"); err != nil {
		t.Fatal(err)
	}
	s := run(t, c, launcher.Options{})
	text, err := os.ReadFile(filepath.Join(c.Out, rundir.StepsFile))
	if err != nil {
		t.Fatal(err)
	}
	var waited [2]float64
	var kept, added, coded float64
	for line := range strings.Lines(string(text)) {
		var l record.Step
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		waited[l.Rank] += l.PeerSeconds
		added, coded = added+l.AddSeconds, coded+l.CodeSeconds
		if l.Rank == 0 {
			kept += l.CheckpointSeconds
		}
		if parts := l.PeerSeconds + l.AddSeconds + l.CodeSeconds; parts > l.Phases.SyncExposed*1.001 {
			t.Errorf("step %d of rank %d: %+v in %v s of exchange", l.Step, l.Rank, l.Parts,
				l.Phases.SyncExposed)
		}
	}
	slowed := 0.010 * float64(s.Steps)
	if waited[0] < slowed/2 || waited[0] < waited[1] || added <= 0 || coded <= 0 {
		t.Errorf("rank 0 waited %v s, rank 1 %v s; want most of %v s; sums took %v s, the codec %v s",
			waited[0], waited[1], slowed, added, coded)
	}
	if told := s.Checkpoints.ExposedSeconds; kept <= 0 || kept > told*1.1+0.01 {
		t.Errorf("%v s of checkpoints by step, %v s in all", kept, told)
	}
	if clock := s.Ranks[1].Clock; clock == nil || *clock != (record.Clock{}) {
		t.Errorf("clock of one host: %+v", clock)
	}
	line, err := trace.NewTimeline(2, rundir.Directory(c.Out).Spans)
	if err != nil {
		t.Fatal(err)
	}
	if arrivals, n := line.Arrivals(); arrivals[1].Steps < n*3/4 || line.Error() != 0 {
		t.Errorf("%+v of %d steps, clocks to %v; want rank 1 in most", arrivals, n, line.Error())
	}
}
