package predict

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockstep/app/bench"
	"lockstep/app/job/chooser"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/forecast"
	"lockstep/internal/regular"
)

// Bounds of what is predicted at once.
const (
	MaxWorkers = 4096
	maxRows    = 400
	mostAsync  = 1024 // workers that do not wait for each other: each of their updates is played
)

// Config is what is asked for.
type Config struct {
	Base       setting.Config // of every row but for workers and strategy; its batch is a worker's if IsWeak
	Workers    []int          // ascending
	Strategies []string       // each alone, or with settings: "ps:servers=2"
	Inputs     forecast.Inputs
	CoresTimes float64             // of a host as many times as this machine has; 0: 1
	Budget     time.Duration       // of the calibration; 0: a minute
	From       string              // folder of a benchmark to calibrate by; "": short runs are made
	Folder     string              // in which the calibration is kept; "": it is removed
	Label      forecast.Prediction // Version, Revision, Command and Track are copied from it

	network *bench.Condition // of the lab of short runs; nil: there is none, or there can be no lab
}

// Validate returns a *setting.UsageError for what cannot be predicted.
func (c Config) Validate() error {
	switch {
	case len(c.Workers) == 0 || len(c.Strategies) == 0:
		return setting.Refuse("nothing to predict: want --workers and --strategies")
	case slices.Min(c.Workers) < 1 || slices.Max(c.Workers) > MaxWorkers:
		return setting.Refuse("workers %s: want 1 to %d", strings.Trim(fmt.Sprint(c.Workers), "[]"),
			MaxWorkers)
	case len(c.Workers)*len(c.Strategies) > maxRows:
		return setting.Refuse("%d rows: want at most %d", len(c.Workers)*len(c.Strategies), maxRows)
	case c.Inputs.PerHost < 1 || c.Inputs.PerHost > MaxWorkers:
		return setting.Refuse("per-host %d: want 1 to %d", c.Inputs.PerHost, MaxWorkers)
	case c.Inputs.Network == "" && (c.Inputs.IsLab || c.Inputs.Group > 0 || c.Inputs.PerHost > 1):
		return setting.Refuse("hosts need a network: want --network such as 1gbit,200us")
	case c.Inputs.Network != "" && c.Inputs.Rate == 0 && c.Inputs.Delay == 0:
		return setting.Refuse("network %.80q: want a rate, a delay or both, such as 1gbit,200us",
			c.Inputs.Network)
	case !(min(c.Inputs.Samples, c.Inputs.Price) >= 0 && max(c.Inputs.Samples, c.Inputs.Price) < 1e18):
		return setting.Refuse("samples %v, price %v: want numbers from 0 to 1e18", c.Inputs.Samples,
			c.Inputs.Price)
	case len(c.Base.SlowWorkers.Below(slices.Max(c.Workers))) < len(c.Base.SlowWorkers):
		return setting.Refuse("slow-worker %v: want ranks below %d, the most --workers", c.Base.SlowWorkers,
			slices.Max(c.Workers))
	case c.Base.IsOnGPU():
		return setting.Refuse("device %s: predictions are of processors", c.Base.Device)
	}
	for _, s := range c.Strategies {
		named := strategy.Named(s)
		if named.Name == "" || named.Name == strategy.Auto {
			return setting.Refuse("strategy %.80q: want one of %s", s, strings.Join(strategy.Names(), ", "))
		}
		if most := slices.Max(c.Workers); named.IsAsync && most > mostAsync {
			return setting.Refuse("%d workers of %s: want at most %d", most, s, mostAsync)
		}
		if of, err := c.Base.As(s); err != nil {
			return err
		} else if named.Exchange == strategy.Averages && of.AverageEvery > mostSteps {
			return setting.Refuse("%s averages every %d steps: want at most %d, which can be tried", s,
				of.AverageEvery, mostSteps)
		}
		if of := c.resolved(s, slices.Max(c.Workers)); of.Batch < of.Shards {
			return setting.Refuse("batch %d of %d workers: want a sample for each at least, by a larger "+
				"--batch, fewer --workers or --scale weak", of.Batch, of.Workers)
		}
		if w := c.resolved(s, 2).GradientWire(); !w.IsFixed() {
			return setting.Refuse("wire %s of %s: its bytes depend on the gradients and the run, which "+
				"calibration does not measure; want fp32 or a codec such as bf16", w, s)
		}
	}
	return nil
}

// resolved returns the configuration of a way with so many workers. A batch that is one worker's grows.
func (c Config) resolved(way string, workers int) setting.Config {
	of, err := c.Base.As(way)
	if err != nil {
		of = c.Base // Validate has refused it
	}
	of.Workers, of.Threads, of.SlowWorkers = workers, max(1, of.Threads), of.SlowWorkers.Below(workers)
	if c.Inputs.IsWeak {
		of.Batch *= workers
	}
	of = of.Complete()
	of.Shards = max(of.Shards, workers)
	of.Link = c.Base.Link // which depends on where it runs
	return of
}

// Make calibrates and predicts; with one worker single, too. What it measures leaves nothing behind unless
// Folder is set.
func Make(ctx context.Context, c Config, o bench.Options) (*forecast.Prediction, error) {
	c = c.complete()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	k, err := c.calibrate(ctx, o)
	if err != nil {
		return nil, err
	}
	return c.predict(k)
}

