package predict_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/app/bench"
	"lockstep/app/job/launcher"
	"lockstep/app/predict"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/forecast"
)

// here runs a row in this process.
func here(ctx context.Context, row bench.Row, _ launcher.Options) (*record.Summary, error) {
	c := row.Config
	c.Link = "local"
	return launcher.Run(ctx, c, launcher.Options{})
}

// probe finds steps so long that every run has the fewest.
func probe(context.Context, setting.Config, launcher.Options) (record.Probe, error) {
	return record.Probe{Compute: []float64{10, 10}}, nil
}

func never(context.Context, setting.Config, launcher.Options) (record.Probe, error) {
	return record.Probe{}, errors.New("it ran")
}

func asked(workers []int, strategies ...string) predict.Config {
	c := setting.Default()
	c.Data, c.Threads, c.Batch, c.Shards, c.LimitTrain = "synthetic", 1, 32, 4, 64
	return predict.Config{Base: c, Workers: workers, Strategies: strategies,
		Inputs: forecast.Inputs{PerHost: 1}}
}

// A prediction is made, frozen, read and verified, all by real runs.
func TestPredictionIsVerified(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for a second or two")
	}
	c := asked([]int{1, 2, 20}, "single", "all-reduce")
	c.Budget, c.Folder = 10*time.Minute, filepath.Join(t.TempDir(), "calibration")
	o := bench.Options{Execute: here, Probe: probe}
	p, err := predict.Make(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	k := p.MadeFrom
	if len(p.Rows) != 3 || len(k.Fits) != 2 || len(k.Gradient) != 8 || !(k.Inside.Latency > 0) {
		t.Fatalf("%d rows, %d fits, %d gradients, %+v", len(p.Rows), len(k.Fits), len(k.Gradient), k.Inside)
	}
	path, err := p.Save(filepath.Join(t.TempDir(), "p.json"))
	if err != nil {
		t.Fatal(err)
	}
	if p, err = forecast.Read(path); err != nil {
		t.Fatal(err)
	}
	all, err := predict.Verify(t.Context(), p, predict.Verification{Repeats: 1,
		Folder: filepath.Join(t.TempDir(), "runs")}, o)
	if err != nil || len(all) != 3 || all[0].Hash != p.Hash {
		t.Fatalf("%+v, %v", all, err)
	}
	for i, v := range all[:2] {
		if !(v.StepMS > 0) || len(v.RunsMS) != 1 || v.Inside != v.Step.Holds(v.StepMS) {
			t.Errorf("row %d: %+v", i, v)
		}
	}
	if !strings.Contains(all[2].Error, "20 workers, more than --most") || all[2].StepMS != 0 {
		t.Errorf("twenty workers: %+v", all[2])
	}
	again := c
	again.From, again.Folder = c.Folder, ""
	q, err := predict.Make(t.Context(), again, o)
	if err != nil || q.Rows[1].Step != p.Rows[1].Step {
		t.Errorf("from the same folder another step than %+v, or %v", p.Rows[1].Step, err)
	}
	isCalibrated(t, again)
	for what, change := range map[string]func(*predict.Config){
		"model":   func(c *predict.Config) { c.Base.Model = "vgg11" },
		"wire":    func(c *predict.Config) { c.Base.Wire = "bf16" },
		"bucket":  func(c *predict.Config) { c.Base.Bucket = 4096 },
		"threads": func(c *predict.Config) { c.Base.Threads = 2 },
	} {
		c := again
		change(&c)
		_, err := predict.Make(t.Context(), c, o)
		if !isRefused(err) || !strings.Contains(err.Error(), what) ||
			what == "model" && !strings.Contains(err.Error(), "lockstep bench --models vgg11 --strategies") {
			t.Errorf("from runs of another %s: %v", what, err)
		}
	}
	again.Base.SlowWorkers = slowed(t, "1:3")
	if q, err = predict.Make(t.Context(), again, o); err != nil || q.Rows[1].IsKnown {
		t.Errorf("a slow worker's step is taken for measured, or %v", err)
	}
	elsewhere := *p
	elsewhere.Rows, elsewhere.Settings, elsewhere.Inputs.Network = p.Rows[1:2], p.Settings[1:2], "1gbit"
	_, err = predict.Verify(t.Context(), &elsewhere, predict.Verification{}, o)
	if !isRefused(err) || !strings.Contains(err.Error(), "predict --in-lab") {
		t.Errorf("hosts with cores of their own: %v", err)
	}
	p.MadeFrom.Machine = "another"
	if _, err := predict.Verify(t.Context(), p, predict.Verification{}, o); !isRefused(err) {
		t.Errorf("a prediction of another machine: %v", err)
	}
}

