package predict

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"lockstep/app/bench"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/forecast"
)

// runTime is how long the steps of a run take, in milliseconds, that verifies a prediction.
const runTime = 2500

// Verification is how Verify measures.
type Verification struct {
	Repeats int    // runs of each row; 0: 3
	Most    int    // workers of a row; 0: twice the cores of this machine
	Folder  string // new or empty, for the benchmark
	Catalog *setting.Catalog
}

// part returns the benchmark of a row of a prediction; the error says why it cannot be run here.
func (v Verification) part(p *forecast.Prediction, i int) (bench.Part, error) {
	r := p.Rows[i]
	c := setting.Config{Catalog: v.Catalog}
	if err := json.Unmarshal(p.Settings[i], &c); err != nil {
		return bench.Part{}, fmt.Errorf("its settings: %w", err)
	}
	c.Catalog = v.Catalog
	part := bench.Part{Base: c, Models: []string{c.Model}, Strategies: []string{r.Way},
		Workers: []int{r.Workers}, Batches: []int{c.Batch}, Wires: []string{c.Wire}}
	in := p.Inputs
	switch {
	case in.Changes != "":
		return part, errors.New("it is of a machine that is not here: " + in.Changes)
	case r.Workers > min(v.Most, setting.MaxWorkers):
		return part, fmt.Errorf("it has %d workers, more than --most %d, to which verify goes here",
			r.Workers, min(v.Most, setting.MaxWorkers))
	case r.Workers == 1 || in.Network == "":
	case !in.IsLab:
		return part, errors.New("it is of hosts with cores of their own; predict --in-lab is of hosts that " +
			"share this machine's, which can be run")
	case in.PerHost > 1:
		return part, errors.New("hosts of a lab have one worker each")
	default:
		condition := labOf(in)
		if condition == nil {
			return part, errors.New("its network cannot be made here")
		}
		part.Conditions = []bench.Condition{*condition}
	}
	steps := warmup + int(math.Ceil(runTime/r.Step.Median))
	steps = min(mostSteps, max(leastSteps, steps))
	if c.Averages() { // whole rounds
		steps = (steps + c.AverageEvery - 1) / c.AverageEvery * c.AverageEvery
	}
	short(&part.Base, steps)
	return part, nil
}

// Verify runs what can be run here of a prediction, interleaved, and returns a line for each row in the order
// of the prediction: what was measured, or why nothing was.
func Verify(ctx context.Context, p *forecast.Prediction, v Verification, o bench.Options) (
	[]forecast.Verified, error) {
	here := bench.DescribeHost()
	if MachineKey(here) != p.MadeFrom.Machine {
		return nil, setting.Refuse("the prediction is of %s, this is %s; verify it there, or predict here "+
			"anew", p.MadeFrom.Machine, MachineKey(here))
	}
	if v.Most == 0 {
		v.Most = 2 * here.Cores
	}
	c := bench.Config{Repeats: v.Repeats, Cores: here.Cores, Out: v.Folder, Order: 1}
	if v.Repeats == 0 {
		c.Repeats = 3
	}
	all := make([]forecast.Verified, len(p.Rows))
	var at []int // rows of the prediction, by row of the benchmark
	for i, r := range p.Rows {
		all[i] = forecast.Verified{Hash: p.Hash, Predicted: p.Date, Measured: time.Now().UTC(),
			Machine: p.MadeFrom.Machine, Row: fmt.Sprintf("%s of %d workers", r.Way, r.Workers),
			Model: p.Model, Step: r.Step, Naive: r.Naive, Amdahl: r.Amdahl}
		part, err := v.part(p, i)
		if err != nil {
			all[i].Error = err.Error()
			continue
		}
		c.Parts, at = append(c.Parts, part), append(at, i)
	}
	if len(at) == 0 {
		return all, setting.Refuse("no row of the prediction can be run here; the first: %s", all[0].Error)
	}
	results, err := bench.Run(ctx, c, o)
	if failed := (*bench.FailedError)(nil); errors.As(err, &failed) {
		err = nil // their rows say so
	}
	if results == nil || err != nil {
		return nil, err
	}
	if len(results.Rows) != len(at) {
		return nil, fmt.Errorf("predict: %d rows were run for %d predictions", len(results.Rows), len(at))
	}
	for i, row := range results.Rows {
		measure(&all[at[i]], row)
	}
	return all, nil
}

// measure fills in what the runs of a row have measured.
func measure(v *forecast.Verified, row record.Row) {
	var taken []float64
	for _, run := range row.Runs {
		if run.Error != "" {
			v.Error = run.Error
			continue
		}
		v.RunsMS, taken = append(v.RunsMS, 1e3*stepOf(row, run)), append(taken, run.Taken.Sum())
	}
	if len(v.RunsMS) > 0 {
		v.Error, v.StepMS, v.Taken = "", stat.Median(v.RunsMS), stat.Median(taken)
		v.Inside = v.Step.Holds(v.StepMS)
	}
}