// complete adds single, where one worker is asked for, and the words for what differs from this machine.
func (c Config) complete() Config {
	if slices.Contains(c.Workers, 1) && !slices.Contains(c.Strategies, strategy.Single) {
		c.Strategies = append([]string{strategy.Single}, c.Strategies...)
	}
	if c.CoresTimes > 0 {
		c.Inputs.Changes = fmt.Sprintf("%g times the cores", c.CoresTimes)
	}
	return c
}

// predict predicts all rows.
func (c Config) predict(k forecast.Calibration) (*forecast.Prediction, error) {
	p := c.Label
	c.Inputs.Cores, c.Inputs.Widening = float64(k.Cores)*cmp.Or(c.CoresTimes, 1), p.Track.Widening
	p.Model, p.Date, p.Inputs = forecast.ModelVersion, time.Now().UTC(), c.Inputs
	for _, way := range c.Strategies {
		for _, w := range c.Workers {
			if w == 1 != strategy.Named(way).IsAlone {
				continue
			}
			row, of, err := c.row(&k, way, w)
			if err != nil {
				return nil, fmt.Errorf("predict %s of %d workers: %w", way, w, err)
			}
			text, err := json.Marshal(of)
			if err != nil {
				return nil, fmt.Errorf("predict: settings: %w", err)
			}
			p.Rows, p.Settings = append(p.Rows, row), append(p.Settings, text)
		}
	}
	if p.Rows == nil {
		return nil, setting.Refuse("nothing to predict: single needs --workers 1, the others two or more")
	}
	p.MadeFrom = k // with the codecs that rows use
	return &p, nil
}

// row predicts one configuration.
func (c Config) row(k *forecast.Calibration, way string, workers int) (forecast.Row, setting.Config, error) {
	of := c.resolved(way, workers)
	var runs [3]forecast.Run
	for i, one := range []setting.Config{of, c.resolved(way, 2), c.resolved(strategy.Single, 1)} {
		run, err := c.run(k, one, way)
		if err != nil {
			return forecast.Row{}, of, err
		}
		runs[i] = run
	}
	row, err := c.Inputs.Row(k, runs[0], runs[1], runs[2])
	return row, of, err
}

// run describes a configuration for the model.
func (c Config) run(k *forecast.Calibration, of setting.Config, way string) (forecast.Run, error) {
	perHost := 0
	if c.Inputs.Network != "" {
		perHost = c.Inputs.PerHost
	}
	job, hosts, err := chooser.JobOf(of, perHost)
	if err != nil {
		return forecast.Run{}, err
	}
	r := forecast.Run{Way: way, Hosts: hosts, Batch: of.StepBatch(), Threads: of.Threads, Job: job}
	if len(of.SlowWorkers) > 0 {
		r.Slow = func(rank int) (factor, wait float64) {
			factor, delay := of.SlowWorkers.Of(rank)
			return factor, delay.Seconds()
		}
	}
	wire := of.GradientWire()
	r.Job.Wire = k.Wire(wire.String(), wire.Codec())
	return r, nil
}

// labOf returns the condition of a bench whose links are those described; nil: there can be none.
func labOf(in forecast.Inputs) *bench.Condition {
	var parts []string
	if in.Rate > 0 {
		parts = append(parts, fmt.Sprintf("rate=%gmbit", in.Rate/1e6))
	}
	if in.Delay > 0 {
		parts = append(parts, "delay="+time.Duration(in.Delay*1e9).String())
	}
	condition, err := bench.ParseCondition(strings.Join(parts, "+"))
	if err != nil {
		return nil
	}
	return &condition
}

// calibrate makes the short runs, or reads the benchmark that c.From names. No worker of theirs is slowed.
func (c Config) calibrate(ctx context.Context, o bench.Options) (k forecast.Calibration, err error) {
	c.Base.SlowWorkers = nil
	if c.From != "" {
		r, err := report.Read(c.From)
		if err != nil {
			return k, setting.Refuse("--from: %v", err)
		}
		return c.calibrationOf(c.From, r)
	}
	if c.network = labOf(c.Inputs); c.network != nil && bench.CheckLab(ctx, o.Job.Environment) != nil {
		c.network = nil
	}
	probe := o.Probe
	if probe == nil {
		probe = chooser.Probe
	}
	begin := time.Now()
	probed, err := probe(ctx, c.resolved(strategy.None, 2), o.Job)
	if err != nil {
		return k, fmt.Errorf("predict: probe the machine: %w", err)
	}
	step := slices.Max(probed.Compute) + probed.Update
	start := max(startTime, time.Since(begin)-max(chooser.ProbeTime, time.Duration(2e9*step)))
	if c.Inputs.Rate > 0 {
		step += 2 * 8 * probed.Bytes / c.Inputs.Rate
	}
	plan := c.plan(step, start)
	plan.Out = c.Folder
	if c.Folder == "" {
		parent, remove, err := regular.MakeFolder("", "predict")
		if err != nil {
			return k, fmt.Errorf("predict: %w", err)
		}
		defer remove()
		plan.Out = filepath.Join(parent, "calibration")
	}
	r, err := bench.Run(ctx, plan, o)
	if err != nil && !(errors.Is(err, context.DeadlineExceeded) && isEnough(r)) {
		return k, err
	}
	if r == nil {
		return k, errors.New("predict: no results")
	}
	return c.calibrationOf(plan.Out, r)
}

// isEnough reports whether the rows of a calibration whose time was over tell the spread between their runs.
func isEnough(r *record.Results) bool {
	return r != nil && !slices.ContainsFunc(r.Rows, func(row record.Row) bool {
		return len(row.Runs) < leastRounds
	})
}
