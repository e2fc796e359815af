package bench_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/app/bench"
	"lockstep/app/evidence/compare"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/comm"
)

// plan has three rows under each of two conditions, with 100 steps of 10 to the epoch.
func plan(t *testing.T) bench.Plan {
	t.Helper()
	c := matrix([]string{"lenet"}, []string{"single", "all-reduce", "ddp"}, 1, 2)
	c.OneProcess, c.Repeats = false, 3
	c.Parts[0].Conditions = conditions(t, "equal", "rate=10mbit")
	c.Parts[0].Base.Epochs, c.Parts[0].Base.Steps, c.Parts[0].Base.LimitTrain = 10, 0, 640
	c.Parts[0].Base.EvalEvery = 1
	p, err := bench.Expand(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestABudgetCutsStepsThenRoundsThenRows(t *testing.T) {
	start := []float64{1, 1, 1, 1, 1, 1}
	for _, test := range []struct {
		name          string
		budget        float64
		step          []float64 // equal: single, all-reduce, ddp; over a link: the same
		left          int
		epochs, steps []int // of the rows that are kept
		rounds        []int
	}{
		{"all of it", 1000, []float64{.1, .1, .1, .1, .3, .2}, 0,
			[]int{10, 10, 10, 10, 10, 10}, []int{0, 0, 0, 0, 0, 0}, []int{3, 3, 3, 3, 3, 3}},
		// Shortest rounds are of 3.9 and 4.8 s: 3 (3 + 0.3 N) in 53.8 s of 120 is 4 epochs, in 45 s;
		// 3 (3 + 0.6 N) in what is left 3.
		{"steps, in whole epochs", 120, []float64{.1, .1, .1, .1, .3, .2}, 0,
			[]int{4, 4, 4, 3, 3, 3}, []int{0, 0, 0, 0, 0, 0}, []int{3, 3, 3, 3, 3, 3}},
		// Shortest rounds are of 3.9 and 9.3 s: each group has three.
		{"as many rounds", 41, []float64{.1, .1, .1, .1, 1, 1}, 0,
			[]int{0, 0, 0, 0, 0, 0}, []int{3, 3, 3, 3, 3, 3}, []int{3, 3, 3, 3, 3, 3}},
		// Shortest rounds are of 3.9 and 48 s of 62: each group has one.
		{"rounds", 62, []float64{.1, .1, .1, 5, 5, 5}, 0,
			[]int{0, 0, 0, 0, 0, 0}, []int{5, 5, 5, 3, 3, 3}, []int{1, 1, 1, 1, 1, 1}},
		{"rows, and the baseline last", 46, []float64{.1, .1, .1, .1, 30, 1}, 1,
			[]int{1, 1, 1, 0, 0}, []int{0, 0, 0, 6, 6}, []int{3, 3, 3, 3, 3}},
	} {
		p, fitted := bench.Fit(plan(t), test.budget, start, test.step)
		if fitted.Left != test.left || len(p.Rows) != 6-test.left || len(p.Skipped) != test.left {
			t.Errorf("%s: %d left out, %d rows, skipped %v", test.name, fitted.Left, len(p.Rows), p.Skipped)
			continue
		}
		for i, r := range p.Rows {
			if r.Epochs != test.epochs[i] || r.Steps != test.steps[i] || r.Rounds != test.rounds[i] ||
				(r.EvalEvery == 0) != (r.Steps > 0) {
				t.Errorf("%s: %s: %d epochs, %d steps, %d rounds, want %d, %d, %d", test.name, r.Name(),
					r.Epochs, r.Steps, r.Rounds, test.epochs[i], test.steps[i], test.rounds[i])
			}
			if err := r.Validate(); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		if want := slices.Max(test.rounds); p.Repeats != want {
			t.Errorf("%s: %d rounds, want %d", test.name, p.Repeats, want)
		}
		if fitted.Seconds > test.budget || fitted.Runs != len(p.Trials()) {
			t.Errorf("%s: expected %v s of %v, %d runs of %d", test.name, fitted.Seconds, test.budget,
				fitted.Runs, len(p.Trials()))
		}
	}
}

// A group that is left out whole does not count as one of no rounds.
func TestRoundsOfWhatIsKept(t *testing.T) {
	p, fitted := bench.Fit(plan(t), 41, []float64{1, 1, 1, 1, 1, 1}, []float64{.1, .1, .1, 99, 99, 99})
	if fitted.Left != 3 || len(p.Rows) != 3 || fitted.LeastRounds() != 3 {
		t.Errorf("%d rows left out, %d kept with %d rounds, want 3, 3, 3", fitted.Left, len(p.Rows),
			fitted.LeastRounds())
	}
}

// An interrupt while costs are predicted is not kept waiting for those of all rows.
func TestABudgetCanBeInterrupted(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2)
	c.OneProcess, c.Budget, c.Out = false, time.Minute, filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	probes := 0
	_, err := bench.Run(ctx, c, bench.Options{Execute: pretend,
		Fitted: func(bench.Fitted) { t.Error("the plan was fitted") },
		Probe: func(context.Context, setting.Config, launcher.Options) (record.Probe, error) {
			probes++
			cancel()
			return record.Probe{Compute: []float64{0.1, 0.1}, Shards: 2, Tensors: 1}, nil
		}})
	if !errors.Is(err, context.Canceled) || probes != 1 {
		t.Errorf("error %v after %d probes, want that of the context after one", err, probes)
	}
}

// Rows that train for a time are cut to a shorter one, the same for all, before rounds are.
func TestABudgetCutsTimes(t *testing.T) {
	c := timed(matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2))
	c.OneProcess, c.Repeats = false, 3
	p, err := bench.Expand(c)
	if err != nil {
		t.Fatal(err)
	}
	for budget, want := range map[float64]string{1000: "30s of 3", 100: "15s of 3", 30: "4s of 3"} {
		fitted, _ := bench.Fit(p, budget, []float64{1, 1}, []float64{1, 1})
		for _, r := range fitted.Rows {
			if got := fmt.Sprint(r.For, " of ", r.Rounds); got != want || r.Steps+r.Epochs > 0 {
				t.Errorf("%v s: %s, want %s", budget, got, want)
			}
		}
	}
}

// A budget is measured before the first run, told, and kept: what does not fit is listed, not run.
func TestRunWithinABudget(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single", "all-reduce"}, 1, 2)
	c.OneProcess, c.Budget, c.Out = false, time.Minute, filepath.Join(t.TempDir(), "out")
	c.Parts[0].Conditions = conditions(t, "equal", "slow-worker=1:3", "rate=10kbit")
	c.Parts[0].Base.Steps = 20
	var told bench.Fitted
	probes := 0
	r, err := bench.Run(t.Context(), c, bench.Options{Execute: pretend,
		Fitted: func(f bench.Fitted) { told = f },
		Probe: func(_ context.Context, one setting.Config, _ launcher.Options) (record.Probe, error) {
			probes++
			if one.Workers != 2 || len(one.SlowWorkers) > 0 {
				t.Errorf("probed with %d workers, slow ones %s", one.Workers, one.SlowWorkers)
			}
			return record.Probe{Compute: []float64{0.1, 0.1}, Forward: 0.03, Backward: 0.06, Bytes: 1e6,
				Tensors: 10, Shards: 2, Link: comm.LinkSpeed{Byte: 1e-9}}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	if probes != 1 || told.Left != 1 || len(told.Groups) != 3 || len(r.Rows) != 5 {
		t.Errorf("%d probes, told %+v, %d rows", probes, told, len(r.Rows))
	}
	last := r.Skipped[len(r.Skipped)-1]
	if last.Strategy != "all-reduce rate=10kbit" || !strings.Contains(last.Reason, "budget") {
		t.Errorf("skipped %+v", r.Skipped)
	}
}

// A plan that asks why keeps a part of its budget for the runs that confirm causes, tells it before the first
// run, and has them in the results; one that does not ask keeps nothing.
func TestTimeIsKeptForCauses(t *testing.T) {
	for quantity, isKept := range map[string]bool{"why": true, "step": false} {
		c := matrix([]string{"lenet"}, []string{"single", "all-reduce"}, 1, 2)
		c.OneProcess, c.Budget, c.Out = false, time.Minute, filepath.Join(t.TempDir(), "out")
		c.Parts[0].Base.Steps = 200
		c.Inquiry = &record.Inquiry{Questions: []record.Question{{Ask: "?", Quantity: quantity,
			Of: record.Selector{"workers": "2"}}}}
		var told bench.Fitted
		var left time.Duration
		r, err := bench.Run(t.Context(), c, bench.Options{Execute: pretend,
			Fitted: func(f bench.Fitted) { told = f },
			Probe: func(context.Context, setting.Config, launcher.Options) (record.Probe, error) {
				return record.Probe{Compute: []float64{0.1, 0.1}, Forward: 0.03, Backward: 0.06, Bytes: 1e6,
					Tensors: 10, Shards: 2, Link: comm.LinkSpeed{Byte: 1e-9}}, nil
			},
			Confirm: func(_ context.Context, p bench.Plan, r *record.Results, out string, time time.Duration,
				o bench.Options) (*record.Causes, error) {
				left = time
				if o.Confirm != nil || len(p.Rows) != len(r.Rows) || filepath.Dir(out) != c.Out {
					t.Errorf("%d rows of %d, folder %s", len(p.Rows), len(r.Rows), out)
				}
				return &record.Causes{Pairs: []record.CausePair{{Rows: [2]int{0, 1}}}}, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		if (told.Kept > 0) != isKept || told.Seconds+told.Kept > 60 || (left > 0) != isKept ||
			left > time.Minute {
			t.Errorf("%s: kept %v s beside %v s, left %v", quantity, told.Kept, told.Seconds, left)
		}
		if (r.Causes != nil) != isKept || isKept && len(r.Causes.Pairs) != 1 {
			t.Errorf("%s: causes %+v", quantity, r.Causes)
		}
	}
}

// Runs take far longer than predicted, and others take cores from each: the first round of every row comes
// before any repeat, and a round for which there is no time is not begun. What the first one lacks is told,
// and the results are not refused for it.
func TestABudgetThatIsOver(t *testing.T) {
	for budget, want := range map[time.Duration][]string{3 * time.Second: {"single", "all-reduce", "ddp"},
		2 * time.Second: {"single", "all-reduce"}} {
		synctest.Test(t, func(t *testing.T) { runOverBudget(t, budget, want) })
	}
}

func runOverBudget(t *testing.T, budget time.Duration, want []string) {
	c := matrix([]string{"lenet"}, []string{"single", "all-reduce", "ddp"}, 1, 2)
	c.OneProcess, c.Repeats, c.Budget, c.Out = false, 3, budget, filepath.Join(t.TempDir(), "out")
	c.Parts[0].Base.Steps = 20
	var ran []string
	r, err := bench.Run(t.Context(), c, bench.Options{
		Probe: func(context.Context, setting.Config, launcher.Options) (record.Probe, error) {
			return record.Probe{Compute: []float64{1e-4, 1e-4}, Shards: 2, Tensors: 1}, nil
		},
		Execute: func(ctx context.Context, row bench.Row, o launcher.Options) (*record.Summary, error) {
			ran = append(ran, row.Strategy)
			time.Sleep(900 * time.Millisecond)
			s, err := pretend(ctx, row, o)
			if err == nil {
				s.Taken = &record.Taken{Others: 0.5}
			}
			return s, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ran, want) {
		t.Errorf("%v: ran %v, want %v", budget, ran, want)
	}
	isOver := func(s record.Skip) bool { return s.Reason == record.BudgetOver }
	if isWhole := len(want) == 3; r.Complete != isWhole || r.CutShort == isWhole || r.Ran() != 1 ||
		slices.ContainsFunc(r.Skipped, isOver) == isWhole {
		t.Errorf("%v: complete %v, cut short %v, %d rounds", budget, r.Complete, r.CutShort, r.Ran())
	}
	if tells(compare.Compare(r), "incomplete") {
		t.Error("refused because the budget was over")
	}
}

// Runs are far shorter than predicted: the rounds that were cut are run after all, in the order that the seed
// draws, and no more than were asked for.
func TestTimeThatIsLeftGoesToRounds(t *testing.T) { synctest.Test(t, runUnderBudget) }

func runUnderBudget(t *testing.T) {
	c := matrix([]string{"lenet", "vgg11"}, []string{"single", "all-reduce"}, 1, 2)
	c.OneProcess, c.Repeats, c.Budget, c.Out = false, 6, 100*time.Second, filepath.Join(t.TempDir(), "out")
	c.Parts[0].Base.Steps, c.Order = 20, 7
	var told bench.Fitted
	began := time.Now()
	r, err := bench.Run(t.Context(), c, bench.Options{Fitted: func(f bench.Fitted) { told = f },
		Probe: func(_ context.Context, one setting.Config, _ launcher.Options) (record.Probe, error) {
			step := 1e-4
			if one.Model == "vgg11" {
				step = 3
			}
			return record.Probe{Compute: []float64{step, step}, Shards: 2, Tensors: 1}, nil
		},
		Execute: func(ctx context.Context, row bench.Row, o launcher.Options) (*record.Summary, error) {
			time.Sleep(time.Second)
			if row.Model == "vgg11" {
				time.Sleep(9 * time.Second)
			}
			return pretend(ctx, row, o)
		}})
	if err != nil {
		t.Fatal(err)
	}
	var rounds []int
	for _, row := range r.Rows {
		rounds = append(rounds, len(row.Runs))
		if row.Rounds != len(row.Runs) {
			t.Errorf("%s: %d runs of %d rounds", row.Setting.Strategy, len(row.Runs), row.Rounds)
		}
	}
	// Six rounds of lenet are 12 s, four of vgg11 80 s, and a fifth would end after 112 s.
	if !slices.Equal(rounds, []int{6, 6, 4, 4}) || told.Runs >= 20 || !r.Complete {
		t.Errorf("%v rounds, %d runs were expected, complete %v", rounds, told.Runs, r.Complete)
	}
	if took := time.Since(began); took > c.Budget {
		t.Errorf("took %v", took)
	}
}

// A round that is added is begun with time to spare, so that it is whole though runs take a little longer.
func TestAnAddedRoundIsWhole(t *testing.T) { synctest.Test(t, runWithSlowerRounds) }

func runWithSlowerRounds(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single", "all-reduce"}, 1, 2)
	c.OneProcess, c.Repeats, c.Budget, c.Out = false, 6, 42*time.Second, filepath.Join(t.TempDir(), "out")
	c.Parts[0].Base.Steps = 20
	takes := 10 * time.Second
	r, err := bench.Run(t.Context(), c, bench.Options{
		Probe: func(context.Context, setting.Config, launcher.Options) (record.Probe, error) {
			return record.Probe{Compute: []float64{4, 4}, Shards: 2, Tensors: 1}, nil
		},
		Execute: func(ctx context.Context, row bench.Row, o launcher.Options) (*record.Summary, error) {
			time.Sleep(takes)
			takes += 500 * time.Millisecond
			return pretend(ctx, row, o)
		}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete || r.CutShort || len(r.Rows[0].Runs) != 1 {
		t.Errorf("complete %v, cut short %v, %d rounds", r.Complete, r.CutShort, len(r.Rows[0].Runs))
	}
}

func TestBudgetsAreRefused(t *testing.T) {
	open := matrix([]string{"lenet"}, []string{"single"}, 1)
	open.Parts[0].Base.Steps = 0
	copies := withCopies(matrix([]string{"lenet"}, []string{"single"}, 1), 2)
	tiny := matrix([]string{"lenet"}, []string{"single"}, 1)
	for want, c := range map[string]bench.Config{
		"how many steps an epoch of glyphs has": open,
		"no copies to compare with":             copies, "not even 3 steps": tiny,
	} {
		c.Budget, c.Out = time.Second, filepath.Join(t.TempDir(), "out")
		_, err := bench.Run(t.Context(), c, bench.Options{Execute: pretend,
			Probe: func(context.Context, setting.Config, launcher.Options) (record.Probe, error) {
				return record.Probe{Compute: []float64{100}}, nil
			}})
		var bad *setting.UsageError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want a usage error with %q", err, want)
		}
	}
}

// swept is a plan of four batches, as r4 has them: three whose accuracies a question divides by one another,
// and one that the reference sets beside them.
func swept(t *testing.T) bench.Plan {
	t.Helper()
	c := matrix([]string{"lenet"}, []string{"single"}, 1)
	base := c.Parts[0].Base
	base.Epochs, base.Steps, base.LimitTrain, base.EvalEvery, base.Shards = 6, 0, 6400, 1, 1
	c.Parts, c.Repeats = nil, 6
	for _, batch := range []int{32, 64, 256, 63} {
		c.Parts = append(c.Parts, bench.Part{Base: base, Models: []string{"lenet"},
			Strategies: []string{"single"}, Workers: []int{1}, Batches: []int{batch}})
	}
	of := func(batch string) record.Selector { return record.Selector{"batch": batch} }
	c.Inquiry = &record.Inquiry{
		Questions: []record.Question{{Ask: "less accurate?", Quantity: "accuracy", Of: of("256"),
			Over: []record.Selector{of("64"), of("32")}, Below: new(1.0)}},
		Reference: record.Reference{Title: "theirs", Columns: []string{"total s"},
			Rows: []record.ReferenceRow{{Name: "one", Is: of("32")}, {Name: "three", Is: of("63")}}}}
	p, err := bench.Expand(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A run that is cut to an epoch or more is evaluated after each, so that it has a best accuracy.
func TestABudgetKeepsEvaluations(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single"}, 1)
	base := &c.Parts[0].Base
	base.Steps, base.LimitTrain, base.EvalEvery = 40, 20*64, 1
	p, err := bench.Expand(c)
	if err != nil {
		t.Fatal(err)
	}
	for budget, want := range map[float64][2]int{32: {31, 1}, 16: {15, 0}} { // 20 steps to the epoch
		cut, _ := bench.Fit(p, budget, []float64{1}, []float64{1})
		if r := cut.Rows[0]; [2]int{r.Steps, r.EvalEvery} != want {
			t.Errorf("%v s: %d steps, an evaluation every %d, want %v", budget, r.Steps, r.EvalEvery, want)
		}
	}
}

// What a question compares by accuracy has seen as many samples within any budget, an epoch at least: 90.5 %
// after 1,200 steps of 32 say nothing beside 11.0 % after 55 steps of 64.
func TestABudgetKeepsSamplesEqual(t *testing.T) {
	p := swept(t)
	start, step := []float64{.5, .5, .5, .5}, []float64{.004, .006, .02, .006}
	seen := map[int]bool{}
	for budget := 5.0; budget < 120; budget *= 1.1 {
		cut, fitted := bench.Fit(p, budget, start, step)
		if fitted.Seconds > budget || len(cut.Rows) == 0 {
			t.Fatalf("%.1f s: %d rows in %.1f s", budget, len(cut.Rows), fitted.Seconds)
		}
		samples := make([]int, len(cut.Rows))
		for i, r := range cut.Rows {
			if samples[i] = 6400 * r.Epochs; r.Steps > 0 {
				samples[i] = r.Steps * r.Batch
			}
			isNear := samples[i] > samples[0]-r.Batch && samples[i] <= samples[0]
			if r.Batch != 63 && samples[i] != samples[0] || !isNear {
				t.Errorf("%.1f s: samples %v", budget, samples)
			}
		}
		seen[samples[0]] = true
	}
	if !seen[6400] || !seen[6*6400] || seen[3*256] {
		t.Errorf("lengths %v, want an epoch to six", seen)
	}
}

// The losses that questions ask for are there within any budget that runs at all. One that only stands in the
// report of another does not cost rounds.
func TestABudgetKeepsTheStepsAskedFor(t *testing.T) {
	p := plan(t)
	p.Inquiry = &record.Inquiry{Reference: record.Reference{Columns: []string{"loss-at-100"}},
		Questions: []record.Question{{Quantity: "loss-at-20"}, {Quantity: "loss-at-40"}}}
	short := 100
	start, step := []float64{1, 1, 1, 1, 1, 1}, []float64{.1, .1, .1, .1, .3, .2}
	for budget := 1.0; budget < 400; budget *= 1.2 {
		cut, fitted := bench.Fit(p, budget, start, step)
		for _, r := range cut.Rows {
			n := r.NumSteps(r.LimitTrain)
			if short = min(short, n); n < 40 {
				t.Errorf("%.1f s: %d steps of %s, %+v", budget, n, r.Name(), fitted)
			}
		}
	}
	if short == 100 {
		t.Error("no budget cuts runs below the loss of the reference")
	}
}

// A row that nobody asks for is left out before those that questions are about, however fast it is.
func TestABudgetKeepsWhatIsAskedFor(t *testing.T) {
	p := plan(t)
	p.Inquiry = &record.Inquiry{Questions: []record.Question{{Quantity: "step",
		Of: record.Selector{"strategy": "ddp"}}}} // the first, so nothing in the second group
	cut, _ := bench.Fit(p, 20, []float64{1, 1, 1, 1, 1, 1}, []float64{.1, 1, 2, .1, 1, 2})
	var left []string
	for _, s := range cut.Skipped {
		left = append(left, s.Strategy)
	}
	if want := []string{"all-reduce equal", "ddp rate=10mbit"}; !slices.Equal(left, want) {
		t.Errorf("left out %q, want %q", left, want)
	}
}

// A budget that is too small is refused with one that is large enough, for runs as long as questions need.
func TestARefusedBudgetSaysHowMuch(t *testing.T) {
	for _, asked := range [][]record.Question{nil, {{Quantity: "loss-at-40"}}} {
		c := matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2)
		c.OneProcess, c.Parts[0].Base.Steps = false, 60
		c.Inquiry = &record.Inquiry{Questions: asked}
		run := func(budget time.Duration) error {
			c.Budget, c.Out = budget, filepath.Join(t.TempDir(), "out")
			_, err := bench.Run(t.Context(), c, bench.Options{Execute: pretend,
				Probe: func(context.Context, setting.Config, launcher.Options) (record.Probe, error) {
					return record.Probe{Compute: []float64{5, 5}, Shards: 2, Tensors: 1}, nil
				}})
			return err
		}
		err := run(20 * time.Second)
		if err == nil {
			t.Fatalf("%v: 20 s are enough", asked)
		}
		_, text, _ := strings.Cut(err.Error(), "want at least ")
		enough, wrong := time.ParseDuration(text)
		if most := 10 * time.Minute; wrong != nil || enough > most {
			t.Fatalf("%v: error %v, want a time up to %v", asked, err, most)
		}
		if err := run(enough); err != nil {
			t.Errorf("%v: %v, after %v was said to be enough", asked, err, enough)
		}
	}
}

// Rows that train for a time are cut to two seconds before rounds are, if these hold steps to be timed.
func TestABudgetOfTimesKeepsRounds(t *testing.T) {
	c := timed(matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2))
	c.OneProcess, c.Repeats = false, 6
	p, err := bench.Expand(c)
	if err != nil {
		t.Fatal(err)
	}
	for pace, want := range map[float64]string{0.001: "2s of 6", 0.5: "5s of 3", 10: ""} {
		cut, _ := bench.FitTimed(p, 37, []float64{1, 1}, pace)
		if len(cut.Rows) != 2 && want != "" {
			t.Errorf("steps of %v s: %d rows", pace, len(cut.Rows))
		}
		for _, r := range cut.Rows {
			if got := fmt.Sprint(r.For, " of ", r.Rounds); want != "" && got != want {
				t.Errorf("steps of %v s: %s, want %s", pace, got, want)
			}
		}
	}
}

// Up to eight rounds runs are cut as short as they may be; more are not worth runs that mostly start.
func TestRoundsAreWorthTheirStarts(t *testing.T) {
	c := matrix([]string{"lenet"}, []string{"single", "ddp"}, 1, 2)
	c.OneProcess, c.Repeats, c.Parts[0].Base.Steps = false, 10, 100
	p, err := bench.Expand(c)
	if err != nil {
		t.Fatal(err)
	}
	for budget, want := range map[float64]string{500: "100 of 10", 220: "35 of 10", 150: "21 of 9",
		130: "20 of 8", 80: "5 of 8", 60: "5 of 6"} {
		cut, _ := bench.Fit(p, budget, []float64{4, 4}, []float64{.2, .2})
		for _, r := range cut.Rows {
			if got := fmt.Sprint(r.Steps, " of ", r.Rounds); got != want {
				t.Errorf("%v s: %s, want %s", budget, got, want)
			}
		}
	}
}

// Time that is left after the rounds that were asked for goes to rows of which a question is not decided.
func TestTimeThatIsLeftGoesToWhatIsOpen(t *testing.T) { synctest.Test(t, runWithAnOpenQuestion) }

func runWithAnOpenQuestion(t *testing.T) {
	c := matrix([]string{"lenet", "vgg11"}, []string{"single", "all-reduce"}, 1, 2)
	c.OneProcess, c.Repeats, c.Budget, c.Out = false, 4, time.Minute, filepath.Join(t.TempDir(), "out")
	c.Parts[0].Base.Steps, c.Seeds = 20, []uint64{3, 5}
	is := func(model, way string) record.Selector { return record.Selector{"model": model, "strategy": way} }
	c.Inquiry = &record.Inquiry{Questions: []record.Question{{Ask: "faster?", Quantity: "step",
		Of: is("vgg11", "all-reduce"), Over: []record.Selector{is("vgg11", "single")}, Below: new(1.0)}}}
	r, err := bench.Run(t.Context(), c, bench.Options{
		Probe: func(context.Context, setting.Config, launcher.Options) (record.Probe, error) {
			return record.Probe{Compute: []float64{1e-4, 1e-4}, Shards: 2, Tensors: 1}, nil
		},
		Execute: func(ctx context.Context, row bench.Row, o launcher.Options) (*record.Summary, error) {
			time.Sleep(time.Second)
			return pretend(ctx, row, o)
		}})
	if err != nil {
		t.Fatal(err)
	}
	var rounds []int
	for _, row := range r.Rows {
		rounds = append(rounds, len(row.Runs))
	}
	var seeds []uint64
	for _, run := range r.Rows[3].Runs[:7] {
		seeds = append(seeds, run.Seed)
	}
	if want := []uint64{3, 5, 3, 5, 1_000_007, 1_000_008, 1_000_009}; !slices.Equal(seeds, want) {
		t.Errorf("seeds %v, want %v", seeds, want)
	}
	if !slices.Equal(rounds, []int{4, 4, 20, 20}) || !r.Complete {
		t.Errorf("rounds %v, complete %v", rounds, r.Complete)
	}
}
