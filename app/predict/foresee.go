package predict

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"lockstep/app/bench"
	"lockstep/app/strategy"
	"lockstep/forecast"
)

// Foresee freezes the predictions that the plan of a benchmark asks for, before its first run, in files
// beside its folder, and returns their texts. One calibration, which is kept there too, tells of all. It
// takes a fifth of the benchmark's budget, which is left less, or a minute.
func Foresee(ctx context.Context, of *bench.Config, label forecast.Prediction, o Options) ([]json.RawMessage,
	error) {
	began, part := time.Now(), of.Parts[0]
	c := Config{Base: part.Base, Inputs: forecast.Inputs{PerHost: 1}, Budget: of.Budget / 5, Label: label,
		Folder: of.Out + "-calibration"}
	c.Base.Model, c.Base.Threads = part.Models[0], max(1, part.Base.Threads)
	c.Base.Batch = slices.Concat(part.Batches, []int{c.Base.Batch})[0]
	var all []json.RawMessage
	for i, f := range of.Inquiry.Predictions {
		c.Workers, c.Strategies, c.CoresTimes, c.Inputs.Changes = f.Workers, f.Strategies, f.Cores, ""
		if slices.Contains(f.Workers, 1) {
			c.Strategies = append([]string{strategy.Single}, f.Strategies...)
		}
		if f.Cores > 0 {
			c.Inputs.Changes = fmt.Sprintf("%g times the cores", f.Cores)
		}
		p, err := Make(ctx, c, o)
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
		all, c.From, c.Folder = append(all, text), of.Out+"-calibration", ""
	}
	if of.Budget > 0 {
		of.Budget = max(of.Budget-time.Since(began), time.Second)
	}
	return all, nil
}