// isCalibrated holds calibrations by the benchmark of c, with changes, to what they say of links.
func isCalibrated(t *testing.T, c predict.Config) {
	_, err := predict.Calibrate(c, func(row *record.Row) { // whose runs have left summaries
		row.Runs[0].Error, row.Runs[0].Ranks = "it failed", nil
	})
	if err != nil {
		t.Errorf("with failed runs: %v", err)
	}
	c.Inputs = forecast.Inputs{PerHost: 1, Network: "1gbit,5ms", Rate: 1e9, Delay: 5e-3}
	k, err := predict.Calibrate(c, func(row *record.Row) { row.Setting.Link = "tcp" })
	if err != nil || k.Outside.Latency < c.Inputs.Delay || k.Inside.Byte > 0 {
		t.Errorf("over tcp %+v, %v", k.Outside, err)
	}
	c.Inputs = forecast.Inputs{PerHost: 1, Network: "1gbit", Rate: 1e9}
	made, err := bench.ParseCondition("rate=1000mbit")
	if err != nil {
		t.Fatal(err)
	}
	var perByte []float64 // of real hosts, whose packets are smaller, and of a lab's
	for _, c.Inputs.IsLab = range []bool{false, true} {
		k, err := predict.Calibrate(c, func(row *record.Row) { row.Setting.Condition = made.String() })
		if err != nil {
			t.Fatal(err)
		}
		perByte = append(perByte, k.Outside.Byte)
	}
	if more := perByte[0] / perByte[1]; math.Abs(more-1.045/1.0075) > 1e-9 {
		t.Errorf("a byte takes real hosts %v times as long as those of a lab", more)
	}
	c.Inputs = forecast.Inputs{PerHost: 1, Network: "1gbit,5ms", Rate: 1e9, Delay: 5e-3}
	for _, condition := range []string{"", "each process on a host of its own, 10 Mbit/s"} {
		_, err = predict.Calibrate(c, func(row *record.Row) { row.Setting.Condition = condition })
		if !isRefused(err) || !strings.Contains(err.Error(), condition) {
			t.Errorf("rows of no link, %q: %v", condition, err)
		}
	}
}

