package chooser

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
)

// The usual math stays unless one that multiplies as exactly is clearly faster.
func TestFastestMath(t *testing.T) {
	for _, test := range []struct {
		exact, six, bf16 float64 // steps, where fast takes 1
		want             string
	}{
		{1.3, 1.2, 0.5, "fast"},
		{0.96, 1.2, 0.5, "fast"},
		{0.9, 1.2, 0.5, "exact"},
		{0.9, 0.6, 0.5, "bf16x6"},
		{0.9, 0.92, 0.5, "exact"},
	} {
		maths := []record.MathTerms{
			{Math: "fast", Bits: 24, Step: 1},
			{Math: "exact", Bits: 24, Step: record.Number(test.exact)},
			{Math: "bf16x6", Bits: 24, Step: record.Number(test.six)},
			{Math: "bf16x3", Bits: 17, Step: 0.1},
			{Math: "bf16", Bits: 8, Step: record.Number(test.bf16)},
		}
		if got := fastest(maths); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// The run has the bits of the math that is chosen, and nothing else is left behind.
func TestMathAuto(t *testing.T) {
	if testing.Short() {
		t.Skip("makes short runs for some seconds")
	}
	t.Setenv("TMPDIR", t.TempDir())
	run := func(math string, workers int) (*record.Summary, string) {
		c := setting.Default()
		c.Model, c.Data, c.Sequence, c.Batch = "bert-tiny", "synthetic", 64, 16
		c.Workers, c.Shards, c.Link, c.Math = workers, 2, "local", math
		c.Steps, c.LimitTrain, c.LimitTest, c.Save, c.Out = 3, 64, 0, false, t.TempDir()
		var said bytes.Buffer
		s, err := Run(context.Background(), c, launcher.Options{Stderr: &said,
			Origins: setting.Origins{"math": "--math"}})
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(filepath.Join(c.Out, rundir.ConfigFile))
		if isChosen := strings.Contains(string(file), "# "+fromMathAuto); err != nil ||
			isChosen != (math == setting.Auto) {
			t.Errorf("%s: %v, config.yaml:\n%s", math, err, file)
		}
		return s, said.String()
	}
	s, said := run(setting.Auto, 2)
	if one, _ := run(s.Math, 1); one.ParameterSHA256 != s.ParameterSHA256 {
		t.Errorf("parameters %s, with %s given %s", s.ParameterSHA256, s.Math, one.ParameterSHA256)
	}
	found := s.MathChoice
	if found == nil || found.Chosen != s.Math || len(found.Maths) < 3 {
		t.Fatalf("math %s, choice %+v", s.Math, found)
	}
	for _, m := range found.Maths {
		if m.Step <= 0 || m.Step > 10 {
			t.Errorf("%+v", m)
		}
	}
	for _, want := range []string{"math auto: timing fast", "never chosen, as it rounds more: --math bf16"} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %q, want %q", said, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "lockstep-probe-*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// Short runs do not diverge at a rate that a schedule makes bearable.
func TestShortRunsAtAWarmRate(t *testing.T) {
	c := setting.Default()
	c.Optimizer.LR, c.Schedule.Warmup, c.LimitTrain = 3000, 1e5, 2048
	p := prober{config: brief(c), folder: t.TempDir()}
	m := record.MathTerms{Math: "fast", Step: record.Number(math.Inf(1))}
	if err := p.timeMath(context.Background(), &m, 8); err != nil || m.Step > 10 {
		t.Errorf("%v, steps of %v s", err, m.Step)
	}
}
