package predict

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"lockstep/app/bench"
	"lockstep/forecast"
)

// Foresee freezes the predictions that the plan of a benchmark asks for, before its first run, in files
// beside its folder, and returns their texts. One calibration, which is kept there too, tells of all. It
// takes a fifth of the benchmark's budget, which is left less, or a minute. On a machine so busy that it
// would take half there are none, which is said.
func Foresee(ctx context.Context, of *bench.Config, label forecast.Prediction, o bench.Options) (
	[]json.RawMessage, error) {
	began, part := time.Now(), of.Parts[0]
	c := Config{Base: part.Base, Inputs: forecast.Inputs{PerHost: 1}, Budget: of.Budget / 5, Label: label,
		Folder: of.Out + "-calibration"}
	c.Base.Model, c.Base.Threads = part.Models[0], max(1, part.Base.Threads)
	if len(part.Batches) > 0 {
		c.Base.Batch = part.Batches[0]
	}
	asked, union := make([]Config, len(of.Inquiry.Predictions)), c
	for i, f := range of.Inquiry.Predictions {
		one := c
		one.Workers, one.Strategies, one.CoresTimes = f.Workers, f.Strategies, f.Cores
		asked[i] = one.complete()
		if err := asked[i].Validate(); err != nil {
			return nil, err
		}
		union.Workers = slices.Concat(union.Workers, asked[i].Workers)
		union.Strategies = slices.Concat(union.Strategies, asked[i].Strategies)
	}
	defer func() {
		if of.Budget > 0 { // else there is nothing to take the time from
			of.Budget = max(of.Budget-time.Since(began), time.Second)
		}
	}()
	within, stop := context.WithTimeout(ctx, cmp.Or(of.Budget/2, time.Hour))
	defer stop()
	k, err := union.calibrate(within, o)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		if o.Progress != nil {
			o.Progress(bench.Progress{Note: "half of the time was over before there was enough to " +
				"predict from, so nothing is predicted"})
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	for i, c := range asked {
		p, err := c.predict(k)
		if err != nil {
			return nil, err
		}
		if _, err := p.Save(fmt.Sprintf("%s-prediction-%d.json", of.Out, i+1)); err != nil {
			return nil, err
		}
		text, err := json.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("predict: %w", err)
		}
		all = append(all, text)
	}
	return all, nil
}