func slowed(t *testing.T, text string) setting.SlowWorkers {
	t.Helper()
	all, err := setting.ParseSlowWorkers(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// asks returns the rows that a prediction would calibrate by.
func asks(t *testing.T, c predict.Config) (rows []bench.Row) {
	t.Helper()
	o := bench.Options{Probe: probe,
		Execute: func(_ context.Context, row bench.Row, _ launcher.Options) (*record.Summary, error) {
			rows = append(rows, row)
			return nil, errors.New("nothing runs")
		}}
	if _, err := predict.Make(t.Context(), c, o); err == nil || isRefused(err) || rows == nil {
		t.Fatalf("%d runs, %v; want failed runs", len(rows), err)
	}
	return rows
}

// A machine is calibrated without slow workers, which the simulation adds.
func TestCalibrationIsNotSlowed(t *testing.T) {
	c := asked([]int{1, 4}, "single", "ddp")
	c.Base.SlowWorkers = slowed(t, "0:2,3:1.5")
	for _, row := range asks(t, c) {
		if len(row.SlowWorkers) > 0 {
			t.Errorf("%s of %d workers has %v", row.Strategy, row.Workers, row.SlowWorkers)
		}
	}
}

// A fixed algorithm measures no links; another row does.
func TestLinksAreMeasured(t *testing.T) {
	c := asked([]int{4}, "ddp")
	c.Base.Algorithm = "ring"
	measures := func(row bench.Row) bool { return row.Workers == 2 && row.IsTuning() }
	if !slices.ContainsFunc(asks(t, c), measures) {
		t.Error("no row of two workers measures links")
	}
}

// One calibration has the workers and ways of all predictions that a plan asks for.
func TestOneCalibrationTellsOfAll(t *testing.T) {
	var ways []string
	o := bench.Options{Probe: probe,
		Execute: func(_ context.Context, row bench.Row, _ launcher.Options) (*record.Summary, error) {
			ways = append(ways, row.Strategy)
			return nil, errors.New("nothing runs")
		}}
	of := &bench.Config{Out: filepath.Join(t.TempDir(), "b"), Parts: []bench.Part{{Base: asked(nil).Base,
		Models: []string{"lenet"}}}, Inquiry: &record.Inquiry{Predictions: []record.Foresight{
		{Workers: []int{1, 4}, Strategies: []string{"ddp"}},
		{Workers: []int{4}, Strategies: []string{"ps"}}}}}
	_, err := predict.Foresee(t.Context(), of, forecast.Prediction{}, o)
	if err == nil || isRefused(err) || !slices.Contains(ways, "ps") {
		t.Errorf("calibrated by %v, %v", ways, err)
	}
	of.Inquiry.Predictions[1].Strategies, ways = []string{"magic"}, nil
	if _, err := predict.Foresee(t.Context(), of, forecast.Prediction{}, o); !isRefused(err) || ways != nil {
		t.Errorf("%v after runs of %v", err, ways)
	}
}

// A calibration that a busy machine draws out leaves half of the budget to the benchmark, or no budget where
// there was none.
func TestALongCalibrationPredictsNothing(t *testing.T) {
	o := bench.Options{Probe: probe,
		Execute: func(ctx context.Context, _ bench.Row, _ launcher.Options) (*record.Summary, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
	said := ""
	o.Progress = func(p bench.Progress) { said += p.Note }
	of := &bench.Config{Out: filepath.Join(t.TempDir(), "b"), Budget: 2 * time.Second, Parts: []bench.Part{{
		Base: asked(nil).Base, Models: []string{"lenet"}}}, Inquiry: &record.Inquiry{
		Predictions: []record.Foresight{{Workers: []int{1, 4}, Strategies: []string{"ddp"}}}}}
	all, err := predict.Foresee(t.Context(), of, forecast.Prediction{}, o)
	if err != nil || all != nil || of.Budget > time.Second || said == "" {
		t.Errorf("%d predictions, %v left, %q, %v", len(all), of.Budget, said, err)
	}
	synctest.Test(t, func(t *testing.T) { // which has hours in no time
		o.Probe = func(ctx context.Context, _ setting.Config, _ launcher.Options) (record.Probe, error) {
			<-ctx.Done()
			return record.Probe{}, ctx.Err()
		}
		for budget, left := range map[time.Duration]time.Duration{0: 0, 4 * time.Hour: 2 * time.Hour} {
			of.Budget = budget
			all, err := predict.Foresee(t.Context(), of, forecast.Prediction{}, o)
			if err != nil || all != nil || of.Budget != left {
				t.Errorf("%d predictions, %v left of %v, %v", len(all), of.Budget, budget, err)
			}
		}
	})
}

// An update of the weights is a part of the steps that a calibration has time for.
func TestACalibrationCountsUpdates(t *testing.T) {
	steps := map[float64]int{}
	for _, update := range []float64{0, 0.2} {
		o := bench.Options{
			Execute: func(_ context.Context, row bench.Row, _ launcher.Options) (*record.Summary, error) {
				steps[update] = row.Steps
				return nil, errors.New("nothing runs")
			}, Probe: func(context.Context, setting.Config, launcher.Options) (record.Probe, error) {
				return record.Probe{Compute: []float64{0.1, 0.1}, Update: update}, nil
			}}
		if _, err := predict.Make(t.Context(), asked([]int{1, 4}, "ddp"), o); err == nil {
			t.Error("predicted by no runs")
		}
	}
	if steps[0] < 2*steps[0.2] {
		t.Errorf("%d steps of 0.1 s, %d of 0.3", steps[0], steps[0.2])
	}
}

// late is a context whose deadline is over when it is told so.
type late struct {
	context.Context
	over chan struct{}
}

func (l late) Done() <-chan struct{} { return l.over }

func (l late) Err() error {
	select {
	case <-l.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// A calibration whose time is over after one of its three rounds tells nothing, after two it tells enough.
func TestACalibrationThatWasCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for a second or two")
	}
	for rounds, isEnough := range map[int]bool{1: false, 2: true} {
		ctx, ran := late{t.Context(), make(chan struct{})}, map[string]int{}
		o := bench.Options{Probe: probe,
			Execute: func(_ context.Context, row bench.Row, o launcher.Options) (*record.Summary, error) {
				name := row.Name()
				if ran[name] == rounds {
					close(ctx.over)
					return nil, ctx.Err()
				}
				ran[name]++
				return here(t.Context(), row, o)
			}}
		c := asked([]int{1, 4}, "ddp")
		c.Budget = time.Hour
		p, err := predict.Make(ctx, c, o)
		isRight := errors.Is(err, context.DeadlineExceeded)
		if isEnough {
			isRight = err == nil && len(p.Rows) > 0
		}
		if !isRight {
			t.Errorf("%d rounds: %+v, %v", rounds, p, err)
		}
	}
}

func isRefused(err error) bool {
	refused := (*setting.UsageError)(nil)
	return errors.As(err, &refused)
}

// What cannot be predicted is refused before anything runs.
func TestRefused(t *testing.T) {
	for what, change := range map[string]func(*predict.Config){
		"no strategy":  func(c *predict.Config) { c.Strategies = nil },
		"a stranger":   func(c *predict.Config) { c.Strategies = []string{"magic"} },
		"an option":    func(c *predict.Config) { c.Strategies = []string{"ps:servers=x"} },
		"0 workers":    func(c *predict.Config) { c.Workers = []int{0} },
		"many workers": func(c *predict.Config) { c.Workers = []int{1 << 20} },
		"many updates": func(c *predict.Config) {
			c.Strategies, c.Workers = []string{"ps-async"}, []int{2048}
		},
		"a wire":        func(c *predict.Config) { c.Base.Wire = "top-k" },
		"a way's wire":  func(c *predict.Config) { c.Strategies = []string{"ddp:wire=auto"} },
		"no host":       func(c *predict.Config) { c.Inputs.PerHost = 0 },
		"no network":    func(c *predict.Config) { c.Inputs.IsLab = true },
		"no such rank":  func(c *predict.Config) { c.Base.SlowWorkers = slowed(t, "2:3") },
		"no such place": func(c *predict.Config) { c.From = t.TempDir() },
	} {
		c := asked([]int{2}, "ddp")
		change(&c)
		if _, err := predict.Make(t.Context(), c, bench.Options{Probe: never}); !isRefused(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
